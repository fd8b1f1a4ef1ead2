"""Discards that Imperial Pai Gow Draw forbids, in rounds put together by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.procedures import procedure_of
from settlement.rules import TableRules
from settlement.settle import settle
from tests.vision.painted import NAMES
from tests.vision.rounds.readings import Play, dealer_cards, reading, seat_cards, stack
from vision.detect.detections import Detections
from vision.geometry.standard_layout import DISCARD_MM, standard_table
from vision.geometry.table import VIEW_MM, TableFile
from vision.rounds.changes import find_changes
from vision.rounds.compile_round import compile_round
from vision.rounds.procedure.place_states import PlaceStates, ViewPoint
from vision.rounds.procedure.round_reader import read_procedure, with_procedure
from vision.rounds.tracker import RoundTracker

PX = 256
FELT, BACK, SLEEVE = (60, 110, 40), (120, 60, 60), (200, 200, 205)


def _table() -> TableFile:
    full = standard_table(TableRules(game="imperial_pai_gow_draw"), seats=3)
    return full.model_copy(update={"seats": full.seats[:2]})


class Felt:
    """Plays one round: what seat 1 and the dealer show, and how it looks."""

    def __init__(self) -> None:
        self.table = _table()
        self.looks = PlaceStates(self.table, PX)
        procedure = procedure_of(self.table.rules.game)
        self.play = Play(RoundTracker([1, 2], procedure, self.looks.shows))
        own = self.table.seat(1)
        boxes = np.array([own.low.center_mm, own.high.center_mm])
        (self.low, self.high) = (tuple(at) for at in own.place.to_local(boxes).tolist())

    def seat(
        self, *backs: ViewPoint, painted: tuple[ViewPoint, ...] | None = None, times: int = 3,
        sleeve: tuple[ViewPoint, ...] = (),
    ) -> None:  # fmt: skip
        """Seat 1 comes to rest with backs at these places; `painted` are those of its image."""
        own = reading(stakes={"main": [stack("red red")]}, backs=len(backs))
        image = np.full((PX, PX, 3), FELT, np.uint8)
        v, u = (np.mgrid[:PX, :PX] - PX / 2) * VIEW_MM / PX
        for u0, v0 in backs if painted is None else painted:
            image[(abs(u - u0) < 32) & (abs(v - v0) < 44)] = BACK
        for u0, v0 in sleeve:
            image[(abs(u - u0) < 32) & (abs(v - v0) < 44)] = SLEEVE
        middles = (np.array(backs).reshape(-1, 2) / VIEW_MM + 0.5) * PX
        xyxy = np.hstack([middles - 20, middles + 20]).astype(np.float32)
        found = Detections(
            xyxy, np.full(len(xyxy), 0.9, np.float32),
            np.full(len(xyxy), NAMES.index("back"), np.int64), NAMES,
        )  # fmt: skip
        self.play.see(1, replace(own, found=found), picture=image, times=times)

    def both(
        self, *others: ViewPoint, painted: tuple[ViewPoint, ...] = (),
        sleeve: tuple[ViewPoint, ...] = (),
    ) -> None:  # fmt: skip
        """The hand is set, other cards lie there; `painted` are those that are not found."""
        cards = (self.low, self.high, *others)
        self.seat(*cards, painted=(*cards, *painted), sleeve=sleeve)

    def found(self, middle: Callable[[Felt], None]) -> list[Finding]:
        """What a round raises in which that is done between the deal and the show."""
        self.play.see(1, reading(), picture=np.full((PX, PX, 3), FELT, np.uint8))
        self.seat()
        other = {"main": ["green"]}
        self.play.see(2, reading(stakes=other))
        self.play.see(2, reading(stakes=other, backs=1))
        self.play.see(None, reading(backs=7))
        self.seat(self.high)
        self.seat()
        middle(self)
        if self.play.tracker.round is not None and not self._dealer_is_shown():
            self.dealer()
        own = reading(stakes={"main": [stack("red red")]}, cards=seat_cards(1))
        self.play.see(1, own, picture=np.full((PX, PX, 3), FELT, np.uint8))
        self.play.see(2, reading(stakes=other, cards=seat_cards(2)))
        for seat in (1, 2, None):
            self.play.see(seat, reading())
        (ended,) = self.play.ended
        went = read_procedure(self.table, ended, self.looks)
        changes = find_changes(self.table, ended)
        record = compile_round(self.table, 1, ended, 99.0, cut_short=False, changes=changes)
        record = with_procedure(record, self.table, ended, went, ())
        findings = compare(record, settle(record, self.table.rules), self.table.rules)
        return [one for one in findings if str(one.code) == "PROCEDURE"]

    def dealer(self) -> None:
        """The dealer's hand is shown."""
        self.play.see(None, reading(cards=dealer_cards()))

    def _dealer_is_shown(self) -> bool:
        now = self.play.tracker.round
        assert now is not None
        return any(e.cards_up for e in now.tracks[None].episodes)


PLACE: ViewPoint = DISCARD_MM
BESIDE: ViewPoint = (-64.0, -136.0)
DRAWN: ViewPoint = (0.0, 37.0)
SECOND = "a second card was discarded"
LATE = "a card was discarded after the hand was set"


def two_at_once(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(PLACE, BESIDE)
    felt.seat()
    felt.both()


def one_more_after_a_draw(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(DRAWN)
    felt.seat()
    felt.seat(PLACE)
    felt.seat()
    felt.both()


def late_by_one_who_stood_pat(felt: Felt) -> None:
    felt.both()
    felt.both(PLACE)
    felt.both()


def late_after_a_draw(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(DRAWN)
    felt.seat()
    felt.both()
    felt.both(PLACE)
    felt.both()


def late_after_the_dealer(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat()
    felt.both()
    felt.dealer()
    felt.play.now_s += 3.0
    felt.play.stand(1)
    felt.both(PLACE)
    felt.both()


@pytest.mark.parametrize(
    ("middle", "seen"),
    [
        (two_at_once, SECOND),
        (one_more_after_a_draw, SECOND),
        (late_by_one_who_stood_pat, LATE),
        (late_after_a_draw, LATE),
        (late_after_the_dealer, LATE),
    ],
)
def test_a_discard_that_is_forbidden_is_a_finding(
    middle: Callable[[Felt], None], seen: str
) -> None:
    (finding,) = Felt().found(middle)
    assert (finding.seat, finding.seen) == (1, seen)
    assert "001" in finding.rule


def one_discard(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(DRAWN)
    felt.seat()
    felt.both()


def moved_a_little(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat((PLACE[0] + 30, PLACE[1] + 12))
    felt.seat((PLACE[0] - 8, PLACE[1] - 20))
    felt.seat(DRAWN)
    felt.seat()
    felt.both()


def found_twice(felt: Felt) -> None:
    felt.seat(PLACE, (PLACE[0] + 25, PLACE[1] + 20), painted=(PLACE,))
    felt.seat(DRAWN)
    felt.both()


def second_is_bare_felt(felt: Felt) -> None:
    felt.seat(PLACE, BESIDE, painted=(PLACE,))
    felt.both()


def both_are_bare_felt(felt: Felt) -> None:
    felt.seat(PLACE, BESIDE, painted=())
    felt.both()


def second_is_a_sleeve(felt: Felt) -> None:
    felt.seat(PLACE, BESIDE, painted=(PLACE,), sleeve=(BESIDE,))
    felt.both()


def second_in_one_reading_alone(felt: Felt) -> None:
    felt.seat(PLACE, BESIDE, times=1)
    felt.both()


def hidden_while_the_hand_is_set(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(DRAWN, painted=(DRAWN, PLACE))
    # The detector does not find it, the image shows that it lies there.
    felt.both(painted=(PLACE,))
    felt.both(PLACE)
    felt.both()


def moved_beside_a_set_hand(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(DRAWN, painted=(DRAWN, PLACE))
    felt.both(painted=(PLACE,))
    felt.both(BESIDE)
    felt.both()


def hidden_by_an_arm(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat(DRAWN, painted=(DRAWN, PLACE))
    felt.both(sleeve=(PLACE,))
    felt.both(PLACE)
    felt.both()


def not_collected_until_later(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.both(PLACE)
    felt.dealer()
    felt.play.now_s += 3.0
    felt.play.stand(1)
    felt.both(PLACE)
    felt.both()


def may_be_the_card_drawn(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.seat()
    felt.seat(PLACE)
    felt.seat()
    felt.both()


def set_before_the_draw(felt: Felt) -> None:
    felt.seat(PLACE)
    felt.both()
    felt.both(PLACE)
    felt.both()


def late_one_is_a_sleeve(felt: Felt) -> None:
    felt.both()
    felt.both(PLACE, sleeve=(PLACE,))
    felt.both()


@pytest.mark.parametrize(
    "middle",
    [
        one_discard, moved_a_little, found_twice, second_is_bare_felt, both_are_bare_felt,
        second_is_a_sleeve, second_in_one_reading_alone, hidden_while_the_hand_is_set,
        moved_beside_a_set_hand, hidden_by_an_arm, not_collected_until_later,
        may_be_the_card_drawn, set_before_the_draw, late_one_is_a_sleeve,
    ],
)  # fmt: skip
def test_what_is_or_may_be_in_order_is_none(middle: Callable[[Felt], None]) -> None:
    assert Felt().found(middle) == []
