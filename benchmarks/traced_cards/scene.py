"""Random tables of hands for the path tracer, by seed, number and deck."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from benchmarks.traced_cards.truth import (
    CARD_MM,
    DOWN,
    JOKER,
    LABELS,
    PILE,
    UP,
    TracedCard,
    TracedCards,
    TracedHand,
    on_card,
    on_place,
)
from benchmarks.traced_stacks.scene import (
    THICKNESS_MM,
    WORDS,
    drawn_camera,
    drawn_felt,
    drawn_kinds,
    drawn_lamps,
    drawn_marks,
    drawn_stack,
)
from benchmarks.traced_stacks.truth import (
    Point,
    TracedCamera,
    TracedGroup,
    TracedStack,
    TracedTable,
)

SIZE_PX = (2560, 1440)
TILT_DEG = (25.0, 50.0)
LOW_MM, HIGH_MM = 37.0, 135.0
"""Middles of the two boxes below a place's own."""

SPOTS_MM = ((-98.0, -113.0), (0.0, -115.0), (98.0, -113.0))
PRINT_MM = 87.0
SEAT_MM = 300.0
"""Hands lie at least so far apart."""

JOKER_SHARE, ON_CARDS_SHARE = 0.5, 0.15
THICK_MM = 0.3
ON_CARDS_MM = 2.2
"""Height of chips that lie on a row of cards."""

BACKS = ("own", "lattice", "plain", "logo", "bleed", "scroll")


def traced_cards(seed: int, number: int, deck: str) -> TracedCards:
    """The table of a seed and a number with the cards of a deck, with its truth."""
    rng = np.random.default_rng([seed, number])
    diameter = float(rng.choice([37.0, 39.0, 40.0, 43.0], p=[0.2, 0.4, 0.2, 0.2]))
    kinds = drawn_kinds(rng)
    camera, centers = _camera(rng)
    light, lamps, ambient = drawn_lamps(rng)
    felt, printed = drawn_felt(rng)
    hands = _hands(rng, centers)
    groups: list[TracedGroup] = []
    stacks: list[TracedStack] = []
    for hand in hands:
        place, angle = hand.center_mm, hand.angle_deg
        boxes, bets = on_place(place, angle, np.array([(0.0, PRINT_MM), SPOTS_MM[1]])).tolist()
        ring = float(rng.choice([0.0, 55.0, 70.0]))
        groups += [
            TracedGroup((boxes[0], boxes[1]), angle, str(rng.choice(WORDS)), 0.0, hand=True),
            TracedGroup((bets[0], bets[1]), angle, str(rng.choice(WORDS)), ring),
        ]
        for spot in on_place(place, angle, np.array(SPOTS_MM)):
            if rng.random() < 0.45:
                at = spot + rng.normal(0, 5, 2)
                stacks.append(drawn_stack(rng, (float(at[0]), float(at[1])), len(groups), kinds))
        if rng.random() < ON_CARDS_SHARE:
            on_top = _chips_on(rng, hand, diameter)
            if on_top is not None:
                one = drawn_stack(rng, on_top, len(groups), kinds)
                many = min(3, len(one.chips))
                stacks.append(
                    replace(
                        one, chips=one.chips[:many], offsets_mm=one.offsets_mm[:many],
                        turns=one.turns[:many], posture="on cards", over_mm=ON_CARDS_MM,
                    )
                )  # fmt: skip
    table = TracedTable(
        seed, number, camera, kinds, diameter, THICKNESS_MM, float(rng.uniform(0.25, 0.6)),
        tuple(groups), tuple(stacks), (), light, lamps, ambient, felt, printed,
        int(rng.integers(23, 29)),
    )  # fmt: skip
    return TracedCards(
        deck, table, hands, float(rng.uniform(0.28, 0.6)), float(rng.choice([0.0, 0.1, 0.3]))
    )


def _camera(rng: np.random.Generator) -> tuple[TracedCamera, list[tuple[Point, float]]]:
    """A camera, and the places of the hands (felt mm, turn) that it sees side by side."""
    while True:
        camera = drawn_camera(rng, TILT_DEG, SIZE_PX)
        wanted = int(rng.integers(3, 5))
        shares = (np.arange(wanted) + 0.5) / wanted
        px = np.column_stack([shares, 0.5 + rng.uniform(-0.06, 0.06, wanted)]) * SIZE_PX
        middles = camera.to_felt(px)
        out: list[tuple[Point, float]] = []
        for middle in middles:
            angle = float(rng.normal(0, 22))
            # The middle of the cards and bets of a place lies a little below its own.
            x, y = on_place((0.0, 0.0), angle, np.array([(0.0, -30.0)]))[0] + middle
            out.append(((round(float(x), 1), round(float(y), 1)), round(angle, 2)))
        off = [camera.off_vertical_deg(at) for at, _ in out]
        near = min(math.dist(middles[k], middles[k + 1]) for k in range(wanted - 1))
        if min(off) >= TILT_DEG[0] - 3 and max(off) <= TILT_DEG[1] and near >= SEAT_MM:
            return replace(camera, points=drawn_marks(rng, camera)), out


def _hands(rng: np.random.Generator, places: list[tuple[Point, float]]) -> tuple[TracedHand, ...]:
    deck = [str(label) for label in rng.permutation(LABELS)]
    lies = [str(rng.choice([UP, DOWN, PILE], p=[0.8, 0.12, 0.08])) for _ in places]
    if all(one != UP for one in lies):
        lies[0] = UP
    own = [k for k, one in enumerate(lies) if one == UP]
    deck.remove(JOKER)
    if rng.random() < JOKER_SHARE:
        deck.insert(7 * own[int(rng.integers(len(own)))] + int(rng.integers(7)), JOKER)
    back = str(rng.choice(BACKS))
    bow = float(rng.normal(0, 0.5))
    return tuple(
        _hand(rng, place, turn, lies[k], back, bow, deck[7 * k : 7 * k + 7])
        for k, (place, turn) in enumerate(places)
    )  # fmt: skip


def _hand(
    rng: np.random.Generator, place: Point, turn: float, lies: str, back: str, bow: float,
    labels: list[str],
) -> TracedHand:  # fmt: skip
    own_bow = round(float(np.clip(bow + rng.normal(0, 0.25), -1.2, 1.2)), 3)
    way = (180.0 if rng.random() < 0.3 else 0.0) + float(rng.normal(0, 4))
    cards: list[TracedCard] = []
    if lies == PILE:
        at = (float(rng.normal(0, 20)), float(rng.normal(90, 20)))
        cards += _row(rng, place, turn, labels, at, float(rng.uniform(0.2, 1.5)), way, "pile")
    else:
        off = rng.normal(0, 4, 4)
        cards += _row(
            rng, place, turn, labels[:2], (off[0], LOW_MM + off[1]), float(rng.uniform(20, 62)),
            way + float(rng.normal(0, 3)), "low",
        )  # fmt: skip
        cards += _row(
            rng, place, turn, labels[2:], (off[2], HIGH_MM + off[3]), float(rng.uniform(15, 25)),
            way + float(rng.normal(0, 3)), "high",
        )  # fmt: skip
    return TracedHand(place, turn, lies, own_bow, back, tuple(cards))


def _row(
    rng: np.random.Generator, place: Point, turn: float, labels: list[str],
    at: tuple[float, float], pitch: float, angle: float, row: str,
) -> list[TracedCard]:  # fmt: skip
    """Cards side by side about a point of a place, each over the one to its left."""
    out = []
    for k, label in enumerate(labels):
        along = (k - (len(labels) - 1) / 2) * pitch + rng.normal(0, 0.02 * pitch + 0.3)
        u, v = on_place(at, angle, np.array([(along, rng.normal(0, 1.2))]))[0]
        x, y = on_place(place, turn, np.array([(u, v)]))[0]
        lift = (k if row == "pile" else min(k, 3)) * (THICK_MM + 0.06)
        if row != "pile" and pitch > 0.9 * CARD_MM[0]:
            lift = 0.0
        out.append(
            TracedCard(
                label, (round(float(x), 2), round(float(y), 2)),
                round(turn + angle + float(rng.normal(0, 2.0)), 2), row, round(lift, 2),
            )
        )  # fmt: skip
    return out


def _chips_on(rng: np.random.Generator, hand: TracedHand, diameter: float) -> Point | None:
    """A point of a hand's cards where chips cover no index; None where none was found."""
    marks = np.concatenate(
        [on_card(card, np.array([(-25.5, -32.0), (25.5, 32.0)])) for card in hand.cards]
    )
    for _ in range(40):
        card = hand.cards[int(rng.integers(len(hand.cards)))]
        local = rng.uniform(-0.55, 0.55, 2) * CARD_MM
        at = on_card(card, local[None])[0]
        if np.hypot(*(marks - at).T).min() > diameter / 2 + 15:
            return round(float(at[0]), 2), round(float(at[1]), 2)
    return None
