"""Lamps, the banker's marker and meter displays in the felt's timeline."""

from __future__ import annotations

from settlement.felt_timeline import Lay, undecided_line
from settlement.record import RoundRecord, Undecided
from vision.geometry.displays import MeterDisplay
from vision.meters.reading import MeterReading
from vision.rounds.jackpots.lamp_watch import LampFrame
from vision.rounds.procedure.marker_bank import MarkerRest
from vision.rounds.timeline.signs import Signs, sign_lines
from vision.sensors.lamp_reading import LampReading

ID = "t1-000001"
WAGER = "emperors_treasure_progressive"
LIT, UNLIT = LampReading(0.999, 0.0005, 0.0005), LampReading(0.0005, 0.999, 0.0005)
COVERED, UNSURE = LampReading(0.01, 0.01, 0.98), LampReading(0.5, 0.4, 0.1)
RECORD = RoundRecord(
    round_id=ID, table="t1", game="emperors_challenge_exposed", start_s="0.0", end_s="60.0"
)


def lines(signs: Signs) -> list[Lay]:
    found = sign_lines(ID, signs, 0.0, 60.0)
    return [lay.model_copy(update={"id": f"{ID}/{n}"}) for n, lay in enumerate(found)]


def lamp(*readings: LampReading) -> list[Lay]:
    """The lines of a lamp that was read so, a second apart."""
    frames = [LampFrame(float(second), one) for second, one in enumerate(readings)]
    return lines(Signs(lamps={(2, WAGER): frames}))


def spans(lays: list[Lay]) -> list[tuple[str, float, float]]:
    return [(lay.what, float(lay.from_s), float(lay.until_s)) for lay in lays]


def test_a_lamp_has_a_line_for_each_time_in_which_it_showed_the_same() -> None:
    dark, lit, again = lamp(UNLIT, UNLIT, LIT, LIT, UNLIT)
    assert spans([dark, lit, again]) == [("unlit", 0, 1), ("lit", 2, 3), ("unlit", 4, 4)]
    assert (lit.seat, lit.place, lit.item) == (2, f"{WAGER} lamp", "lamp")
    assert (lit.after_s, lit.before_s) == ("1.000", "4.000")
    assert (dark.after_s, again.before_s) == (None, None)
    assert all(lay.probability is not None and lay.probability > 0.99 for lay in (dark, lit))


def test_a_lamp_that_was_covered_for_a_while_is_inferred_between_two_alike() -> None:
    (lit,) = lamp(LIT, LIT, COVERED, UNSURE, LIT)
    assert spans([lit]) == [("lit", 0, 4)]
    assert [(one.from_s, one.until_s, one.why) for one in lit.hidden] == [
        ("1.000", "4.000", "not visible")
    ]
    # Between two that differ nobody knows when it changed.
    changed = lamp(UNLIT, COVERED, LIT)
    assert spans(changed) == [("unlit", 0, 0), ("not visible", 1, 1), ("lit", 2, 2)]
    assert changed[1].probability is None
    assert spans(lamp(COVERED, COVERED)) == [("not visible", 0, 1)]
    assert spans(lamp(LIT, UNSURE)) == [("lit", 0, 0), ("not sure", 1, 1)]


def test_an_unlit_lamp_that_may_be_covered_is_unlit_where_it_is_visible() -> None:
    (dark,) = lamp(*[LampReading(0.012, 0.713, 0.275)] * 3)
    assert (dark.what, dark.probability) == ("unlit", 0.9834)


def test_frames_of_another_round_are_left_out() -> None:
    frames = [LampFrame(at_s, LIT) for at_s in (1.0, 2.0, 99.0)]
    assert spans(sign_lines(ID, Signs(lamps={(2, WAGER): frames}), 2.0, 60.0)) == [("lit", 2, 2)]


def marker(**places: list[tuple[float, float, float]]) -> list[Lay]:
    """The lines of the marker's places, each with (from, until, probability) at rest."""
    names: dict[str, int | None] = {"one": 1, "two": 2, "house": None}
    rests = {
        names[name]: [MarkerRest(start, until, [share]) for start, until, share in own]
        for name, own in places.items()
    }
    return lines(Signs(marker=rests))


def test_the_marker_has_a_line_for_each_seat_at_which_it_lay() -> None:
    one, two = marker(
        one=[(0, 20, 0.99), (21, 60, 0.01)], two=[(0, 22, 0.0), (23, 60, 0.98)], house=[(0, 60, 0)]
    )
    assert (one.seat, one.place, one.item) == (1, "marker", "marker")
    assert (one.until_s, one.before_s, one.after_s) == ("20.000", "21.000", None)
    assert (two.seat, two.from_s, two.after_s, two.probability) == (2, "23.000", "22.000", 0.98)
    (house,) = marker(house=[(-30, 80, 0.95)])
    # Of a rest that began before the round or went on after it, what is the round's.
    assert (house.seat, house.from_s, house.until_s) == (None, "0.000", "60.000")


def test_an_arm_over_the_marker_does_not_end_its_line() -> None:
    (one,) = marker(one=[(0, 20, 0.99), (22, 24, 0.0), (26, 40, 0.97), (42, 60, 0.99)])
    assert [(span.from_s, span.until_s, span.why) for span in one.hidden] == [
        ("20.000", "26.000", "not found"), ("40.000", "42.000", "motion")
    ]  # fmt: skip
    # It lay elsewhere meanwhile.
    taken = marker(one=[(0, 20, 0.99), (22, 40, 0.0), (41, 60, 0.99)], two=[(24, 38, 0.99)])
    assert [lay.seat for lay in taken] == [1, 2, 1]


def display(*cents: int | None) -> list[Lay]:
    """The lines of a display that was read as so many cents, ten seconds apart."""
    own = MeterDisplay(
        wager=WAGER, digits=7, corners_px=((9.0, 8.0), (50.0, 8.0), (50.0, 20.0), (9.0, 20.0))
    )
    reads = [
        MeterReading(one, 0.0 if one is None else 0.998, "12?" if one is None else str(one), None,
                     at_s=10.0 * k)
        for k, one in enumerate(cents)
    ]  # fmt: skip
    return lines(Signs(displays=[(own, reads)]))


def test_a_display_has_a_line_for_each_value_that_it_showed() -> None:
    (same,) = display(100000, 100000)
    assert (same.seat, same.place, same.item) == (None, f"meters.{WAGER}.1", "display")
    assert (same.cents, same.from_s, same.until_s) == (100000, "0.000", "10.000")
    rose = display(100000, 100044)
    assert [lay.cents for lay in rose] == [100000, 100044]
    assert (rose[0].before_s, rose[1].after_s) == ("10.000", "0.000")
    (unread,) = display(None)
    assert (unread.what, unread.cents, unread.probability) == ("12?", None, None)


def test_what_is_undecided_of_a_lamp_the_banker_or_a_meter_points_to_its_line() -> None:
    def about(what: str, seat: int | None, lays: list[Lay]) -> tuple[str, ...]:
        return undecided_line(RECORD, Undecided(seat=seat, what=what, why="?"), lays).lays

    lays = lamp(UNLIT, UNLIT, UNLIT, LIT)
    assert about(f"{WAGER}.stake", 2, lays) == tuple(lay.id for lay in lays)
    assert about(WAGER, 2, lays) == tuple(lay.id for lay in lays)
    assert about(f"{WAGER}.paid", 3, lays) == ()
    (lies,) = marker(one=[(0, 60, 0.5)])
    assert about("banker", None, [lies]) == (lies.id,)
    (shown,) = display(None)
    assert about(f"meters.{WAGER}.1", None, [shown]) == (shown.id,)
