"""The place of the house wager, watched beside the seats where players bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from settlement.record import Action, Undecided, WagerRecord
from vision.chips.states import PlaceSum, honest, place_sum
from vision.detect.detections import ByteArray
from vision.geometry.table import Place, TableFile
from vision.rounds.payouts import least_cents
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import Episode
from vision.rounds.view_reader import ViewReading

HOUSE = 0
"""The house wager's place where places are named by seat."""

_WAGER = "house"
_UNREAD = "the chips could not be read surely"
NOTHING = PlaceSum(((0, 1.0),), None)


def house_view(table: TableFile) -> Place | None:
    """The view of the house wager's spot; None where the felt has none."""
    spot = table.dealer.house
    if spot is None:
        return None
    return Place(center_mm=spot.center_mm, angle_deg=table.dealer.place.angle_deg)


class HousePlace:
    """Keeps what the house wager's place showed; `episodes` are its states of rest."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []

    def take(self, reading: ViewReading, image: ByteArray, *, fresh: bool, since_s: float) -> None:
        """Take a reading in; `fresh` opens a new state of rest that began at `since_s`."""
        if fresh or not self.episodes:
            self.episodes.append(Episode(since_s, picture=kept_picture(image)))
        self.episodes[-1].readings.append(reading)
        self.episodes[-1].seen_at(reading.at_s)

    def stands(self, at_s: float) -> None:
        """The place was seen to lie as it was read last."""
        if self.episodes:
            self.episodes[-1].seen_at(at_s)

    def of_round(self, start_s: float) -> list[Episode]:
        """The states of rest since a round began; older ones are forgotten."""
        own = [e for e in self.episodes if e.until_s >= start_s]
        self.episodes = own or self.episodes[-1:]
        return own


@dataclass(frozen=True, slots=True)
class HouseWager:
    """The house wager as seen; `lay` is None where it is not known whether one lay there."""

    lay: bool | None
    wager: WagerRecord | None = None
    doubts: tuple[Undecided, ...] = ()


def read_house(
    table: TableFile, episodes: Sequence[Episode], close_s: float | None, cut_s: float | None
) -> HouseWager:
    """The house wager of a round: its stake, and what was done with it until the end.

    `close_s` is when cards were dealt: what lies there from then on is the wager. `cut_s` is
    when the dealer's cards were gone: by then it was settled.
    """
    own = [e for e in episodes if e.readings and (cut_s is None or e.start_s <= cut_s)]
    closed = [e for e in own if close_s is None or e.until_s >= close_s]
    if not closed:
        return HouseWager(None)
    first = _shown(closed[0].readings, "stakes")
    if first is None:
        return HouseWager(None)
    if not first:
        return HouseWager(False)
    readings = [r for e in own for r in e.readings]
    stake = honest(place_sum([r.stakes[_WAGER] for r in readings if _WAGER in r.stakes]))
    doubts = []
    if stake.cents is None:
        doubts.append(_doubt("stake", _UNREAD))
    last = own[-1].readings
    pays, stands = _shown(last, "pays"), _shown(last, "stakes")
    action: Action | None
    paid = NOTHING
    if pays is None or stands is None:
        action, paid = None, PlaceSum((), None)
        doubts.append(_doubt("action", "chips were seen in some views only"))
    elif pays:
        action = "paid"
        paid = honest(place_sum([r.pays[_WAGER] for r in readings if _WAGER in r.pays]))
        if paid.cents is None:
            doubts.append(_doubt("paid", _UNREAD))
    else:
        action = "left" if stands else "taken"
    wager = WagerRecord(
        wager=_WAGER, stake_cents=stake.cents, action=action, paid_cents=paid.cents,
        stake_sums=stake.sums or None, paid_sums=paid.sums or None, stake_chips=stake.height,
        paid_chips=paid.height,
        paid_least_cents=least_cents(table, _WAGER, own[-1]) if action == "paid" else None,
    )  # fmt: skip
    return HouseWager(True, wager, tuple(doubts))


def _doubt(part: str, why: str) -> Undecided:
    return Undecided(seat=None, what=f"{_WAGER}.{part}", why=why)


def _shown(readings: Sequence[ViewReading], what: str) -> bool | None:
    """Whether all readings show a stake ('stakes') or pay there; None where they differ."""
    there = sum(_WAGER in getattr(r, what) for r in readings)
    return None if 0 < there < len(readings) else there > 0
