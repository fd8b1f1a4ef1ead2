from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from datasets.render.camera import synthetic_camera, table_camera
from settlement.felt_timeline import (
    TIMELINE_LINE,
    Lay,
    PhaseLine,
    StepLine,
    TimelineLine,
    UndecidedLine,
    undecided_line,
)
from settlement.record import Undecided
from tests.vision.painted import NAMES
from tests.vision.rounds.readings import (
    HANDS,
    TABLE,
    Play,
    Stacks,
    dealer_cards,
    hand,
    reading,
    seat_cards,
    stack,
)
from vision.chips.reading import ReadStack
from vision.detect.detections import Detections
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM
from vision.rounds.compile_round import compile_round
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.round_reader import read_procedure
from vision.rounds.round_state import ArmHides, Round
from vision.rounds.timeline.felt_timeline import felt_timeline
from vision.rounds.view_reader import ViewReading

SIZE = 640
LOOKS = PlaceStates(TABLE, SIZE)
MAIN: Stacks = {"main": ["red red"]}
PAID: Stacks = {"main": ["red red"]}


def face_down(own: ViewReading, *boxes: str) -> ViewReading:
    """The reading with a back in the middle of each of these boxes of seat 1."""
    seat = TABLE.seat(1)
    points = np.array([getattr(seat, box).center_mm for box in boxes])
    middles = (seat.place.to_local(points) + VIEW_MM / 2) * SIZE / VIEW_MM
    xyxy = np.hstack([middles - 50, middles + 50]).astype(np.float32)
    scores = np.full(len(xyxy), 0.9, np.float32)
    classes = np.full(len(xyxy), NAMES.index("back"), np.int64)
    return replace(own, backs=len(xyxy), found=Detections(xyxy, scores, classes, NAMES))


def played() -> Round:
    """A round of seat 1: set, shown, its stake not counted with confidence, paid and taken."""
    play = Play()
    play.see(1, reading(stakes=MAIN))
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    unsure = {"main": [stack("red red", 0.5, c2000=0.5)]}
    play.see(1, reading(stakes=unsure, pays=PAID, cards=seat_cards(1)))
    play.see(1, reading(stakes=unsure, pays=PAID))
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    return own


def lines_of(own: Round) -> list[TimelineLine]:
    record = compile_round(TABLE, 7, own, 40.0, cut_short=False)
    went = read_procedure(TABLE, own, LOOKS)
    return list(felt_timeline(TABLE, record, own, went, (), LOOKS))


def test_what_lay_where_is_listed_from_when_to_when() -> None:
    own = played()
    lays = [line for line in lines_of(own) if isinstance(line, Lay)]
    rests = own.tracks[1].episodes
    (stake,) = (lay for lay in lays if lay.place == "main")
    assert (stake.seat, stake.item, stake.what, stake.cents) == (1, "stack", "2 red", 1000)
    assert float(stake.from_s) == rests[0].start_s
    assert float(stake.until_s) == rests[-2].until_s  # the last is bare
    # Between its rests the stake is taken to have lain there.
    assert len(stake.hidden) == len(rests) - 2
    assert {span.why for span in stake.hidden} == {"motion"}
    (pay,) = (lay for lay in lays if lay.place == "main pay")
    assert pay.after_s is not None
    assert float(pay.after_s) < float(pay.from_s)
    (backs,) = (lay for lay in lays if lay.item == "backs")
    assert (backs.place, backs.before_s) == ("boxes", f"{rests[2].start_s:.3f}")
    cards = {lay.what: lay.place for lay in lays if lay.item == "card" and lay.seat == 1}
    low, high = HANDS[1]
    assert cards == {**dict.fromkeys(low.split(), "low"), **dict.fromkeys(high.split(), "high")}
    assert len({lay.id for lay in lays}) == len(lays)


def test_phases_and_steps_follow_the_procedure() -> None:
    lines = lines_of(played())
    phases = [line.phase for line in lines if isinstance(line, PhaseLine)]
    assert phases == ["bets", "dealt", "dealer_set", "settling", "cleared"]
    steps = [(line.seat, line.step) for line in lines if isinstance(line, StepLine)]
    assert steps == [(1, "bets"), (1, "set"), (1, "shown"), (1, "taken")]


def test_what_is_undecided_points_to_what_it_is_about() -> None:
    own = played()
    for rest in own.tracks[1].episodes:
        rest.readings = [replace(r, stakes=_unsure(r)) for r in rest.readings]
    lines = lines_of(own)
    (doubt,) = (line for line in lines if isinstance(line, UndecidedLine))
    assert (doubt.seat, doubt.what) == (1, "main.stake")
    (about,) = (line for line in lines if isinstance(line, Lay) and line.id in doubt.lays)
    assert about.place == "main"


def _unsure(own: ViewReading) -> dict[str, tuple[ReadStack, ...]]:
    return {"main": (stack("red red", 0.5, c2000=0.5),)} if own.stakes else {}


def test_a_card_that_moved_names_where_it_lay() -> None:
    play = Play()
    play.see(1, reading(stakes=MAIN))
    play.see(1, reading(stakes=MAIN, backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=MAIN, cards=hand(TABLE.seat(1), "QS QD", "AC AH TS 7D 3C")))
    play.see(1, reading(stakes=MAIN, cards=hand(TABLE.seat(1), "QS 7D", "AC AH TS QD 3C")))
    play.see(1, reading())
    play.see(None, reading())
    (own,) = play.ended
    lays = {line.id: line for line in lines_of(own) if isinstance(line, Lay)}
    moved = {lay.what: lay for lay in lays.values() if lay.moved_from and lay.seat == 1}
    assert {"7D", "QD"} <= set(moved)
    assert moved["7D"].place == "low"
    assert lays[moved["7D"].moved_from or ""].place == "high"


def moved_stakes(*seen: Stacks) -> list[Lay]:
    """The stacks of seat 1 whose bets lay so before the deal, and are taken at the end."""
    play = Play()
    for stakes in seen:
        play.see(1, reading(stakes=stakes))
    play.see(1, reading(stakes=seen[-1], backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=seen[-1], cards=seat_cards(1)))
    play.see(1, reading())
    play.see(None, reading())
    (own,) = play.ended
    return [one for one in lines_of(own) if isinstance(one, Lay) and one.item == "stack"]


def test_a_stack_that_moved_before_the_deal_names_where_it_lay() -> None:
    treasure = "emperors_treasure"
    main, moved = moved_stakes({"main": ["red red"]}, {treasure: ["red red"]})
    assert (main.place, moved.place, moved.moved_from) == ("main", treasure, main.id)
    # Other chips are other stacks, and of two alike nobody knows which it was.
    assert not any(
        one.moved_from for one in moved_stakes({"main": ["red red"]}, {treasure: ["red"]})
    )
    both: Stacks = {"main": ["red"], "pai_gow_insurance": ["red"]}
    assert not any(one.moved_from for one in moved_stakes(both, {treasure: ["red"]}))


def test_whose_arm_was_over_the_cards_is_named() -> None:
    own = played()
    rests = own.tracks[1].episodes
    between_s = (rests[2].until_s + rests[3].start_s) / 2
    own.hides = [
        ArmHides(by, seat, "cards", between_s, between_s)
        for by, seat in ((2, 1), (3, 4), (None, 1))
    ]
    lays = [line for line in lines_of(own) if isinstance(line, Lay) and line.seat == 1]
    by = {(lay.item, span.by) for lay in lays for span in lay.hidden if span.by}
    assert by == {("card", (2, "dealer"))}


def test_whose_arm_was_over_the_chips_is_named() -> None:
    own = played()
    rests = own.tracks[1].episodes
    between_s = (rests[3].until_s + rests[4].start_s) / 2
    own.hides = [
        ArmHides(None, 1, "main", between_s, between_s),
        ArmHides(1, 1, "emperors_treasure", between_s, between_s),
    ]
    lays = [line for line in lines_of(own) if isinstance(line, Lay) and line.seat == 1]
    by = {(lay.place, span.by) for lay in lays for span in lay.hidden if span.by}
    assert by == {("main", ("dealer",)), ("main pay", ("dealer",))}


def test_whose_arm_laid_a_thing_and_took_it_is_named_and_where_it_went() -> None:
    own = played()
    rests = own.tracks[1].episodes
    middles = [(a.until_s + b.start_s) / 2 for a, b in pairwise(rests)]
    set_s, shown_s, paid_s, cards_gone_s, chips_gone_s = middles
    own.hides = [
        ArmHides(by, 1, what, at_s, at_s)
        for by, what, at_s in (
            (1, "cards", set_s), (None, "cards", shown_s), (None, "main", paid_s),
            (None, "cards", cards_gone_s), (1, "main", chips_gone_s),
        )
    ]  # fmt: skip
    lays = [line for line in lines_of(own) if isinstance(line, Lay) and line.seat == 1]
    went = {(lay.item, lay.place, lay.laid_by, lay.gone_by, lay.gone_to) for lay in lays}
    assert went == {
        # Turned up, the backs went nowhere.
        ("backs", "boxes", (1,), ("dealer",), None),
        ("card", "low", ("dealer",), ("dealer",), "rack"),
        ("card", "high", ("dealer",), ("dealer",), "rack"),
        ("stack", "main", None, (1,), "player"),
        ("stack", "main pay", ("dealer",), (1,), "player"),
    }  # fmt: skip
    # With two arms over it nobody knows; with the dealer's alone the chips are drawn in.
    own.hides.append(ArmHides(None, 1, "main", chips_gone_s, chips_gone_s))
    stacks = [line for line in lines_of(own) if isinstance(line, Lay) and line.item == "stack"]
    assert {(lay.gone_by, lay.gone_to) for lay in stacks} == {((1, "dealer"), None)}
    del own.hides[-2]
    stacks = [line for line in lines_of(own) if isinstance(line, Lay) and line.item == "stack"]
    assert {lay.gone_to for lay in stacks} == {"tray"}


CAMERA = synthetic_camera(TABLE.felt, width_px=1920, height_px=1080)
CALIBRATION = Calibration.fit(table_camera(CAMERA, TABLE))


def stack_of(colours: str, *, behind: int = 0) -> ReadStack:
    """A stack on the main spot of seat 1, or so many chips' diameters behind it."""
    at = np.array(TABLE.seat(1).spots["main"].center_mm)
    away = (at - CALIBRATION.foot_mm) / np.hypot(*(at - CALIBRATION.foot_mm))
    x, y = (at + away * behind * (TABLE.chip_diameter_mm + 1)).tolist()
    return replace(stack(colours), center_mm=(x, y))


TALL, LOW = " ".join(["red"] * 16), "red"


def hiding(*rests: ViewReading) -> dict[str, Lay]:
    """By place, the stacks of seat 1 whose rests read so after the deal."""
    play = Play()
    play.see(1, reading(stakes={"main": [stack_of(LOW)]}))
    play.see(1, reading(stakes={"main": [stack_of(LOW)]}, backs=3))
    play.see(None, reading(cards=dealer_cards()))
    for own in rests:
        play.see(1, own)
    play.see(1, reading())
    play.see(None, reading())
    (ended,) = play.ended
    record = compile_round(TABLE, 7, ended, 40.0, cut_short=False)
    went = read_procedure(TABLE, ended, LOOKS)
    lines = felt_timeline(TABLE, record, ended, went, (), LOOKS, calibration=CALIBRATION)
    found = [line for line in lines if isinstance(line, Lay) and line.item == "stack"]
    assert len({lay.place for lay in found}) == len(found)
    return {lay.place: lay for lay in found}


def seen(stake: str, pay: ReadStack | None = None, *, cards: bool = True) -> ViewReading:
    pays: dict[str, list[ReadStack]] = {} if pay is None else {"main": [pay]}
    hand_ = seat_cards(1) if cards else ()
    return reading(stakes={"main": [stack_of(stake)]}, pays=pays, cards=hand_)


BEHIND = stack_of("red", behind=1)


def test_a_stack_that_another_one_hides_keeps_its_line() -> None:
    # The stake is high for a rest.
    lays = hiding(seen(LOW, BEHIND), seen(TALL), seen(LOW, BEHIND, cards=False))
    (span,) = (one for one in lays["main pay"].hidden if one.behind)
    assert (span.behind, span.why) == (lays["main"].id, "behind a stack")
    assert lays["main pay"].cents == 500
    assert float(lays["main pay"].from_s) < float(span.from_s) < float(lays["main pay"].until_s)


def test_a_hidden_stack_that_is_not_found_again_ends_when_its_place_is_bare() -> None:
    pay = hiding(seen(LOW, BEHIND), seen(TALL), seen(TALL, cards=False))["main pay"]
    spans = [one for one in pay.hidden if one.behind]
    assert len(spans) == 2
    assert pay.until_s == spans[-1].until_s
    assert pay.before_s is not None
    assert float(pay.before_s) > float(pay.until_s)


def test_a_stack_that_is_in_view_and_not_found_is_gone() -> None:
    for pay, stake in ((stack_of("red", behind=3), TALL), (BEHIND, LOW)):
        own = hiding(seen(LOW, pay), seen(stake))["main pay"]
        assert not any(one.behind for one in own.hidden)
        assert own.before_s is not None


def test_the_sum_of_a_stake_does_not_change_while_one_of_its_stacks_is_hidden() -> None:
    two = {"main": [stack_of(LOW), stack_of("red red", behind=1)]}
    sums = hiding(reading(stakes=two, cards=seat_cards(1)), seen(TALL), reading(stakes=two))[
        "main"
    ].sums
    assert sums is not None
    assert [one.cents for one in sums] == [500, 1500]


def test_the_end_that_was_not_seen_points_to_what_lay_there_last() -> None:
    own = played()
    record = compile_round(TABLE, 7, own, 40.0, cut_short=False)
    lays = [line for line in lines_of(own) if isinstance(line, Lay)]
    left = [lay.model_copy(update={"before_s": None}) for lay in lays[-2:]]
    end = Undecided(seat=None, what="end", why="the recording ended before the round did")
    line = undecided_line(record, end, [*lays[:-2], *left])
    gone = {lay.id for lay in lays[:-2] if lay.before_s is None}
    assert set(line.lays) == {*(lay.id for lay in left), *gone}
    meter = Undecided(seat=None, what="meters.emperors_treasure_progressive.1", why="unlit")
    shown = lays[0].model_copy(update={"place": meter.what})
    assert undecided_line(record, meter, [shown, *lays]).lays == (shown.id,)


def test_chips_that_were_not_read_have_a_line_to_which_the_stake_points() -> None:
    play = Play()
    play.see(1, reading(unread=["main"], stakes={"emperors_treasure": ["red"]}))
    play.see(1, reading(unread=["main"], backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(unread=["main"], cards=seat_cards(1)))
    play.see(1, reading())
    play.see(None, reading())
    (own,) = play.ended
    lines = lines_of(own)
    (stake,) = (
        line for line in lines if isinstance(line, UndecidedLine) and line.what == "main.stake"
    )
    (chips,) = (line for line in lines if isinstance(line, Lay) and line.place == "main unread")
    assert (chips.item, chips.what, chips.cents) == ("stack", "not read", None)
    assert stake.lays == (chips.id,)
    assert (stake.from_s, stake.until_s) == (chips.from_s, chips.until_s)


def test_what_has_no_line_of_its_own_points_to_the_cards_of_its_seat_and_to_a_time() -> None:
    own = played()
    record = compile_round(TABLE, 7, own, 40.0, cut_short=False)
    lays = [line for line in lines_of(own) if isinstance(line, Lay)]

    def about(seat: int | None, what: str) -> UndecidedLine:
        return undecided_line(record, Undecided(seat=seat, what=what, why="unseen"), lays)

    prize = about(1, "envy.action")
    assert {lay.item for lay in lays if lay.id in prize.lays} == {"card", "backs"}
    assert about(1, "high[4]").lays == tuple(
        lay.id for lay in lays if lay.place == "high" and lay.seat
    )
    # Where nothing lay at all it is about the round.
    nothing = about(2, "hand")
    assert (nothing.lays, nothing.from_s, nothing.until_s) == ((), record.start_s, record.end_s)


def stakes_read_by(*stakes: ReadStack) -> list[Lay]:
    """The stacks of a round of seat 1 in which the stake is read so, rest by rest."""
    first, later = stakes[0], stakes[-1]
    play = Play()
    play.see(1, reading(stakes={"main": [first]}))
    play.see(1, reading(stakes={"main": [later]}, backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes={"main": [later]}, cards=seat_cards(1)))
    play.see(1, reading())
    play.see(None, reading())
    (own,) = play.ended
    return [one for one in lines_of(own) if isinstance(one, Lay) and one.item == "stack"]


def test_the_further_cameras_that_read_a_stack_are_named() -> None:
    alone = stack("red red")
    (stake,) = stakes_read_by(alone)
    assert (stake.cameras, stake.unread_by_first) == (None, None)
    assert "cameras" not in stake.model_dump_json(exclude_none=True)
    # One rest that another camera read is enough; the first one read it, too.
    both = replace(alone, also=(("shoulder", alone.posterior), ("low", alone.posterior)))
    (stake,) = stakes_read_by(alone, both)
    assert (stake.cameras, stake.unread_by_first) == (("low", "shoulder"), None)
    (stake,) = stakes_read_by(replace(alone, camera="low"), both)
    assert (stake.cameras, stake.unread_by_first) == (("low", "shoulder"), None)


def test_a_stack_that_only_a_further_camera_read_is_marked() -> None:
    (stake,) = stakes_read_by(replace(stack("red red"), camera="low"))
    assert (stake.cameras, stake.unread_by_first) == (("low",), True)


def test_a_stack_that_grew_has_its_sums_one_after_another() -> None:
    (same,) = stakes_read_by(stack("red red"))
    assert same.sums is None
    (grown,) = stakes_read_by(stack("red red"), stack("red red red"))
    assert grown.sums is not None
    first, later = grown.sums
    assert (first.what, first.cents, first.from_s) == ("2 red", 1000, grown.from_s)
    assert (later.what, later.cents, later.until_s) == ("3 red", 1500, grown.until_s)
    assert float(first.until_s) < float(later.from_s)
    # A sum that is not sure is no other one.
    (unsure,) = stakes_read_by(stack("red red"), stack("red red red", 0.6, c1000=0.4))
    assert unsure.sums is None


def test_a_line_is_read_back() -> None:
    for line in lines_of(played()):
        assert TIMELINE_LINE.validate_json(line.model_dump_json(exclude_none=True)) == line
