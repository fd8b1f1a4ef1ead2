"""Who got the first hand, beside what the dice name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from datasets.simulate.house_tables import table_for
from settlement.record import RoundRecord, Undecided
from tests.vision.rounds.readings import reading
from vision.detect.motion import SHRINK, hull
from vision.dice.throw import DieRead, Total
from vision.geometry.calibration import Calibration
from vision.geometry.dice import DicePlace
from vision.geometry.table import TableFile
from vision.rounds.procedure.deal_watch import DealWatch, FirstHand, PlaceDeal, first_hand
from vision.rounds.procedure.dice_watch import NOT_SEEN, DiceRest, SeenDice, read_dice
from vision.rounds.procedure.first_hands import SeenDeal, deal_pictures, with_dice
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import Episode, Round, ViewTrack

PLACE = DicePlace(center_mm=(780.0, 215.0))
PLAIN = table_for("pai_gow_poker")
CAMERA = synthetic_camera(PLAIN.felt, width_px=1920, height_px=1080)
TABLE: TableFile = PLAIN.model_copy(update={"dice": PLACE, "camera": table_camera(CAMERA, PLAIN)})


def got(first_s: float, clear_s: float | None = None) -> PlaceDeal:
    return PlaceDeal(
        clear_s, [first_s, first_s + 0.2], picture=kept_picture(np.zeros((8, 8, 3), np.uint8))
    )


# The first hand of places that play


def test_the_place_whose_cards_lay_while_all_others_were_clear_got_the_first_hand() -> None:
    places = {None: got(13.0, 12.8), 3: got(11.0, 10.8), 5: got(12.0, 11.8)}
    assert first_hand(places, {None, 3, 5}, 3) == FirstHand((3,), ())
    assert first_hand(places, {None, 3, 5}, 5) == FirstHand((3,), (3,))


def test_a_hand_before_the_one_due_is_known_where_a_third_place_was_hidden() -> None:
    places = {None: got(13.0, 10.0), 3: got(12.0, 11.8), 5: got(11.0, 10.8)}
    assert first_hand(places, {None, 3, 5}, 3) == FirstHand((), (5,))
    # The third place does not play.
    assert first_hand(places, {3, 5}, 3) == FirstHand((5,), (5,))


@pytest.mark.parametrize(
    "due", [got(11.2, 10.8), PlaceDeal(10.6, spoiled=True), PlaceDeal(None), got(11.0, 10.8)]
)
def test_nothing_is_known_where_the_place_due_was_hidden_or_both_came_too_close(
    due: PlaceDeal,
) -> None:
    places: dict[int | None, PlaceDeal] = {3: due, 5: got(11.0, 10.8)}
    assert first_hand(places, {3, 5}, 3) == FirstHand()


def test_cards_in_one_sample_alone_are_none() -> None:
    places: dict[int | None, PlaceDeal] = {3: got(12.0, 11.8), 5: PlaceDeal(10.8, [11.0])}
    assert first_hand(places, {3, 5}, 3) == FirstHand()
    assert first_hand({5: PlaceDeal(10.8, [11.0])}, {5}, 5) == FirstHand()


# Watching a deal on the reduced luma


def patches() -> dict[int, np.ndarray]:
    """Blocks of the boxes of seats 2 and 5."""
    assert TABLE.camera is not None
    calibration = Calibration.fit(TABLE.camera)
    out = {}
    for seat in (2, 5):
        own = TABLE.seat(seat)
        outline = calibration.felt_to_image(hull([own.low.array, own.high.array], 0.0)) / SHRINK
        out[seat] = outline.mean(axis=0).round().astype(int)
    return out


def felt(*cards: int) -> np.ndarray:
    """A reduced luma, with cards at these seats."""
    small = np.full((1080 // SHRINK, 1920 // SHRINK), 90, np.int16)
    for seat in cards:
        x, y = patches()[seat]
        small[y - 3 : y + 4, x - 3 : x + 4] = 190
    return small


def watch() -> DealWatch:
    assert TABLE.camera is not None
    own = DealWatch(TABLE, Calibration.fit(TABLE.camera))
    own.look(felt(), 9.8)
    own.begin(9.8)
    return own


def play(own: DealWatch, samples: list[tuple[float, tuple[int, ...]]]) -> None:
    for at_s, cards in samples:
        due = own.look(felt(*cards), at_s)
        own.found({place: place in cards for place in due}, at_s)


def times(since_s: float, until_s: float) -> list[float]:
    return [round(float(v), 1) for v in np.arange(since_s, until_s, 0.2)]


def test_a_packet_that_is_taken_up_at_once_is_seen_and_the_others_were_clear() -> None:
    own = watch()
    play(own, [(t, ()) for t in times(10.0, 11.6)])
    play(own, [(11.6, (5,)), (11.8, (5,)), (12.0, (5, 2)), (12.2, (2,)), (12.4, ())])
    assert own.first_sight_s == 11.6
    assert own.places[5].got_s == 11.6
    assert own.places[5].clear_s == 11.4
    assert own.places[2].clear_s == 11.8
    assert first_hand(own.places, {2, 5}, 2) == FirstHand((5,), (5,))


def test_a_place_that_an_arm_hid_for_longer_than_a_sample_is_not_known_to_be_clear() -> None:
    own = watch()
    play(own, [(t, ()) for t in times(10.0, 11.0)])
    for at_s in (11.0, 11.2):
        assert own.look(felt(2), at_s) == [2]
        own.found({2: False}, at_s)
    play(own, [(11.4, ()), (11.6, (5,)), (11.8, (5,)), (12.0, (5,))])
    assert own.places[2].clear_s == 10.8
    assert first_hand(own.places, {2, 5}, 2) == FirstHand()


def test_a_single_sample_hides_no_packet_and_a_gap_does() -> None:
    own = watch()
    play(own, [(t, ()) for t in times(10.0, 11.0)])
    own.look(felt(2), 11.0)
    own.found({2: False}, 11.0)
    play(own, [(11.2, ()), (11.4, ())])
    assert own.places[2].clear_s == 11.4
    play(own, [(12.4, ()), (12.6, (5,)), (12.8, (5,))])
    assert own.places[2].clear_s == 11.4


def test_arms_that_leave_the_felt_as_the_dice_are_opened_do_not_count() -> None:
    own = watch()
    for at_s in (10.0, 10.2, 10.4):
        own.found(dict.fromkeys(own.look(felt(2), at_s), False), at_s)
    own.found(dict.fromkeys(own.look(felt(), 10.6), False), 10.6)
    play(own, [(10.6, ()), (10.8, ()), (11.0, ()), (11.2, ()), (11.4, ())])
    assert own.places[2].clear_s == 11.4
    assert not own.places[2].spoiled


def test_a_hand_that_is_dealt_at_once_is_the_first() -> None:
    own = watch()
    play(own, [(10.0, ()), (10.2, (2,)), (10.4, (2,)), (10.6, (2, 5)), (10.8, (5,)), (11.0, ())])
    assert first_hand(own.places, {2, 5}, 2) == FirstHand((2,), ())
    assert first_hand(own.places, {2, 5}, 5) == FirstHand((2,), (2,))


def test_a_place_where_cards_lay_as_the_dice_were_opened_was_never_clear() -> None:
    own = watch()
    own.look(felt(2), 9.8)
    own.begin(9.8, {2})
    play(own, [(t, (2,)) for t in times(10.0, 11.0)])
    play(own, [(11.0, (2, 5)), (11.2, (2, 5)), (11.4, (2, 5))])
    assert first_hand(own.places, {2, 5}, 2) == FirstHand()


def test_a_watch_goes_on_from_its_state() -> None:
    own = watch()
    play(own, [(t, ()) for t in times(10.0, 11.6)])
    again = watch()
    again.set_state(own.state())
    for one in (own, again):
        play(one, [(11.6, (5,)), (11.8, (5,))])
    assert again.places == own.places
    assert again.active


# The record


def die(value: int) -> DieRead:
    return DieRead((0.0, 0.0), 0.999, tuple(float(k == value - 1) for k in range(6)))


def rest(start_s: float, *values: int) -> DiceRest:
    frame = tuple(die(value) for value in values)
    picture = kept_picture(np.zeros((8, 8, 3), np.uint8))
    return DiceRest(start_s, start_s + 3, [frame, frame], picture)


def test_the_last_dice_before_the_first_hand_count() -> None:
    rests = [rest(5.0, 1, 1, 1), rest(8.0), rest(9.0, 3, 5, 2), rest(13.0, 6, 6, 6)]
    assert read_dice(rests, 11.0, 3).total.total == 10
    assert read_dice(rests[1:2], 11.0, 3).total.doubt == NOT_SEEN
    assert read_dice([rest(12.0, 3, 5, 2)], 11.0, 3).total.doubt == NOT_SEEN


def test_a_rest_that_an_arm_cut_short_does_not_hide_the_dice_that_lay_there() -> None:
    short = rest(9.5, 3, 5, 2)
    del short.frames[1:]
    found = read_dice([rest(9.0, 3, 5, 2), short], 11.0, 3)
    assert (found.total.total, found.rest and found.rest.start_s) == (10, 9.0)
    # Other dice: thrown again.
    again = rest(9.5, 6, 5, 2)
    del again.frames[1:]
    assert read_dice([rest(9.0, 3, 5, 2), again], 11.0, 3).total.doubt == (
        "the dice did not lie at rest for long enough"
    )


def played(**others: object) -> Round:
    """Seats 2 and 5 got cards; seat 3 has chips alone."""
    tracks: dict[int | None, ViewTrack] = {seat.seat: ViewTrack() for seat in TABLE.seats}
    tracks[None] = ViewTrack([Episode(12.0, [reading(backs=7)])])
    for seat in (2, 5):
        tracks[seat] = ViewTrack([Episode(12.0, [reading(stakes={"main": ["red"]}, backs=7)])])
    return replace(Round(1.0, tracks), **others)  # type: ignore[arg-type]


def seen(*values: int, places: dict[int | None, PlaceDeal] | None = None) -> SeenDeal:
    own = rest(9.0, *values)
    deal = {None: got(13.0, 12.8), 2: got(12.0, 11.8), 5: got(11.0, 10.8)}
    return SeenDeal(read_dice([own], 11.0, 3), deal if places is None else places, (own,), 11.0)


RECORD = RoundRecord(round_id="t1-000001", table="t1", game="pai_gow_poker")


def test_a_first_hand_at_another_seat_comes_into_the_record_with_its_images() -> None:
    deal = seen(3, 5, 2)
    record = with_dice(RECORD, TABLE, played(), deal)
    dice = record.dice
    assert dice is not None
    # The tenth position of dealer and six seats is seat 2.
    assert (dice.values, dice.total, dice.due, dice.first, dice.before_due) == (
        (3, 5, 2),
        10,
        2,
        5,
        5,
    )
    assert (dice.seen_s, record.undecided) == ("9.000", ())
    assert [(p.seat, p.what) for p in deal_pictures(record, deal)] == [
        (None, "dice"), (5, "dealt"), (2, "dealt"),
    ]  # fmt: skip


def test_a_first_hand_at_the_named_place_is_no_breach_and_has_no_images() -> None:
    deal = seen(3, 5, 5)
    record = with_dice(RECORD, TABLE, played(), deal)
    assert record.dice is not None
    # Position 13 is seat 5.
    assert (record.dice.due, record.dice.first, record.dice.before_due) == (5, 5, None)
    assert list(deal_pictures(record, deal)) == []


@pytest.mark.parametrize(
    ("deal", "own", "what", "why"),
    [
        (SeenDeal(SeenDice(Total(doubt=NOT_SEEN)), {}), played(), "dice", NOT_SEEN),
        (seen(3, 5), played(), "dice", "2 dice are seen flat and clear, not 3"),
        (seen(3, 5, 2, places={}), played(), "first_hand", "the hands came too close"),
        (seen(3, 5, 2), played(misdealt_s=11.0), "first_hand", "taken back and dealt again"),
    ],
)
def test_what_is_not_sure_is_undecided_with_its_cause(
    deal: SeenDeal, own: Round, what: str, why: str
) -> None:
    record = with_dice(RECORD, TABLE, own, deal)
    (doubt,) = record.undecided
    assert (doubt.seat, doubt.what) == (None, what)
    assert why in doubt.why
    assert record.dice is None or record.dice.before_due is None


def test_a_named_seat_of_which_it_is_not_known_whether_it_plays_is_undecided() -> None:
    own = played()
    own.tracks[3] = ViewTrack([Episode(12.0, [reading(stakes={"main": ["red"]})])])
    record = with_dice(RECORD, TABLE, own, seen(3, 5, 3))
    assert [(d.what, d.why) for d in record.undecided] == [
        ("first_hand", "whether seat 3 plays was not seen")
    ]


def test_a_counting_from_the_bank_waits_for_the_bank() -> None:
    table = TABLE.model_copy(update={"dice": PLACE.model_copy(update={"counted_from": "banker"})})
    record = with_dice(RECORD.model_copy(update={"banker": 5}), table, played(), seen(1, 1, 1))
    assert record.dice is not None
    # Seat 5 is 1, seat 6 is 2, the dealer is 3.
    assert record.dice.due == "dealer"
    doubt = Undecided(seat=None, what="banker", why="hidden")
    open_bank = RECORD.model_copy(update={"undecided": (doubt,)})
    record = with_dice(open_bank, table, played(), seen(1, 1, 1))
    assert record.undecided[-1].why == "who banks is not known"
