from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from settlement.record import CardMove
from tests.vision.painted import NAMES
from tests.vision.rounds.readings import (
    DEALER,
    HANDS,
    TABLE,
    XYXY,
    Play,
    dealer_cards,
    hand,
    reading,
)
from vision.cards.view import ViewIndex
from vision.detect.detections import ByteArray, Detections
from vision.geometry.table import VIEW_MM, FloatArray
from vision.rounds.card_moves import SURE_CARD
from vision.rounds.changes import find_changes
from vision.rounds.compile_round import compile_round
from vision.rounds.view_reader import ViewReading

PX = 256
PICTURE = np.full((PX, PX, 3), 90, np.uint8)
STAKES = {"main": ["red red"]}
SEAT = TABLE.seat(1)
LOW, HIGH = HANDS[1]


def cards(low: str = LOW, high: str = HIGH, **kw: object) -> tuple[ViewIndex, ...]:
    return hand(SEAT, low, high, **kw)  # type: ignore[arg-type]


def seen(
    own: Sequence[ViewIndex] = (), backs_mm: Sequence[Sequence[float] | FloatArray] = ()
) -> ViewReading:
    """A reading of seat 1: face-up cards, and backs whose middles lie there."""
    middles = np.array(backs_mm, np.float32).reshape(-1, 2)
    middles = (middles + VIEW_MM / 2) * PX / VIEW_MM
    found = Detections(
        np.hstack([middles - 9, middles + 9]).astype(np.float32), np.ones(len(middles), np.float32),
        np.full(len(middles), NAMES.index("back"), np.int64), NAMES,
    )  # fmt: skip
    view = reading(stakes=STAKES, cards=tuple(own), backs=len(middles))
    return replace(view, found=found)


def at(label: str, own: Sequence[ViewIndex]) -> ViewIndex:
    return next(observation for observation in own if observation.label == label)


def without(label: str, own: Sequence[ViewIndex]) -> tuple[ViewIndex, ...]:
    return tuple(observation for observation in own if observation.label != label)


BOXES = [SEAT.place.to_local(np.array([box.center_mm]))[0] for box in (SEAT.low, SEAT.high)]
DOWN = seen(backs_mm=BOXES)


def corner(observation: ViewIndex) -> ViewIndex:
    """The other corner of the same card."""
    other = 2 * observation.card - observation.center
    return replace(observation, center=other, turn_deg=180.0)


def played(
    *shown: ViewReading, down: Sequence[ViewReading] = (DOWN,),
    dealer: Sequence[tuple[ViewIndex, ...]] = (), looks: Sequence[ByteArray] = (),
    glimpsed: tuple[int, ViewReading, ByteArray] | None = None, times: Sequence[int] = (),
) -> Play:  # fmt: skip
    """A round of seat 1: `down` until the dealer turns the hand up, then `shown`.

    `looks` are the images of these rests, in turn, in place of a plain one, `times` how often each
    was read. `glimpsed` is what lay there shortly after so many of them, and the image of it.
    """
    play = Play()
    play.see(1, reading(stakes=STAKES), picture=PICTURE)
    play.see(2, reading(stakes=STAKES))
    play.see(2, reading(stakes=STAKES, backs=1))
    play.see(None, reading(backs=7))
    for laid in dealer or (dealer_cards(),):
        play.see(None, reading(cards=laid), picture=PICTURE)
    for k, own in enumerate((*down, *shown)):
        look = looks[k] if looks else PICTURE
        play.see(1, own, picture=look, times=times[k] if times else 3)
        if glimpsed is not None and glimpsed[0] == k + 1:
            play.tracker.glimpse(1, replace(glimpsed[1], at_s=play.now_s), glimpsed[2])
            play.now_s += 1.0
    play.see(None, reading())
    play.see(1, reading(), picture=PICTURE)
    play.see(2, reading())
    return play


def moves(play: Play, seat: int | None = 1) -> tuple[CardMove, ...]:
    (own,) = play.ended
    return find_changes(TABLE, own).moves_of(seat) or ()


Kinds = list[tuple[str, tuple[str, ...]]]


def kinds(play: Play, seat: int | None = 1) -> Kinds:
    return [(move.kind, move.cards) for move in moves(play, seat)]


def test_cards_that_change_hands_after_the_show_are_reported() -> None:
    play = played(seen(cards()), seen(cards("QS 7D", "AC AH TS QD 3C", shift=4)))
    assert kinds(play) == [("hand", ("QD", "7D"))]
    (move,) = moves(play)
    assert float(move.before_s) < float(move.after_s)
    (own,) = play.ended
    record = compile_round(TABLE, 1, own, 99.0, cut_short=False)
    assert record.seats[0].moves == (move,)
    assert (record.seats[0].low, record.dealer.moves) == (("QS", "7D"), None)
    assert {(seat, what) for seat, what, _ in find_changes(TABLE, own).shown()} == {
        (1, "set"), (1, "moved"),
    }  # fmt: skip


ROW = hand(TABLE.dealer, "", "KS KD 9C 9D 4H 4S 2C")
OTHER_SET = hand(TABLE.dealer, "9C 9D", "KS KD 4H 4S 2C")


def test_the_dealers_cards_set_again_are_reported_a_row_spread_first_is_not() -> None:
    plain = played(seen(cards()), dealer=(ROW, dealer_cards()))
    assert kinds(plain, None) == []
    again = played(seen(cards()), dealer=(ROW, OTHER_SET, dealer_cards()))
    assert kinds(again, None) == [("hand", ("9C", "9D", "KD", "KS"))]


def with_eighth(label: str, row: Sequence[ViewIndex]) -> tuple[ViewIndex, ...]:
    """A card that a draw dealer set aside, outside both boxes."""
    (card,) = hand(TABLE.dealer, "", label, shift=230.0)
    return (*row, card)


def test_the_dealers_cards_set_again_are_reported_beside_an_eighth_card() -> None:
    row, other, last = (with_eighth("8D", own) for own in (ROW, OTHER_SET, dealer_cards()))
    assert kinds(played(seen(cards()), dealer=(row, last)), None) == []
    again = played(seen(cards()), dealer=(row, other, last))
    assert kinds(again, None) == [("hand", ("9C", "9D", "KD", "KS"))]


def test_cards_that_change_hands_as_soon_as_they_are_shown_are_reported() -> None:
    other = seen(cards("QS 7D", "AC AH TS QD 3C"))
    play = played(seen(cards()), other, other, times=(3, 1, 3, 3))
    assert kinds(play) == [("hand", ("QD", "7D"))]
    # One reading between two alike is a misread one; one of other cards shows no change.
    assert kinds(played(seen(cards()), other, seen(cards()), times=(3, 3, 1, 3))) == []
    unlike = seen(cards(LOW, "AC AH TS 7H 3C"))
    assert kinds(played(unlike, other, times=(3, 1, 3))) == []


UNSURE = {"7D": SURE_CARD - 0.05}


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param([seen(cards()), seen(cards(shift=6))], id="laid again alike"),
        pytest.param([seen(cards()), seen(cards(HIGH[:5], LOW + HIGH[5:]))][:1], id="seen once"),
        pytest.param(
            [seen(cards()), seen(cards("QS 7D", "AC AH TS QD 3C", shares=UNSURE))], id="unsure"
        ),
        pytest.param([seen(cards()), seen(cards("QS", HIGH + " QD"))], id="not set"),
        pytest.param([seen(cards()), seen(cards("QS", HIGH))], id="one taken up"),
        pytest.param([seen(cards()), seen(cards(LOW, "AC AH TS 7H 3C"))], id="read otherwise"),
        pytest.param([seen(cards()), seen()], id="taken"),
    ],
)
def test_what_is_no_move_is_not_reported(shown: list[ViewReading]) -> None:
    assert kinds(played(*shown)) == []


def test_a_card_turned_down_after_the_show_is_reported() -> None:
    own = cards()
    gone = at("TS", own)
    play = played(seen(own), seen(without("TS", own), [gone.card]))
    assert kinds(play) == [("face_down", ("TS",))]
    # A back elsewhere, such as another seat's, a card that is only not read, or one that is
    # read elsewhere now, show nothing.
    away = gone.card + np.array([90.0, 60.0])
    assert kinds(played(seen(own), seen(without("TS", own), [away]))) == []
    assert kinds(played(seen(own), seen(without("TS", own)))) == []
    shifted = tuple(replace(s, center=s.center + 40, card=s.card + 40) for s in own)
    assert kinds(played(seen(own), seen(without("TS", shifted), [gone.card]))) == []
    # A back that was there all the time was no card of the hand.
    assert kinds(played(seen(own, [gone.card]), seen(without("TS", own), [gone.card]))) == []


def looking(*boxes: Sequence[float]) -> ByteArray:
    """A view with the colour of backs in some boxes, px."""
    image = PICTURE.copy()
    for x0, y0, x1, y1 in np.asarray(boxes, int).tolist():
        image[y0:y1, x0:x1] = (40, 40, 200)
    return image


def test_a_strip_of_a_back_need_not_be_found_as_one() -> None:
    """Among face-up cards it shows in the colours where the index was."""
    own, rest = cards(), seen(without("TS", cards()))
    backs = DOWN.found.of("back").xyxy.tolist()
    plain, strip = looking(), looking(XYXY)
    play = played(seen(own), rest, looks=(looking(*backs), plain, strip))
    assert kinds(play) == [("face_down", ("TS",))]
    # It may be read as a card, such as a joker.
    joker = seen(cards(LOW, HIGH.replace("TS", "JOKER")))
    play = played(seen(own), joker, looks=(looking(*backs), plain, strip))
    assert kinds(play) == [("face_down", ("TS",))]
    assert kinds(played(seen(own), joker, looks=(looking(*backs), plain, plain))) == []
    # Nothing of the sort shows, it did before, or no backs were seen of which to know the colours.
    assert kinds(played(seen(own), rest, looks=(looking(*backs), plain, plain))) == []
    assert kinds(played(seen(own), rest, looks=(looking(*backs), strip, strip))) == []
    assert kinds(played(seen(own), rest, down=(), looks=(plain, strip))) == []


def test_two_rests_that_were_read_once_show_a_card_turned_down() -> None:
    """A hand that is soon taken up may never be read twice as it lies."""
    own, rest = cards(), seen(without("TS", cards()))
    backs = DOWN.found.of("back").xyxy.tolist()
    plain, strip = looking(), looking(XYXY)
    looks = (looking(*backs), plain, strip, strip)
    play = played(seen(own), rest, rest, looks=looks, times=(3, 3, 1, 1))
    assert kinds(play) == [("face_down", ("TS",))]
    other = seen(without("QS", own))
    assert kinds(played(seen(own), other, rest, looks=looks, times=(3, 3, 1, 1))) == []
    assert kinds(played(seen(own), rest, looks=looks[:3], times=(3, 3, 1))) == []


def test_a_card_that_was_turned_down_or_covered_stays_the_card_that_it_was() -> None:
    own = cards()
    play = played(seen(own), *[seen(without("TS", own))] * 3)
    (played_round,) = play.ended
    assert kinds(play) == []
    record = compile_round(TABLE, 1, played_round, 99.0, cut_short=False)
    assert set(record.seats[0].high or ()) == set(HIGH.split())


def test_a_card_turned_up_before_the_show_is_reported() -> None:
    own = cards()
    card = at("TS", own)
    both = (card, corner(card))
    up = seen(both, BOXES[:1])
    shown = seen(own)
    assert kinds(played(shown, down=(DOWN, up))) == [("face_up", ("TS",))]
    # With one corner it may be a mark of the felt; nor may it be a card that the hand lacks.
    backs = BOXES[:1]
    assert kinds(played(shown, down=(DOWN, seen(both[:1], backs)))) == []
    assert kinds(played(seen(cards(LOW, "AC AH TH 7D 3C")), down=(DOWN, up))) == []
    # Two cards face up are a hand that is being turned up.
    two = (*both, at("QS", own), corner(at("QS", own)))
    assert kinds(played(shown, down=(DOWN, seen(two, backs)))) == []
    assert kinds(played(shown, down=(up,))) == []
    # A lone mark of another name lies on a back.
    marked = (*both, at("9C", cards("9C 9D", HIGH)))
    assert kinds(played(shown, down=(DOWN, seen(marked, backs)))) == [("face_up", ("TS",))]
    # Of the hand that is shown one card may lie hidden.
    fewer = seen(without("QS", own))
    assert kinds(played(fewer, down=(DOWN, up))) == [("face_up", ("TS",))]
    assert kinds(played(seen(without("TS", own)), down=(DOWN, up))) == []


def test_a_card_turned_up_for_less_than_a_rest_is_reported() -> None:
    own = cards()
    card = at("TS", own)
    both, backs = (card, corner(card)), BOXES[:1]

    def glimpsed(after: int, view: ViewReading, *shown: ViewReading) -> Kinds:
        return kinds(played(*(shown or (seen(own),)), glimpsed=(after, view, PICTURE)))

    assert glimpsed(1, seen(both, backs)) == [("face_up", ("TS",))]
    # One corner alone, no back beside it, two cards, a card that the hand lacks, or after the show.
    assert glimpsed(1, seen(both[:1], backs)) == []
    assert glimpsed(1, seen(both)) == []
    assert glimpsed(1, seen((*both, at("QS", own), corner(at("QS", own))), backs)) == []
    assert glimpsed(1, seen(both, backs), seen(cards(LOW, "AC AH TH 7D 3C"))) == []
    assert glimpsed(2, seen(both, backs)) == []
    unsure = at("TS", cards(shares={"TS": SURE_CARD - 0.05}))
    assert glimpsed(1, seen((unsure, corner(unsure)), backs)) == []


def test_a_card_turned_down_for_less_than_a_rest_is_reported() -> None:
    own = cards()
    gone = at("TS", own)
    fewer = without("TS", own)
    backs = DOWN.found.of("back").xyxy.tolist()
    looks = (looking(*backs), PICTURE, PICTURE)

    def glimpsed(after: int, view: ViewReading, image: ByteArray = PICTURE) -> Kinds:
        play = played(seen(own), seen(own), looks=looks, glimpsed=(after, view, image))
        return kinds(play)

    assert glimpsed(2, seen(fewer, [gone.card])) == [("face_down", ("TS",))]
    # A strip of a back, known by its colours.
    assert glimpsed(2, seen(fewer), looking(XYXY)) == [("face_down", ("TS",))]
    assert glimpsed(2, seen(fewer)) == []
    assert glimpsed(2, seen(without("QS", fewer), [gone.card])) == []
    assert glimpsed(1, seen(fewer, [gone.card])) == []


def test_cards_exchanged_between_two_hands_are_reported_once() -> None:
    exchanged = hand(TABLE.dealer, "KS KD", "TS 9D 4H 4S 2C")
    play = Play()
    play.see(1, reading(stakes=STAKES))
    play.see(1, reading(stakes=STAKES, backs=1))
    play.see(None, reading(backs=7))
    play.see(None, reading(cards=dealer_cards()), picture=PICTURE)
    play.see(1, seen(cards()), picture=PICTURE)
    play.see(1, seen(cards(LOW, "AC AH 9C 7D 3C")), picture=PICTURE)
    play.see(None, reading(cards=exchanged), picture=PICTURE)
    play.see(None, reading())
    play.see(1, reading(), picture=PICTURE)
    (move,) = moves(play, None)
    assert (move.kind, move.cards, move.to_seat) == ("seat", ("9C", "TS"), 1)
    assert moves(play) == ()
    assert DEALER[1].startswith("9C")
