"""Tables are left out in the site's order when a machine cannot keep up with all of them."""

from __future__ import annotations

from surveillance.live.camera.overload import BACK_S, SETTLES_S, CameraLoad, LeaveOut

FINE = CameraLoad(0.3)
THIN = CameraLoad(0.7, is_thinned=True)
OVER = CameraLoad(1.0, is_thinned=True, is_over=True)


def test_one_after_the_other_and_never_the_last() -> None:
    plan = LeaveOut(["c", "a", "b"])
    assert plan.look(0, {"a": FINE, "b": THIN, "c": FINE}) == ()
    assert plan.look(1, {"a": OVER, "b": THIN, "c": FINE}) == ("c",)
    assert plan.look(1 + SETTLES_S / 2, {"a": OVER, "b": OVER, "c": FINE}) == ("c",)
    assert plan.look(1 + SETTLES_S, {"a": OVER, "b": OVER, "c": FINE}) == ("c", "a")
    assert plan.look(1 + 3 * SETTLES_S, {"a": FINE, "b": OVER}) == ("c", "a")


def test_they_come_back_in_turn_when_there_is_room() -> None:
    plan = LeaveOut(["b", "a"])
    plan.look(0, {"a": OVER, "b": OVER})
    calm = [now for now in range(1, 300) if plan.look(now, {"a": FINE, "b": FINE}) == ()]
    assert calm[0] == 1 + BACK_S
    plan = LeaveOut(["b", "a"])
    plan.look(0, {"a": OVER, "b": OVER})
    assert all(plan.look(now, {"a": THIN}) == ("b",) for now in range(1, 300))


def test_one_that_is_too_much_again_stays_out_longer() -> None:
    plan = LeaveOut(["b", "a"])
    waits, out_since, now = [], 0, 0
    for _ in range(3):
        while plan.look(now, {"a": OVER, "b": OVER}) == ():
            now += 1
        out_since = now
        while plan.look(now, {"a": FINE}) == ("b",):
            now += 1
        waits.append(now - out_since)
    assert waits[0] < waits[1] < waits[2]


def test_a_camera_whose_process_is_gone_is_no_load() -> None:
    plan = LeaveOut(["b", "a"])
    assert plan.look(0, {"a": OVER}) == ()
    assert plan.look(1, {"a": OVER, "b": FINE}) == ("b",)
