"""What the dealing procedures forbid, found in rounds put together by hand, with their images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.procedures import procedure_of
from settlement.record import RoundRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.vision.painted import NAMES
from tests.vision.rounds.readings import Play, dealer_cards, reading, seat_cards, stack
from vision.chips.reading import ReadStack
from vision.detect.detections import ByteArray, Detections
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import VIEW_MM, TableFile
from vision.rounds.changes import find_changes
from vision.rounds.compile_round import compile_round
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.round_reader import read_procedure, with_procedure
from vision.rounds.round_state import Round
from vision.rounds.tracker import RoundTracker
from vision.rounds.view_reader import ViewReading

PX = 256
BOTH = ("low", "high")


def table_of(game: str) -> TableFile:
    full = standard_table(TableRules(game=game), seats=3)
    return full.model_copy(update={"seats": full.seats[:2]})


EXPOSED, CLOSED = table_of("emperors_challenge_exposed"), table_of("pai_gow_poker")


class Felt:
    """Plays rounds at one table: what seat 1 and the dealer show, and how it looks."""

    def __init__(self, table: TableFile) -> None:
        self.table = table
        self.looks = PlaceStates(table, PX)
        tracker = RoundTracker([1, 2], procedure_of(table.rules.game), self.looks.shows)
        self.play = Play(tracker)

    def at(self, place: str) -> tuple[float, float]:
        """The middle of a box or spot of seat 1, in its view's frame (mm)."""
        seat = self.table.seat(1)
        polygon = seat.spots.get(place) or getattr(seat, place)
        u, v = seat.place.to_local(np.array([polygon.center_mm]))[0]
        return float(u), float(v)

    def stake(self, colours: str = "red red", wager: str = "main") -> ReadStack:
        u, v = self.at(wager)
        at = self.table.seat(1).spots[wager].center_mm
        return replace(
            stack(colours), center_mm=at, box_mm=(u - 20, v - 20, u + 20, v + 20)
        )  # fmt: skip

    def picture(self, backs: tuple[str, ...], stakes: dict[str, ReadStack]) -> ByteArray:
        image = np.full((PX, PX, 3), (60, 110, 40), np.uint8)
        v, u = (np.mgrid[:PX, :PX] - PX / 2) * VIEW_MM / PX
        for box in backs:
            u0, v0 = self.at(box)
            image[(abs(u - u0) < 32) & (abs(v - v0) < 44)] = (120, 60, 60)
        for wager in stakes:
            u0, v0 = self.at(wager)
            image[np.hypot(u - u0, v - v0) < 20] = (225, 225, 225)
        return image

    def seat(
        self, backs: tuple[str, ...] = (), *, main: bool = True, looks_bare: bool = True,
        **kw: object,
    ) -> None:  # fmt: skip
        """Seat 1 comes to rest with backs in these boxes, and its stake on the main spot."""
        stakes = {"main": self.stake()} if main else {}
        own: ViewReading = reading(
            stakes={name: [one] for name, one in stakes.items()},
            backs=len(backs), **kw,  # type: ignore[arg-type]
        )  # fmt: skip
        image = self.picture(backs, stakes)
        if not looks_bare:
            image[np.arange(PX) % 16 < 8] = 255
        self.play.see(1, replace(own, found=self._found(backs)), picture=image)

    def _found(self, backs: tuple[str, ...]) -> Detections:
        middles = (np.array([self.at(box) for box in backs]).reshape(-1, 2) / VIEW_MM + 0.5) * PX
        xyxy = np.hstack([middles - 20, middles + 20]).astype(np.float32)
        scores = np.full(len(xyxy), 0.9, np.float32)
        classes = np.full(len(xyxy), NAMES.index("back"), np.int64)
        return Detections(xyxy, scores, classes, NAMES)

    def dealer(self, *, shown: bool) -> None:
        self.play.see(None, reading(cards=dealer_cards()) if shown else reading(backs=7))

    def hand(self) -> None:
        """The dealer turns seat 1's hand up."""
        self.seat(cards=seat_cards(1))

    def opened(self) -> None:
        """Bets, and the deal."""
        self.play.see(1, reading(), picture=self.picture((), {}))
        self.seat()
        self.play.see(2, reading(stakes={"main": ["green"]}))
        self.play.see(2, reading(stakes={"main": ["green"]}, backs=1))
        self.dealer(shown=False)
        self.seat(("high",))
        self.seat()

    def ended(self) -> Round:
        self.play.see(2, reading(stakes={"main": ["green"]}, cards=seat_cards(2)))
        self.seat(main=False)
        self.play.see(2, reading())
        self.play.see(None, reading())
        (own,) = self.play.ended
        return own

    def record(self, own: Round) -> RoundRecord:
        went = read_procedure(self.table, own, self.looks)
        changes = find_changes(self.table, own)
        record = compile_round(self.table, 1, own, 99.0, cut_short=False, changes=changes)
        return with_procedure(record, self.table, own, went, ())

    def found(self, own: Round) -> list[Finding]:
        record = self.record(own)
        findings = compare(record, settle(record, self.table.rules), self.table.rules)
        return [one for one in findings if str(one.code) == "PROCEDURE"]


def closed_round(late: Callable[[Felt], None], *, early: Callable[[Felt], None]) -> Felt:
    """A round in which hands are set before the dealer's is shown: `early` before, `late` after."""
    felt = Felt(CLOSED)
    felt.opened()
    early(felt)
    felt.seat(BOTH)
    felt.dealer(shown=True)
    late(felt)
    felt.seat(BOTH)
    felt.hand()
    return felt


def nothing(felt: Felt) -> None:
    del felt


def high_alone(felt: Felt) -> None:
    felt.seat(("high",))
    felt.play.stand(1)
    felt.play.now_s += 3.0


def test_one_hand_taken_up_after_the_dealers_is_shown_is_a_finding() -> None:
    felt = closed_round(high_alone, early=nothing)
    (finding,) = felt.found(felt.ended())
    assert (finding.seat, finding.seen) == (
        1,
        "a part of the set hand was taken up again after the dealer's cards were shown",
    )
    assert "004" in finding.rule


@pytest.mark.parametrize(
    "late",
    [
        nothing,
        # A back that was not found in one box: the image there is not that of bare felt.
        lambda felt: felt.seat(("high",), looks_bare=False),
        # It was looked at before the dealer's was shown, and is laid again after that.
        lambda felt: felt.seat(BOTH),
    ],
)
def test_what_is_no_look_at_a_hand_is_none(late: Callable[[Felt], None]) -> None:
    felt = closed_round(late, early=high_alone)
    assert felt.found(felt.ended()) == []


def test_a_hand_set_late_is_a_finding_though_its_packet_was_taken_up_unseen() -> None:
    def dealt(table: TableFile, waits_s: float) -> Felt:
        felt = Felt(table)
        felt.play.see(1, reading(), picture=felt.picture((), {}))
        felt.seat()
        felt.play.see(2, reading(stakes={"main": ["green"]}))
        felt.play.see(2, reading(stakes={"main": ["green"]}, backs=1))
        felt.dealer(shown=False)
        felt.dealer(shown=True)
        felt.play.now_s += waits_s
        felt.play.stand(1)
        felt.seat(BOTH)
        felt.hand()
        return felt

    late = dealt(CLOSED, 3.0)
    (finding,) = late.found(late.ended())
    seen = "the hand was not yet set after the dealer's cards were shown"
    assert (finding.seat, finding.seen) == (1, seen)
    # Set while the dealer's cards are shown it is not late; where these are shown first, never.
    for table, waits_s in ((CLOSED, -1.5), (EXPOSED, 3.0)):
        felt = dealt(table, waits_s)
        assert felt.found(felt.ended()) == []


def test_a_hand_turned_up_before_the_dealers_is_a_finding() -> None:
    felt = Felt(CLOSED)
    felt.opened()
    felt.seat(BOTH)
    felt.hand()
    felt.play.now_s += 3.0
    felt.play.stand(None)
    felt.dealer(shown=True)
    own = felt.ended()
    assert not own.broken_off
    (finding,) = felt.found(own)
    assert finding.seen == "the hand was turned up before the dealer's cards were shown"
    assert finding.due == "hands face down until the dealer's cards were shown"


@pytest.mark.parametrize(("backs", "is_early"), [(7, True), (0, False)])
def test_a_dealers_hand_seen_face_down_after_a_seats_was_turned_up(
    backs: int, is_early: bool
) -> None:
    felt = Felt(CLOSED)
    felt.opened()
    felt.seat(BOTH)
    felt.play.now_s += 3.0
    felt.hand()
    felt.play.see(None, reading(backs=backs))
    felt.play.now_s += 3.0
    felt.play.stand(None, 1)
    felt.dealer(shown=True)
    # Without backs a hand may have hidden the cards.
    assert bool(felt.found(felt.ended())) == is_early


def test_a_hand_turned_up_early_whose_first_rest_was_short() -> None:
    felt = Felt(CLOSED)
    felt.opened()
    felt.seat(BOTH)
    stakes = {"main": [felt.stake()]}
    felt.play.see(
        1, reading(stakes=stakes, cards=seat_cards(1)), times=1,
        picture=felt.picture((), {"main": felt.stake()}),
    )  # fmt: skip
    felt.hand()
    felt.play.now_s += 3.0
    felt.play.stand(None)
    felt.dealer(shown=True)
    assert len(felt.found(felt.ended())) == 1


def test_where_the_dealers_place_was_not_seen_no_hand_is_early() -> None:
    felt = Felt(CLOSED)
    felt.opened()
    felt.seat(BOTH)
    felt.play.now_s += 3.0
    felt.hand()
    felt.dealer(shown=True)
    assert felt.found(felt.ended()) == []


def test_in_the_open_game_the_dealers_hand_is_shown_first() -> None:
    felt = Felt(EXPOSED)
    felt.opened()
    felt.dealer(shown=True)
    felt.seat(BOTH)
    felt.hand()
    assert felt.found(felt.ended()) == []


@pytest.mark.parametrize("table", [EXPOSED, CLOSED])
def test_a_stake_that_is_lifted_and_laid_again_is_a_finding(table: TableFile) -> None:
    felt = Felt(table)
    felt.opened()
    felt.seat(main=False)
    felt.seat()
    felt.dealer(shown=True)
    felt.seat(BOTH)
    felt.hand()
    own = felt.ended()
    (finding,) = felt.found(own)
    assert (finding.seat, finding.wager) == (1, "main")
    assert finding.seen == "the stake was lifted and laid again after bets were closed"
    (seat, _) = felt.record(own).seats
    (breach,) = seat.breaches or ()
    assert float(breach.before_s) < float(breach.after_s)
    assert not any(e.seat == 1 and e.what == "main.action" for e in felt.record(own).undecided)


def test_a_stake_that_is_taken_away_is_a_finding_and_not_the_dealers_deed() -> None:
    felt = Felt(EXPOSED)
    felt.opened()
    felt.dealer(shown=True)
    felt.seat(BOTH)
    felt.seat(BOTH, main=False)
    felt.seat(main=False, cards=seat_cards(1))
    own = felt.ended()
    (finding,) = felt.found(own)
    assert finding.seen == "the stake was taken away after bets were closed"
    record = felt.record(own)
    main = record.seats[0].wager("main")
    assert main is not None
    assert main.action is None
    assert any(e.seat == 1 and e.what == "main.action" for e in record.undecided)


@pytest.mark.parametrize(
    "step",
    [
        # No chips are found, and the image shows that something is there.
        lambda felt: felt.seat(BOTH, main=False, looks_bare=False),
        # They are found beside the spot.
        lambda felt: felt.seat(BOTH, main=False, strays=[felt.stake()]),
    ],
)
def test_a_stake_that_is_not_certainly_gone_was_not_touched(step: Callable[[Felt], None]) -> None:
    felt = Felt(EXPOSED)
    felt.opened()
    felt.dealer(shown=True)
    felt.seat(BOTH)
    step(felt)
    felt.seat(BOTH)
    felt.hand()
    assert felt.found(felt.ended()) == []


def test_a_stake_lifted_before_the_deal_is_a_players_own_affair() -> None:
    felt = Felt(EXPOSED)
    felt.play.see(1, reading(), picture=felt.picture((), {}))
    felt.seat()
    felt.play.see(2, reading(stakes={"main": ["green"]}))
    felt.seat(main=False)
    felt.seat()
    felt.play.see(2, reading(stakes={"main": ["green"]}, backs=1))
    felt.dealer(shown=False)
    felt.dealer(shown=True)
    felt.seat(BOTH)
    felt.hand()
    assert felt.found(felt.ended()) == []


def again(felt: Felt, *, touched: bool) -> None:
    """The dealer's hand has a card too few: all cards go, and are dealt again."""
    felt.seat()
    felt.play.see(2, reading(stakes={"main": ["green"]}))
    felt.play.see(None, reading())
    if touched:
        felt.seat(main=False)
        felt.seat()
    felt.dealer(shown=False)
    felt.seat(("high",))
    felt.play.see(2, reading(stakes={"main": ["green"]}, backs=1))
    felt.seat()
    felt.seat(BOTH)


@pytest.mark.parametrize("touched", [False, True])
def test_what_came_before_a_misdeal_breaks_no_rule(touched: bool) -> None:
    felt = Felt(CLOSED)
    felt.opened()
    felt.seat(BOTH)
    felt.play.see(2, reading(stakes={"main": ["green"]}, backs=2))
    felt.dealer(shown=True)
    again(felt, touched=touched)
    felt.dealer(shown=True)
    felt.hand()
    own = felt.ended()
    assert felt.found(own) == []
    assert own.misdealt_s is not None
