"""Training views: pieces of felt with cards, chips and lammers, and the boxes on them.

Two kinds: views as a calibrated ceiling camera gives them (a fixed scale, hands in rows),
and loose pictures as a telephone takes them (any scale, any turn).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.arms import draw_arm, random_arms
from datasets.boxes import Box, boxes_of, item_outlines
from datasets.deck import Deck, Picture
from datasets.look import (
    CameraFaults,
    chip_looks,
    degrade,
    felt_rgb,
    felt_texture,
    lammer_sprites,
    photo_faults,
    print_rgb,
    random_chips,
    random_light,
    table_faults,
)
from datasets.paint import Painter, painting_order
from datasets.scene import CardItem, Item, LammerItem, StackItem
from settlement.record import DECK_LABELS, JOKER
from vision.table import VIEW_MM, LammerKind

CLASSES = ("index", "joker", "back", "chip", "lammer_envy", "lammer_dealer")
"""What the detector finds; rank and suit of an index are read from its crop."""

LAMMER_WORDS = {
    "envy": LammerKind(word="ENVY", rgb=(250, 214, 40)),
    "dealer": LammerKind(word="DEALER", rgb=(60, 140, 220)),
}
SPOT_PRINT = (
    "PAI GOW", "INSURANCE", "ACE HIGH", "TREASURE", "BET", "PAI GOW INS", "$", "ENVY", "DEALER",
)  # fmt: skip
JOKER_SHARE = 0.5
"""Share of views that are given a joker: one card in 53 would teach its word too slowly."""

CHIP_COLOURS = ("white", "red", "green", "black", "purple", "orange", "blue", "pink", "grey")


@dataclass(frozen=True)
class LabelledView:
    """A rendered picture, uint8 (h, w, 3) BGR, and what is on it."""

    image: Picture
    boxes: tuple[Box, ...]


def _hand(
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


def _stack(rng: np.random.Generator, key: str, center: tuple[float, float]) -> StackItem:
    n = int(min(20, 1 + rng.geometric(0.28)))
    kinds = int(rng.integers(1, 4))
    names = rng.choice(CHIP_COLOURS, kinds)
    cuts = np.sort(rng.integers(0, n + 1, kinds - 1))
    colours: list[str] = []
    for name, count in zip(names, np.diff([0, *cuts, n]), strict=True):
        colours += [str(name)] * int(count)
    return StackItem(key, center, tuple(colours))


def table_items(rng: np.random.Generator) -> list[Item]:
    """A seat or the dealer's place at some moment of a round, in a frame of VIEW_MM."""
    deck = list(DECK_LABELS)
    rng.shuffle(deck)
    if rng.random() < JOKER_SHARE:
        deck.remove(JOKER)
        deck.insert(int(rng.integers(0, 7)), JOKER)
    items: list[Item] = []
    base = float(rng.normal(0, 4)) + (180.0 if rng.random() < 0.4 else 0.0)
    # The later card lies over the earlier to its right, as seen by whoever spread them.
    way = -1.0 if rng.random() < 0.12 else 1.0
    dealerish = rng.random() < 0.25
    state = rng.random()
    face_up = state < 0.75
    if state > 0.93:
        pass
    elif state > 0.88:
        where = (float(rng.normal(0, 25)), float(rng.normal(90, 30)))
        items += _hand(rng, deck[:7], where, float(rng.uniform(0.5, 2)), base, False, "p")
    else:
        y_low, y_high = (42.0, -62.0) if dealerish else (37.0, 135.0)
        if rng.random() < 0.12:
            pitch = float(rng.uniform(16, 40))
            items += _hand(rng, deck[:7], (0, y_high), way * pitch, base, face_up, "s")
        else:
            low_pitch = float(rng.uniform(20, 66))
            high_pitch = float(rng.uniform(15, 27))
            shift = rng.normal(0, 5, 4)
            turned = rng.normal(0, 4, 2)
            low_up = face_up or rng.random() < 0.1
            items += _hand(
                rng, deck[:2], (shift[0], y_low + shift[1]), way * low_pitch,
                base + float(turned[0]), low_up, "l",
            )  # fmt: skip
            items += _hand(
                rng, deck[2:7], (shift[2], y_high + shift[3]), way * high_pitch,
                base + float(turned[1]), face_up, "h",
            )  # fmt: skip
    spots = [(-98, -113), (0, -115), (98, -113), (0, -40)]
    if not dealerish:
        for k, (u, v) in enumerate(spots):
            if rng.random() < 0.6:
                at = (u + float(rng.normal(0, 5)), v + float(rng.normal(0, 5)))
                items.append(_stack(rng, f"b{k}", at))
                if rng.random() < 0.35:
                    side = (-43, 0) if k == 3 else (0, -43)
                    beside = (
                        at[0] + side[0] + rng.normal(0, 3),
                        at[1] + side[1] + rng.normal(0, 3),
                    )
                    items.append(_stack(rng, f"w{k}", (float(beside[0]), float(beside[1]))))
        for k, (u, v, kind) in enumerate(((98, -71, "envy"), (-98, -71, "dealer"))):
            if rng.random() < 0.4:
                at = (u + float(rng.normal(0, 6)), v + float(rng.normal(0, 6)))
                items.append(LammerItem(f"m{k}", kind, at, float(rng.uniform(-180, 180))))
    for k in range(int(rng.integers(0, 3))):
        at = (float(rng.uniform(-195, 195)), float(rng.uniform(-195, 195)))
        item: Item = _stack(rng, f"x{k}", at)
        if rng.random() < 0.35:
            kind = "envy" if rng.random() < 0.5 else "dealer"
            item = LammerItem(f"y{k}", kind, at, float(rng.uniform(-180, 180)))
        items.append(item)
    return items


def loose_items(rng: np.random.Generator, size_mm: float) -> list[Item]:
    """Cards lying anyhow, some in fans, now and then chips."""
    deck = list(DECK_LABELS)
    rng.shuffle(deck)
    if rng.random() < JOKER_SHARE:
        deck.remove(JOKER)
        deck.insert(int(rng.integers(0, 3)), JOKER)
    items: list[Item] = []
    half = size_mm * 0.5
    at = 0
    for g in range(int(rng.integers(1, 4 + int(size_mm / 150)))):
        n = int(rng.choice([1, 1, 2, 3, 5]))
        where = (float(rng.uniform(-half, half)), float(rng.uniform(-half, half)))
        items += _hand(
            rng, deck[at : at + n], where, float(rng.uniform(14, 70)),
            float(rng.uniform(0, 360)), rng.random() < 0.93, f"g{g}",
        )  # fmt: skip
        at += n
    if rng.random() < 0.2:
        for k in range(int(rng.integers(1, 4))):
            where = (float(rng.uniform(-half, half)), float(rng.uniform(-half, half)))
            items.append(_stack(rng, f"x{k}", where))
    return items


def _ground(rng: np.random.Generator, n: int, scale: float, table: bool) -> Picture:
    """What the cards lie on."""
    if table or rng.random() < 0.3:
        rgb = felt_rgb(rng)
        ground = felt_texture(rng, n, n, rgb, float(rng.uniform(1, 8)))
        _print_lines(rng, ground, scale, print_rgb(rng, rgb))
        return ground
    if rng.random() < 0.4:
        level = rng.uniform(120, 245)
        r, g, b = (int(v) for v in np.clip(rng.normal(level, 10, 3), 0, 255))
    else:
        r, g, b = (int(v) for v in rng.integers(5, 235, 3))
    ground = felt_texture(rng, n, n, (r, g, b), float(rng.uniform(0.5, 14)))
    kind = rng.random()
    if kind < 0.35:
        period = rng.uniform(8, 120)
        ys, xs = np.mgrid[0:n, 0:n].astype(np.float32)
        a = rng.uniform(0, math.pi)
        wave = np.sin((xs * math.cos(a) + ys * math.sin(a)) / period + 2 * np.sin(ys / 90))
        ground = np.clip(ground + (wave * rng.uniform(4, 30))[..., None], 0, 255).astype(np.uint8)
    elif kind < 0.65:
        for _ in range(int(rng.integers(3, 40))):
            points = rng.uniform(0, n, 2) + rng.normal(
                0, rng.uniform(5, n / 6), (int(rng.integers(3, 7)), 2)
            )
            cv2.fillPoly(
                ground, [points.astype(np.int32)], rng.integers(0, 255, 3).tolist(), cv2.LINE_AA
            )
    return ground


def _print_lines(
    rng: np.random.Generator, ground: Picture, scale: float, rgb: tuple[int, int, int]
) -> None:
    n = ground.shape[0]
    ink = rgb[::-1]
    wide = max(1, round(rng.uniform(1.2, 3) * scale))
    mid = n / 2
    for u, v, r in ((-98, -113, 27), (0, -115, 27), (98, -113, 27), (0, -40, 27)):
        if rng.random() < 0.7:
            center = (round(mid + u * scale), round(mid + v * scale))
            cv2.circle(ground, center, round(r * scale), ink, wide, cv2.LINE_AA)
        if rng.random() < 0.6:
            # A word within the ring, as spots are named: a ring with print is no chip.
            word = str(rng.choice(SPOT_PRINT))
            font = int(rng.choice((cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_SIMPLEX)))
            (long, tall), _ = cv2.getTextSize(word, font, 1.0, 1)
            size = float(rng.uniform(24, 48)) * scale / long
            where = (
                round(mid + u * scale - long * size / 2),
                round(mid + v * scale + tall * size / 2),
            )
            cv2.putText(
                ground, word, where, font, size, ink, max(1, round(size * 1.5)), cv2.LINE_AA
            )
    for u0, v0, u1, v1 in ((-75, -10, 75, 84), (-85, 88, 85, 182)):
        if rng.random() < 0.7:
            cv2.rectangle(
                ground, (round(mid + u0 * scale), round(mid + v0 * scale)),
                (round(mid + u1 * scale), round(mid + v1 * scale)), ink, wide, cv2.LINE_AA,
            )  # fmt: skip
    words = (
        "PAI GOW",
        "INSURANCE",
        "TREASURE",
        "HIGH",
        "LOW",
        "ENVY",
        "8 to 1",
        "10",
        "9",
        "A",
        "DEALER",
        "5",
    )
    fonts = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_DUPLEX)
    for _ in range(int(rng.integers(0, 9))):
        at = (int(rng.uniform(0, n)), int(rng.uniform(0, n)))
        cv2.putText(
            ground, str(rng.choice(words)), at, int(rng.choice(fonts)),
            float(rng.uniform(0.1, 0.6) * scale), ink, max(1, wide // 2), cv2.LINE_AA,
        )  # fmt: skip


def render_view(
    rng: np.random.Generator, decks: Sequence[Deck], *, size: int = 640
) -> LabelledView:
    """One training view, of a table two times out of three, else loose."""
    deck = decks[int(rng.integers(len(decks)))]
    if rng.random() < 0.62:
        return _table_view(rng, deck, size)
    return _loose_view(rng, deck, size)


def _painter(rng: np.random.Generator, deck: Deck, ground: Picture, scale: float,
             foot: tuple[float, float], height: float) -> Painter:  # fmt: skip
    n = ground.shape[0]
    chips = random_chips(rng)
    sprites, sizes = lammer_sprites(rng, LAMMER_WORDS, vary=True)
    return Painter(
        canvas=ground,
        to_px=np.array([[scale, 0, n / 2], [0, scale, n / 2]]),
        foot_mm=foot,
        height_mm=height,
        deck=deck,
        chips=chip_looks(rng, chips),
        lammers=sprites,
        lammer_mm=sizes,
        light=random_light(rng),
    )


def _table_view(rng: np.random.Generator, deck: Deck, size: int) -> LabelledView:
    scale = 2.4
    n = round((VIEW_MM + 60) * scale)
    height = float(rng.uniform(2300, 3600))
    a = rng.uniform(0, 2 * math.pi)
    away = height * math.tan(math.radians(rng.uniform(15, 54)))
    foot = (float(away * math.cos(a)), float(away * math.sin(a)))
    painter = _painter(rng, deck, _ground(rng, n, scale, True), scale, foot, height)
    items = painting_order(table_items(rng), foot)
    for item in items:
        painter.paint(item)
    covered = random_arms(rng, painter.canvas, scale) if rng.random() < 0.18 else []
    # The camera sees the felt foreshortened along the line to its foot, at its own density.
    density = float(rng.uniform(1.25, 2.2))
    tilt = math.atan2(away, height)
    squeeze = math.cos(tilt)
    across = density / math.sqrt(squeeze)
    along = across * squeeze
    d = np.array([math.cos(a), math.sin(a)])
    turn = float(rng.uniform(0, 2 * math.pi))
    r = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    axes = np.array([d, [-d[1], d[0]]])
    linear = r @ np.diag([along, across]) @ axes / scale
    m = round(VIEW_MM * density * 1.5)
    to_camera = np.eye(3)
    to_camera[:2, :2] = linear
    to_camera[:2, 2] = m / 2 - linear @ np.array([n / 2, n / 2])
    # A touch of true perspective: the far side is seen smaller.
    pull = np.eye(3)
    pull[2, :2] = (linear @ (d * -1)) * rng.uniform(0.2, 1.0) * 2.5e-5 / max(density, 1)
    pull[2, 2] = 1 - float(pull[2, :2] @ np.array([m / 2, m / 2]))
    to_camera = pull @ to_camera
    seen = cv2.warpPerspective(painter.canvas, to_camera, (m, m), flags=cv2.INTER_AREA)
    faults = table_faults(rng)
    seen = degrade(rng, np.asarray(seen, np.uint8), faults)
    zoom = size / VIEW_MM * float(rng.uniform(0.95, 1.05)) / scale
    shift = rng.normal(0, 6, 2)
    to_view = np.array([
        [zoom, 0, size / 2 - zoom * n / 2 + shift[0]],
        [0, zoom, size / 2 - zoom * n / 2 + shift[1]],
        [0, 0, 1],
    ])  # fmt: skip
    view = cv2.warpPerspective(seen, to_view @ np.linalg.inv(to_camera), (size, size))
    if rng.random() < 0.15:
        view = _glare(rng, np.asarray(view, np.uint8))
    return LabelledView(
        np.asarray(view, np.uint8), boxes_of(items, painter, to_view, size, covered)
    )


def _loose_view(rng: np.random.Generator, deck: Deck, size: int) -> LabelledView:
    view_mm = float(np.exp(rng.uniform(math.log(75), math.log(520))))
    n = round(size * 1.35)
    scale = size / view_mm
    height = float(rng.uniform(300, 2500))
    foot = tuple(float(v) for v in rng.normal(0, height * 0.5, 2))
    painter = _painter(rng, deck, _ground(rng, n, scale, False), scale, foot, height)  # type: ignore[arg-type]
    items = painting_order(loose_items(rng, view_mm), foot)  # type: ignore[arg-type]
    for item in items:
        painter.paint(item)
    covered = random_arms(rng, painter.canvas, scale) if rng.random() < 0.08 else []
    corners = np.array([[0, 0], [n, 0], [n, n], [0, n]], np.float32)
    off = (n - size) / 2
    target = corners - off + rng.normal(0, size * 0.07, (4, 2)).astype(np.float32)
    if rng.random() < 0.2:
        target[:, int(rng.integers(2))] *= rng.uniform(0.75, 1.0)
    to_view = np.asarray(
        cv2.getPerspectiveTransform(corners, target.astype(np.float32)), np.float64
    )
    view = np.asarray(
        cv2.warpPerspective(painter.canvas, to_view, (size, size), borderMode=cv2.BORDER_REPLICATE),
        np.uint8,
    )
    if rng.random() < 0.3:
        view = _glare(rng, view)
    if rng.random() < 0.25:
        k = float(rng.uniform(0.4, 0.9))
        small = cv2.resize(view, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
        view = np.asarray(cv2.resize(small, (size, size), interpolation=cv2.INTER_LINEAR), np.uint8)
    view = degrade(rng, view, photo_faults(rng))
    if rng.random() < 0.15:
        grey = cv2.cvtColor(view, cv2.COLOR_BGR2GRAY)
        view = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)
    if rng.random() < 0.08:
        dots = rng.random(view.shape[:2]) < 0.004
        view[dots] = np.where(rng.random((int(dots.sum()), 1)) < 0.5, 255, 0)
    return LabelledView(view, boxes_of(items, painter, to_view, size, covered))


def _glare(rng: np.random.Generator, view: Picture) -> Picture:
    """A light's reflection, or the edge of a shadow."""
    n = view.shape[0]
    small = np.zeros((32, 32), np.float32)
    center = rng.uniform(0, 32, 2)
    cv2.ellipse(
        small, (int(center[0]), int(center[1])),
        (int(rng.integers(2, 12)), int(rng.integers(2, 12))),
        float(rng.uniform(0, 180)), 0, 360, 1.0, -1,
    )  # fmt: skip
    soft = cv2.GaussianBlur(small, (0, 0), float(rng.uniform(1, 4)))
    mask = cv2.resize(soft, (n, n), interpolation=cv2.INTER_CUBIC)[..., None]
    if rng.random() < 0.5:
        out = view + (255 - view) * mask * rng.uniform(0.15, 0.6)
    else:
        out = view * (1 - mask * rng.uniform(0.2, 0.6))
    return np.asarray(np.clip(out, 0, 255), np.uint8)


__all__ = [
    "CLASSES", "Box", "CameraFaults", "LabelledView", "boxes_of", "draw_arm", "item_outlines",
    "loose_items", "render_view", "table_items",
]  # fmt: skip
