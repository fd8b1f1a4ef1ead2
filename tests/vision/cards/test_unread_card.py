"""The one card of a hand of which no index was read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from models.evaluate.predictions import flat_view
from settlement.record import DECK_LABELS, JOKER
from tests.vision.painted import NAMES
from vision.cards.deck_assignment import NOT_FOUND, decide_deck
from vision.cards.unread_card import LEAST_SCORE, MARKS, faint_finds, with_unread_card
from vision.cards.view import CardRead, ViewIndex, join_cards
from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.table import VIEW_MM

SEATS = (1, 2, 3, 4, 5, 6, None)
SIZE = 640
VIEW = np.zeros((SIZE, SIZE, 3), np.uint8)
NOTHING = np.zeros(53, np.float32)


def card(label: str, share: float = 0.99) -> CardRead:
    shares = np.full(53, (1 - share) / 53, np.float32)
    shares[DECK_LABELS.index(label)] = share
    return CardRead(label, share, (0.0, 0.0), 1, shares, ((label, share),) * 3)


def reads(**shares: float) -> Floats:
    """What faint finds read as: `QS=0.9`."""
    out = NOTHING.copy()
    for label, share in shares.items():
        out[DECK_LABELS.index(label)] = share
    return out


def dealt(seats: int = 7) -> dict[int | None, list[CardRead]]:
    """Hands of a round whose first one lacks a card; the joker, KS, QS and JS lie nowhere."""
    names = [label for label in DECK_LABELS if label not in (JOKER, "KS", "QS", "JS")]
    hands = {seat: [card(names.pop()) for _ in range(7)] for seat in SEATS[:seats]}
    hands[1].pop()
    return hands


def named(hands: dict[int | None, list[CardRead]], seen: Sequence[Floats | None]) -> str | None:
    """What the missing card of seat 1 is called; None where it stays undecided."""
    hands = {**hands, 1: with_unread_card(hands[1], seen)}
    unread = [own for own in hands[1] if not own.indices]
    if not unread:
        return None
    (one,) = unread
    decided = decide_deck(hands)[id(one)]
    assert decided.why in (None, NOT_FOUND)
    return decided.label if decided.why is None else None


def test_the_card_whose_mark_reads_as_nothing_is_the_joker_where_the_deck_leaves_little_else() -> (
    None
):
    assert named(dealt(), [NOTHING] * 3) == JOKER
    # With fewer hands on the felt more others are left, and there may be six cards alone.
    assert named(dealt(seats=6), [NOTHING] * 3) is None
    assert named(dealt(seats=6), [reads(JOKER=0.9)] * 3) == JOKER
    assert named(dealt(seats=4), [NOTHING] * 3) is None
    assert named(dealt(seats=4), [reads(JOKER=0.97)] * 3) == JOKER


def test_a_faint_find_that_reads_as_a_card_left_over_is_that_card() -> None:
    assert named(dealt(), [reads(QS=0.98, JOKER=0.1)] * 3) == "QS"
    # Pips and figures read as jokers too.
    assert named(dealt(), [reads(QS=0.98, JOKER=0.95)] * 3) is None


def test_there_is_no_second_joker_by_elimination() -> None:
    hands = dealt()
    hands[2][0] = card(JOKER)
    assert named(hands, [reads(JOKER=0.99)] * 3) is None
    # Nor where the other is less sure.
    hands[2][0] = card(JOKER, 0.7)
    assert named(hands, [reads(JOKER=0.99)] * 3) is None


def test_two_missing_cards_leave_the_joker_to_the_likelier() -> None:
    hands = dealt()
    hands[2].pop()
    hands[2] = with_unread_card(hands[2], [reads(JOKER=0.3)] * 3)
    assert named(hands, [reads(JOKER=0.3, KS=0.3)] * 3) != JOKER
    assert named(hands, [reads(KS=0.98)] * 3) == "KS"


def test_an_unread_card_changes_no_other() -> None:
    hands = dealt()
    hands[3][0] = card("TC", 0.6)
    before = decide_deck(hands)
    more = {**hands, 1: with_unread_card(hands[1], [reads(TC=0.99)])}
    after = decide_deck(more)
    assert {key: after[key] for key in before} == before
    assert {id(c) for own in more.values() for c in own if not c.indices} == set(after) - set(
        before
    )


@pytest.mark.parametrize("count", [5, 7])
def test_only_a_hand_of_six_has_an_unread_card(count: int) -> None:
    cards = [card(label) for label in DECK_LABELS[:count]]
    assert with_unread_card(cards, [reads(QS=0.9)]) == cards
    assert with_unread_card(cards[:5], [None]) == cards[:5]


def test_a_mark_that_is_hardly_read_is_the_unread_card() -> None:
    cards = [*(card(label) for label in DECK_LABELS[:6]), card("QS", 0.3)]
    *known, last = with_unread_card(cards, [reads(QS=0.3)])
    assert known == cards[:6]
    assert last.indices == 0


class Faint:
    """Finds two marks, one of them a known index, and reads every crop as a queen of spades."""

    size = SIZE
    least: float | None = None

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        self.least = least
        xyxy = np.array([[100, 100, 110, 125], [300, 300, 310, 325]], np.float32)
        return [Detections(xyxy, np.array([0.9, 0.02], np.float32), np.zeros(2, np.int64), NAMES)]

    def read(self, crops: ByteArray) -> Floats:
        assert len(crops) == 2  # one mark, both ways up
        out = np.zeros((len(crops), 54), np.float32)
        out[:, DECK_LABELS.index("QS")] = 0.8, 0.2
        return out


def indices(count: int) -> list[ViewIndex]:
    """Sure indices of other cards, the first where `Faint` finds one."""
    out = []
    for k, label in enumerate(DECK_LABELS[:count]):
        at = np.array([105.0 + 30 * k, 112.5]) * VIEW_MM / SIZE - VIEW_MM / 2
        shares = np.zeros(53, np.float32)
        shares[DECK_LABELS.index(label)] = 0.98
        out.append(ViewIndex(at, 0.0, 17.0, shares, 0.9, (0.0, 0.0, 9.0, 18.0), card=at + 30))
    return out


def test_faint_finds_of_a_hand_that_lacks_a_card_are_read() -> None:
    faint = Faint()
    place, calibration = flat_view(VIEW)
    six = indices(6)
    assert len(join_cards(six)) == 6
    seen = faint_finds(VIEW, calibration, place, VIEW, six, faint, faint)
    assert faint.least == LEAST_SCORE
    assert seen is not None
    assert seen.shares[DECK_LABELS.index("QS")] == pytest.approx(0.8)


class Marks(Faint):
    """Finds five marks that read as jokers, the later the likelier, the other way up."""

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        xyxy = np.array([[300 + 30 * k, 300, 310 + 30 * k, 325] for k in range(5)], np.float32)
        scores, names = np.linspace(0.05, 0.01, 5, dtype=np.float32), np.zeros(5, np.int64)
        return [Detections(xyxy, scores, names, NAMES)]

    def read(self, crops: ByteArray) -> Floats:
        out = np.zeros((len(crops), 54), np.float32)
        out[1::2, DECK_LABELS.index(JOKER)] = np.linspace(0.1, 0.9, 5)
        return out


def test_the_likeliest_marks_of_a_joker_are_kept() -> None:
    place, calibration = flat_view(VIEW)
    seen = faint_finds(VIEW, calibration, place, VIEW, indices(6), Marks(), Marks())
    assert seen is not None
    assert len(seen.marks) == MARKS
    assert [round(mark.share, 1) for mark in seen.marks] == [0.9, 0.7, 0.5]
    assert {mark.turn_deg for mark in seen.marks} == {180.0}
    assert seen.marks[0].xyxy == (420.0, 300.0, 430.0, 325.0)


class Covered(Faint):
    """As `Faint`, with chips at a place of the view (mm)."""

    def __init__(self, at_mm: tuple[float, float], score: float) -> None:
        self.at, self.score = np.array(at_mm), score

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        (own,) = super().find(views, least=least)
        box = (np.concatenate([self.at - 20, self.at + 20]) + VIEW_MM / 2) * SIZE / VIEW_MM
        return [
            Detections(
                np.vstack([own.xyxy, box.astype(np.float32)]),
                np.append(own.scores, np.float32(self.score)),
                np.append(own.classes, NAMES.index("chip")), NAMES,
            )
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("aside_mm", "score", "seen"),
    [((40.0, 0.0), 0.9, False), ((0.0, 0.0), 0.3, False), ((0.0, 0.0), 0.1, True),
     ((90.0, 0.0), 0.9, True), ((0.0, -75.0), 0.9, True)],
)  # fmt: skip
def test_chips_on_a_hand_hide_its_marks(
    aside_mm: tuple[float, float], score: float, *, seen: bool
) -> None:
    """What cannot be seen is no evidence, least of all of a joker."""
    place, calibration = flat_view(VIEW)
    six = indices(6)
    last = six[-1].card + np.array(aside_mm)
    faint = Covered((float(last[0]), float(last[1])), score)
    found = faint_finds(VIEW, calibration, place, VIEW, six, faint, faint)
    assert (found is not None) == seen


@pytest.mark.parametrize("count", [0, 3, 7])
def test_a_whole_hand_and_a_bare_felt_are_not_looked_at_again(count: int) -> None:
    faint = Faint()
    place, calibration = flat_view(VIEW)
    assert faint_finds(VIEW, calibration, place, VIEW, indices(count), faint, faint) is None
    assert faint.least is None
