"""Resolution and visibility of a calibrated camera by place of a table, and better positions.

Sizes come from the calibration; what can be read at a size comes from curves that were measured
on tune sets, in single images that are harder than a usual table: of one table they say which
seats are read better than others, not how often its record is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.cards.view import INDEX_MM
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.silhouette import hides_behind
from vision.geometry.calibration import Calibration
from vision.geometry.table import (
    DealerPlace,
    Felt,
    FloatArray,
    Place,
    Point,
    SeatPlace,
    TableFile,
)

STACK_CURVE = ((0.5, 0.0), (1.2, 0.469), (2.0, 0.649), (2.75, 0.739), (3.5, 0.763), (5.0, 0.891))
"""Stacks whose number of chips is read right, by px of a chip's thickness: 2,705 rendered strips
of 1 to 22 chips, one image each, a quarter of them leaning, two fifths partly hidden (`feltwatch
model sides val`, tune set of seed 77, the mean of each of its bands)."""

CARD_CURVE = (
    (4.2, 0.0), (6.3, 0.24), (7.9, 0.46), (10.1, 0.72), (12.0, 0.75), (14.3, 0.88), (17.7, 0.88),
    (22.9, 0.885), (29.9, 0.90), (37.9, 0.91),
)  # fmt: skip
"""Indices read with confidence and correctly, by px of an index's height: 2,300 of four decks not
trained on, in table views of which some are blurred or dim (tune decks of
`models/faces/split.json`), scaled down."""

FEWEST_PX = 3.0
"""Fewer px a chip than this are named: the stack reader's aims begin there."""

TALLEST = 20
STEEPEST_DEG = 75
ENOUGH_GAIN = 0.02
"""Another angle is advised where at least this fraction more of the stacks are read."""

CARD_LOSS = 0.01
"""So much of what can be read of the cards may be given for stacks."""


@dataclass(frozen=True, slots=True)
class PlaceSight:
    """Visibility of one spot or hand.

    `off_vertical_deg`: angle of the viewing ray from the vertical. `px_per_chip` and
    `stacks_right` are None for a hand, `px_per_index` and `cards_read` for a spot. `hidden_from`:
    the fewest chips of a stake that hide a payout of one chip behind it, None where 20 do not.
    """

    seat: int | None
    place: str
    off_vertical_deg: float
    px_per_chip: float | None = None
    stacks_right: float | None = None
    hidden_from: int | None = None
    px_per_index: float | None = None
    cards_read: float | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """All places, and what would help, the most useful first."""

    places: tuple[PlaceSight, ...]
    hints: tuple[str, ...]


def advise_table(table: TableFile, calibration: Calibration) -> Advice:
    """Visibility of all places of a table, with hints."""
    size = ChipSize(table.chip_diameter_mm, table.chip_thickness_mm)
    return advise(calibration, table.felt, table.dealer, table.seats, size)


def advise(
    calibration: Calibration, felt: Felt, dealer: DealerPlace | None, seats: Sequence[SeatPlace],
    size: ChipSize,
) -> Advice:  # fmt: skip
    """The same for the parts of a table file, which may still be without its rules."""
    places = []
    if dealer is not None:
        places.append(_hand(calibration, None, dealer.place, dealer.high.center_mm))
    for seat in seats:
        places.append(_hand(calibration, seat.seat, seat.place, seat.high.center_mm))
        places += [
            _spot(calibration, seat.seat, name, spot.center_mm, size)
            for name, spot in seat.spots.items()
        ]
    middle = (felt.width_mm / 2, felt.height_mm / 2)
    return Advice(tuple(places), tuple(_hints(places, calibration, size, middle)))


def by_seat(places: Sequence[PlaceSight]) -> list[PlaceSight]:
    """One line a seat, and the dealer's: the hand, with what is worst of the seat's spots."""
    lines = []
    for hand in (p for p in places if p.px_per_index is not None):
        spots = [p for p in places if p.seat == hand.seat and p.px_per_chip is not None]
        worst = min(spots, key=lambda p: p.px_per_chip or 0.0, default=None)
        hidden = [p.hidden_from for p in spots if p.hidden_from is not None]
        lines.append(
            hand if worst is None
            else replace(
                hand, px_per_chip=worst.px_per_chip, stacks_right=worst.stacks_right,
                hidden_from=min(hidden, default=None),
            )
        )  # fmt: skip
    return lines


def stacks_right(px_per_chip: float) -> float:
    """Fraction of stacks whose height is read correctly in one image, 0 to 1.

    >>> stacks_right(2.0), stacks_right(99)
    (0.649, 0.891)
    """
    return _along(STACK_CURVE, px_per_chip)


def cards_read(px_per_index: float) -> float:
    """Fraction of indices that are read with confidence in one image, 0 to 1."""
    return _along(CARD_CURVE, px_per_index)


def _along(curve: Sequence[tuple[float, float]], px: float) -> float:
    line = np.asarray(curve)
    return float(np.interp(px, line[:, 0], line[:, 1]))


def _hand(calibration: Calibration, seat: int | None, place: Place, at: Point) -> PlaceSight:
    up = place.to_local(np.array([at]))[0] - (0.0, INDEX_MM)
    px = _distance_px(calibration, at, place.to_felt(up[None])[0])
    return PlaceSight(
        seat, "hand", _off_vertical_deg(calibration, at), px_per_index=px, cards_read=cards_read(px)
    )


def _spot(
    calibration: Calibration, seat: int, name: str, at: Point, size: ChipSize
) -> PlaceSight:  # fmt: skip
    lifted = calibration.lift(np.array([at]), size.thickness_mm)[0]
    px = _distance_px(calibration, at, lifted)
    base = np.asarray(at, np.float64)
    hidden = next(
        (n for n in range(1, TALLEST + 1) if hides_behind(calibration, base, n, size)), None
    )
    return PlaceSight(seat, name, _off_vertical_deg(calibration, at), px, stacks_right(px), hidden)


def _distance_px(calibration: Calibration, one: Point, other: FloatArray) -> float:
    ends = calibration.felt_to_image(np.array([one, tuple(other)]))
    return float(np.hypot(*(ends[1] - ends[0])))


def _off_vertical_deg(calibration: Calibration, at: Point) -> float:
    return math.degrees(math.atan2(math.dist(at, calibration.foot_mm), calibration.height_mm))


def _hints(
    places: Sequence[PlaceSight], calibration: Calibration, size: ChipSize, middle: Point
) -> list[str]:
    hints = []
    small = sorted({p.seat for p in places if (p.px_per_chip or FEWEST_PX) < FEWEST_PX and p.seat})
    if small:
        least = min(p.px_per_chip for p in places if p.px_per_chip is not None)
        hints.append(
            f"Chips have fewer than {FEWEST_PX:g} px each at {_listed(small)}: a sharper "
            f"image ({FEWEST_PX / least:.1f} times the px) or a flatter look at them would help."
        )
    hints += _angle_hint(places, calibration, size, middle)
    hidden = [p for p in places if p.hidden_from is not None]
    if hidden:
        worst = min(p.hidden_from for p in hidden if p.hidden_from is not None)
        seats = sorted({p.seat for p in hidden if p.seat})
        hints.append(
            f"From {worst} chips on a stake hides a payout behind it ({_listed(seats)}): "
            "such payouts stay undecided unless another camera sees them from the other side."
        )
    return hints


def _angle_hint(
    places: Sequence[PlaceSight], calibration: Calibration, size: ChipSize, middle: Point
) -> list[str]:
    """Return a hint on a better angle, at the camera's present distance from the felt."""
    spots = [p for p in places if p.px_per_chip is not None]
    if not spots:
        return []
    # Px of a millimetre across the viewing ray, which another angle would not change.
    across = [
        (p.px_per_chip or 0.0) / size.thickness_mm / math.sin(math.radians(p.off_vertical_deg))
        for p in spots
    ]
    now = float(np.mean([p.stacks_right for p in spots if p.stacks_right is not None]))
    by_angle = {}
    for angle in range(0, STEEPEST_DEG + 1, 5):
        sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
        stacks = float(np.mean([stacks_right(m * size.thickness_mm * sine) for m in across]))
        cards = float(np.mean([cards_read(m * INDEX_MM * cosine) for m in across]))
        by_angle[angle] = (stacks, cards)
    most_cards = max(cards for _, cards in by_angle.values())
    sound = [a for a, (_, cards) in by_angle.items() if cards >= most_cards - CARD_LOSS]
    best = max(sound, key=lambda a: by_angle[a][0])
    flattest = max(by_angle, key=lambda a: by_angle[a][0])
    far = math.hypot(math.dist(middle, calibration.foot_mm), calibration.height_mm)
    hints = []
    if by_angle[best][0] >= now + ENOUGH_GAIN:
        hints.append(
            f"Hung {_where(best, far)}, it would read {by_angle[best][0]:.0%} of single stacks in "
            f"place of {now:.0%}, and the cards as well."
        )
    if by_angle[flattest][0] >= max(now, by_angle[best][0]) + ENOUGH_GAIN:
        hints.append(
            f"A second camera for the chips, {_where(flattest, far)}, would read "
            f"{by_angle[flattest][0]:.0%}."
        )
    return hints


def _where(angle: int, far_mm: float) -> str:
    high, aside = (far_mm / 1000 * f(math.radians(angle)) for f in (math.cos, math.sin))
    where = f"{high:.1f} m over the felt and {aside:.1f} m beside its middle"
    return f"{where} ({angle}° off the vertical)"


def _listed(seats: Sequence[int]) -> str:
    *others, last = (str(seat) for seat in seats)
    return f"seats {', '.join(others)} and {last}" if others else f"seat {last}"
