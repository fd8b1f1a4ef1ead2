"""What lies on training views: a seat at some moment of a round, or cards lying anyhow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from datasets.render.scene import CardItem, Item, LammerItem, StackItem
from settlement.record import DECK_LABELS, JOKER

JOKER_SHARE = 0.5
"""Share of views that are given a joker: one card in 53 would teach its word too slowly."""

CHIP_COLOURS = ("white", "red", "green", "black", "purple", "orange", "blue", "pink", "grey")
TALLEST = 20


def hand_items(
    rng: np.random.Generator, labels: Sequence[str], center: tuple[float, float],
    pitch: float, angle: float, face_up: bool, key: str,
) -> list[Item]:  # fmt: skip
    """Cards of one hand in an overlapping row, left to right."""
    items: list[Item] = []
    a = math.radians(angle)
    first = -pitch * (len(labels) - 1) / 2
    for i, label in enumerate(labels):
        along = first + i * pitch + rng.normal(0, 1.2)
        across = rng.normal(0, 1.5)
        x = center[0] + along * math.cos(a) - across * math.sin(a)
        y = center[1] + along * math.sin(a) + across * math.cos(a)
        turn = angle + rng.normal(0, 2.5)
        items.append(CardItem(f"{key}{i}", label, (float(x), float(y)), float(turn), face_up))
    return items


def fan_items(
    rng: np.random.Generator, labels: Sequence[str], center: tuple[float, float], angle: float,
    face_up: bool, key: str,
) -> list[Item]:  # fmt: skip
    """Cards fanned about a point below them, as held in a hand."""
    items: list[Item] = []
    radius = float(rng.uniform(60, 150))
    step = float(rng.uniform(7, 22)) * (-1 if rng.random() < 0.15 else 1)
    first = -step * (len(labels) - 1) / 2
    for i, label in enumerate(labels):
        turn = angle + first + i * step + rng.normal(0, 1.5)
        a = math.radians(turn)
        x = center[0] + radius * math.sin(a) - radius * math.sin(math.radians(angle))
        y = center[1] - radius * math.cos(a) + radius * math.cos(math.radians(angle))
        items.append(CardItem(f"{key}{i}", label, (float(x), float(y)), float(turn), face_up))
    return items


def stack_item(
    rng: np.random.Generator, key: str, center: tuple[float, float], most: int = TALLEST
) -> StackItem:
    """A stack of 1 to `most` chips of one to three colours, now and then leaning or untidy."""
    n = int(min(most, 1 + rng.geometric(0.28))) if rng.random() < 0.8 else (
        int(rng.integers(1, most + 1))
    )  # fmt: skip
    kinds = int(rng.integers(1, 4))
    names = rng.choice(CHIP_COLOURS, kinds)
    cuts = np.sort(rng.integers(0, n + 1, kinds - 1))
    colours: list[str] = []
    for name, count in zip(names, np.diff([0, *cuts, n]), strict=True):
        colours += [str(name)] * int(count)
    lean = (0.0, 0.0)
    if rng.random() < 0.35:
        a, far = rng.uniform(0, 2 * math.pi), abs(rng.normal(0, 0.5)) * n
        lean = (float(far * math.cos(a)), float(far * math.sin(a)))
    untidy = float(rng.uniform(0.1, 0.6)) if rng.random() < 0.22 else 0.0
    # The key decides how the chips lie: it must not come twice.
    return StackItem(f"{key}-{rng.integers(2**31)}", center, tuple(colours), lean, untidy)


def _hands(rng: np.random.Generator, deck: Sequence[str], dealerish: bool) -> list[Item]:
    base = float(rng.normal(0, 4)) + (180.0 if rng.random() < 0.4 else 0.0)
    if rng.random() < 0.08:
        base = float(rng.uniform(0, 360))
    # The later card lies over the earlier to its right, as seen by whoever spread them.
    way = -1.0 if rng.random() < 0.12 else 1.0
    state = rng.random()
    face_up = state < 0.75
    if state > 0.93:
        return []
    if state > 0.88:
        where = (float(rng.normal(0, 25)), float(rng.normal(90, 30)))
        return hand_items(rng, deck[:7], where, float(rng.uniform(0.5, 2)), base, False, "p")
    y_low, y_high = (42.0, -62.0) if dealerish else (37.0, 135.0)
    if rng.random() < 0.12:
        pitch = float(rng.uniform(16, 40))
        return hand_items(rng, deck[:7], (0, y_high), way * pitch, base, face_up, "s")
    low_pitch = float(rng.uniform(20, 66))
    high_pitch = float(rng.uniform(15, 27))
    shift = rng.normal(0, 5, 4)
    turned = rng.normal(0, 4, 2)
    low_up = face_up or rng.random() < 0.1
    return [
        *hand_items(
            rng, deck[:2], (shift[0], y_low + shift[1]), way * low_pitch, base + float(turned[0]),
            low_up, "l",
        ),
        *hand_items(
            rng, deck[2:7], (shift[2], y_high + shift[3]), way * high_pitch,
            base + float(turned[1]), face_up, "h",
        ),
    ]  # fmt: skip


def table_items(rng: np.random.Generator) -> list[Item]:
    """A seat or the dealer's place at some moment of a round, in a frame of VIEW_MM."""
    deck = list(DECK_LABELS)
    rng.shuffle(deck)
    if rng.random() < JOKER_SHARE:
        deck.remove(JOKER)
        deck.insert(int(rng.integers(0, 7)), JOKER)
    dealerish = bool(rng.random() < 0.25)
    items = _hands(rng, deck, dealerish)
    spots = [(-98, -113), (0, -115), (98, -113), (0, -40)]
    if not dealerish:
        for k, (u, v) in enumerate(spots):
            if rng.random() < 0.6:
                at = (u + float(rng.normal(0, 5)), v + float(rng.normal(0, 5)))
                items.append(stack_item(rng, f"b{k}", at))
                if rng.random() < 0.35:
                    side = (-43, 0) if k == 3 else (0, -43)
                    beside = (
                        at[0] + side[0] + rng.normal(0, 3), at[1] + side[1] + rng.normal(0, 3),
                    )  # fmt: skip
                    items.append(stack_item(rng, f"w{k}", (float(beside[0]), float(beside[1]))))
        for k, (u, v, kind) in enumerate(((98, -71, "envy"), (-98, -71, "dealer"))):
            if rng.random() < 0.4:
                at = (u + float(rng.normal(0, 6)), v + float(rng.normal(0, 6)))
                items.append(LammerItem(f"m{k}", kind, at, float(rng.uniform(-180, 180))))
    if rng.random() < 0.1:
        items += _rack(rng)
    for k in range(int(rng.integers(0, 3))):
        at = (float(rng.uniform(-195, 195)), float(rng.uniform(-195, 195)))
        item: Item = stack_item(rng, f"x{k}", at)
        if rng.random() < 0.35:
            kind = "envy" if rng.random() < 0.5 else "dealer"
            item = LammerItem(f"y{k}", kind, at, float(rng.uniform(-180, 180)))
        items.append(item)
    return items


def _rack(rng: np.random.Generator) -> list[Item]:
    """A player's own chips: stacks side by side, or some chips strewn."""
    x, y = float(rng.uniform(-160, 100)), float(rng.choice([-185, 188, 150]) + rng.normal(0, 8))
    if rng.random() < 0.3:
        return [
            stack_item(
                rng, f"r{k}", (x + float(rng.normal(0, 45)), y + float(rng.normal(0, 22))), 2
            )
            for k in range(int(rng.integers(2, 6)))
        ]
    a = rng.normal(0, 0.15)
    return [
        stack_item(rng, f"r{k}", (float(x + 41 * k * math.cos(a)), float(y + 41 * k * math.sin(a))))
        for k in range(int(rng.integers(2, 6)))
    ]


def _laid_out(
    rng: np.random.Generator, labels: Sequence[str], size_mm: float, whole: float
) -> list[Item]:
    """Some cards set out to be looked at: in one or two rows, or scattered, most of them whole."""
    n = int(rng.integers(3, len(labels) + 1))
    rows = 1 if rng.random() < 0.4 else 2
    columns = -(-n // rows)
    gap = float(rng.uniform(0.6, 1.35))
    wide = min(70 * gap, size_mm * 0.9 / columns)
    tall = min(100 * gap, size_mm * 0.8 / rows)
    a = math.radians(float(rng.normal(0, 12)) + float(rng.choice([0, 90, 180, 270])))
    items: list[Item] = []
    for k, label in enumerate(labels[:n]):
        u = (k % columns - (columns - 1) / 2) * wide + float(rng.normal(0, 9))
        v = (k // columns - (rows - 1) / 2) * tall + float(rng.normal(0, 9))
        center = (u * math.cos(a) - v * math.sin(a), u * math.sin(a) + v * math.cos(a))
        turn = math.degrees(a) + float(rng.normal(0, 10))
        if rng.random() < 0.25:
            turn = whole + float(rng.uniform(-60, 60))
        if rng.random() < 0.2:
            turn += 180.0
        items.append(CardItem(f"o{k}", label, center, turn, bool(rng.random() < 0.97)))
    order = rng.permutation(n)
    return [items[int(k)] for k in order]


def chip_items(rng: np.random.Generator, size_mm: float) -> list[Item]:
    """Chips alone: stacks beside and before one another, as at a home game."""
    items: list[Item] = []
    taken: list[tuple[float, float]] = []
    for k in range(int(rng.integers(1, 7))):
        for _ in range(8):
            x, y = rng.normal(0, size_mm * 0.22, 2).tolist()
            if all(math.hypot(x - a, y - b) > 40.5 for a, b in taken):
                taken.append((x, y))
                items.append(stack_item(rng, f"c{k}", (x, y)))
                break
    return items


def loose_items(rng: np.random.Generator, size_mm: float) -> list[Item]:
    """Cards lying anyhow, some in rows or fans, now and then chips."""
    deck = list(DECK_LABELS)
    rng.shuffle(deck)
    if rng.random() < JOKER_SHARE:
        deck.remove(JOKER)
        deck.insert(int(rng.integers(0, 3)), JOKER)
    items: list[Item] = []
    half = size_mm * 0.5
    at = 0
    whole = float(rng.uniform(0, 360))
    if size_mm > 90 and rng.random() < 0.2:
        center = (float(rng.normal(0, size_mm * 0.07)), float(rng.normal(0, size_mm * 0.07)))
        items += hand_items(rng, deck[:1], center, 0.0, whole, True, "i")
        for k in range(int(rng.choice([0, 0, 1, 2]))):
            a = rng.uniform(0, 2 * math.pi)
            far = float(rng.uniform(0.45, 0.75)) * size_mm + 20
            where = (center[0] + far * math.cos(a), center[1] + far * math.sin(a))
            turn = whole + float(rng.normal(0, 15))
            items += hand_items(rng, deck[k + 1 : k + 2], where, 0.0, turn, True, f"n{k}")
        return items
    if size_mm > 170 and rng.random() < 0.45:
        items += _laid_out(rng, deck[:6], size_mm, whole)
        return items
    for g in range(int(rng.integers(1, 4 + int(size_mm / 150)))):
        n = int(rng.choice([1, 1, 2, 3, 5, 7]))
        if rng.random() < 0.5:
            x, y = rng.normal(0, half * 0.4, 2).tolist()
        else:
            x, y = rng.uniform(-half, half, 2).tolist()
        # Cards of one image often lie the same way.
        angle = (
            whole + float(rng.normal(0, 8)) if rng.random() < 0.4 else float(rng.uniform(0, 360))
        )
        face_up = bool(rng.random() < 0.93)
        labels = deck[at : at + n]
        if n > 1 and rng.random() < 0.35:
            items += fan_items(rng, labels, (x, y), angle, face_up, f"g{g}")
        else:
            pitch = float(rng.uniform(14, 72))
            items += hand_items(rng, labels, (x, y), pitch, angle, face_up, f"g{g}")
        at += n
    if rng.random() < 0.2:
        for k in range(int(rng.integers(1, 4))):
            where = (float(rng.uniform(-half, half)), float(rng.uniform(-half, half)))
            items.append(stack_item(rng, f"x{k}", where))
    return items
