"""The parts of a live source that need no stream: clocks, states, limits, the packet ring."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.sources.base import SourceState
from vision.sources.clock import WINDOW_S, StreamClock, Timeline
from vision.sources.freeze import FreezeWatch
from vision.sources.limits import LiveLimits
from vision.sources.pacing import SlowWatch
from vision.sources.packets.packet_buffer import CodedPacket, CodedRun, PacketRing
from vision.sources.state import LEGAL, StateMachine

RUN = CodedRun(1, "h264", 320, 192, None, Fraction(10))


@pytest.mark.parametrize(("one", "other"), list(itertools.product(SourceState, SourceState)))
def test_only_legal_changes_of_state(one: SourceState, other: SourceState) -> None:
    machine = StateMachine()
    machine._state = one
    if one is other or other in LEGAL[one]:
        assert machine.to(other, "why")
        assert machine.now[:2] == (other, "why")
    else:
        with pytest.raises(ValueError, match=f"{one} cannot become {other}"):
            machine.to(other)
        assert machine.state is one


def test_the_end_is_the_end_and_every_state_is_reached() -> None:
    assert LEGAL[SourceState.ENDED] == LEGAL[SourceState.FAILED] == frozenset()
    reached = set().union(*LEGAL.values())
    assert reached == set(SourceState) - {SourceState.CONNECTING}


def test_since_when_is_kept_while_the_message_changes() -> None:
    times = iter([0.0, 5.0])
    machine = StateMachine(lambda: next(times))
    machine.to(SourceState.RECONNECTING, "one")
    machine.to(SourceState.RECONNECTING, "two")
    assert machine.now == (SourceState.RECONNECTING, "two", 5.0)
    assert not machine.to(SourceState.RUNNING, "", frozenset({SourceState.STALLED}))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_waits_grow_and_are_bounded(attempt: int, luck: float) -> None:
    limits = LiveLimits()
    wait = limits.wait_s(attempt, luck)
    assert 0 < wait <= limits.backoff_most_s * (1 + limits.backoff_jitter)
    assert limits.wait_s(attempt + 1, luck) >= wait


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(1, 100), st.integers(0, 500), st.integers(-100_000, 100_000)),
        min_size=1, max_size=8,
    )
)  # fmt: skip
def test_stream_time_grows_over_runs_and_keeps_to_the_wall(
    runs: list[tuple[int, int, int]],
) -> None:
    line, wall, last, first_wall = Timeline(), 1000.0, Fraction(-1), None
    for count, gap, start in runs:
        line.new_run()
        wall += gap
        for k in range(count):
            first_wall = wall if first_wall is None else first_wall
            at = line.at(Fraction(start) + Fraction(k, 15), wall)
            assert at > last
            # A new run may begin up to half a second late so that none mixes with the last.
            assert abs(float(at) - (wall - first_wall)) < 0.6 * len(runs) + 0.01
            assert line.of(Fraction(start) + Fraction(k, 15)) == at
            last = at
            wall += 1 / 15
    assert line.runs == len(runs)


def test_coded_order_and_leaps() -> None:
    line = Timeline()
    # I P B B: the second is shown after those that follow it.
    assert [float(line.at(Fraction(n), 50.0 + n)) for n in (10, 10.3, 10.1, 10.2)] == pytest.approx(
        [0, 0.3, 0.1, 0.2]
    )
    assert line.runs == 1
    # The camera sets its clock back by an hour; then ahead by two.
    assert float(line.at(Fraction(-3590), 61.0)) == pytest.approx(1.0)
    assert float(line.at(Fraction(3610), 62.0)) == pytest.approx(2.0)
    assert line.runs == 3
    assert line.of(Fraction(-3590)) is None
    # A leap that the wall clock made too is none: the camera only sent nothing.
    assert float(line.at(Fraction(3910), 362.0)) == pytest.approx(302.0)
    assert line.runs == 3


def test_the_smallest_delay_is_the_clock_and_drift_is_followed() -> None:
    clock = StreamClock()
    assert clock.shown_at(0.0) is None
    luck = np.random.default_rng(2)
    for k in range(6000):
        at = k * 0.1
        # The camera's clock gains 200 ppm; the way here takes 50 to 250 ms.
        clock.note(at * 1.0002, 5000 + at + 0.05 + float(luck.random()) * 0.2, None)
    true = 5000 + 599.9
    found = clock.shown_at(599.9 * 1.0002)
    assert found is not None
    assert true < found + 2e-4 * 2 * WINDOW_S
    assert found < true + 0.1
    assert not clock.by_sender


@pytest.mark.parametrize(
    ("early_s", "trusted"), [(0.0, True), (4.0, True), (-0.04, True), (-0.5, False), (9.0, False)]
)
def test_a_sender_is_believed_only_when_it_can_be_true(early_s: float, trusted: bool) -> None:
    clock = StreamClock()
    clock.note(3.0, 1000.0, 1000.0 - early_s)
    assert not clock.by_sender
    clock.came_out(3.0, 1000.0)
    assert clock.by_sender is trusted
    assert clock.shown_at(3.0) == pytest.approx(1000.0 - early_s if trusted else 1000.0)
    clock.restart()
    assert not clock.by_sender


def test_frames_that_are_sent_ahead_of_others_do_not_put_the_sender_in_doubt() -> None:
    """A server that plays a file sends by decoding time: what others lean on comes early."""
    clock = StreamClock()
    trusted = []
    shown = []
    for group in range(50):
        # Coded order P B B: the P is 0.2 s ahead of its time, and comes out after its Bs.
        for k, late in ((3, -0.2), (1, 0.0), (2, 0.0)):
            at = group * 0.3 + k * 0.1
            clock.note(at, 1000 + at + late, 1000 + at)
            clock.came_out(group * 0.3 if k == 3 else at, 1000 + at + late)
            trusted.append(clock.by_sender)
            shown.append(clock.shown_at(at))
    assert all(trusted)
    assert shown == [pytest.approx(1000 + (n // 3) * 0.3 + (0.3, 0.1, 0.2)[n % 3])
                     for n in range(150)]  # fmt: skip


def test_a_machine_that_is_late_does_not_doubt_the_sender() -> None:
    clock = StreamClock()
    for k, late_s in enumerate([0.1, 0.1, 7.0, 12.0, 8.0, 0.2]):
        clock.note(float(k), 1000.0 + k + late_s, 1000.0 + k)
        clock.came_out(float(k), 1000.0 + k + late_s)
        assert clock.by_sender
        assert clock.shown_at(float(k)) == pytest.approx(1000.0 + k)


def test_a_sender_whose_clock_is_set_wrong_is_no_longer_believed() -> None:
    clock = StreamClock()
    for k in range(400):
        wrong_s = 0.0 if k < 100 or k >= 200 else 3600.0
        clock.note(float(k), 1000.1 + k, 1000.0 + k + wrong_s)
        clock.came_out(float(k), 1000.1 + k)
        if k < 200 or k > 200 + 2 * WINDOW_S:
            assert clock.by_sender is (wrong_s == 0.0), k


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.integers(0, 9)), max_size=120),
    st.integers(1, 15),
    st.integers(40, 400),
)
def test_the_ring_never_holds_more_and_begins_with_a_key(
    steps: list[tuple[int, bool, int]], seconds: int, most: int
) -> None:
    ring, at = PacketRing(seconds, most), Fraction(0)
    given_: list[CodedPacket] = []
    for step, key, size in steps:
        at += Fraction(step, 10)
        packet = CodedPacket(RUN, at, key, bytes(size))
        given_.append(packet)
        ring.add(packet)
        assert ring.held_bytes <= most
        cut = ring.cut(0, 1e9)
        held = [] if cut is None else list(cut.packets)
        assert held == given_[len(given_) - len(held) :]
        assert not held or held[0].key
        assert not held or held[-1].at_s - held[0].at_s <= seconds


def test_a_cut_begins_at_the_key_before_and_holds_one_run() -> None:
    ring = PacketRing(1000)
    for n in range(20):
        ring.add(CodedPacket(RUN, Fraction(n), n % 5 == 0, b"x"))
    other = CodedRun(2, "h264", 320, 192, None, None)
    for n in range(30, 60):
        ring.add(CodedPacket(other, Fraction(n), n % 5 == 0, b"x"))
    cut = ring.cut(7, 12)
    assert cut is not None
    assert [int(p.at_s) for p in cut.packets] == list(range(5, 13))
    across = ring.cut(18, 44)
    assert across is not None
    assert across.run is other
    assert (across.start_s, across.end_s) == (30, 44)
    assert PacketRing(5).cut(0, 1) is None
    assert ring.cut(-9, -5) is None


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(40, 200, (60, 80)).astype(np.int16)


def test_noise_is_alive_and_repetition_is_not() -> None:
    watch = FreezeWatch()
    assert [watch.look(picture(k), float(k)) for k in range(5)] == [0.0] * 5
    assert [watch.look(picture(4), float(k)) for k in range(5, 9)] == [1.0, 2.0, 3.0, 4.0]
    assert watch.look(picture(9), 9.0) == 0.0


def test_a_clock_on_a_frozen_frame_does_not_hide_it() -> None:
    watch, base = FreezeWatch(), picture(1)
    watch.look(base, 0.0)
    for second in range(1, 20):
        stamped = base.copy()
        stamped[2:5, 50:70] = second
        assert watch.look(stamped, float(second)) == float(second)


def test_key_frames_are_looked_at_and_others_only_when_none_come() -> None:
    watch = FreezeWatch(every_s=1.0, key_wait_s=5.0)
    assert watch.is_due(0.0, False)
    watch.look(picture(1), 0.0)
    assert [watch.is_due(t, True) for t in (0.5, 1.0)] == [False, True]
    assert [watch.is_due(t, False) for t in (1.0, 4.9, 5.0)] == [False, False, True]


def test_a_new_size_starts_again() -> None:
    watch = FreezeWatch()
    watch.look(picture(1), 0.0)
    watch.look(picture(1), 5.0)
    assert watch.look(picture(1)[:40], 6.0) == 0.0


def test_slow_is_detected_by_what_is_dropped_lately() -> None:
    import time

    watch, now = SlowWatch(LiveLimits(slow_window_s=10)), time.monotonic()
    for k in range(10):
        watch.sampled(now - 30 + k, dropped=True)
    assert not watch.too_slow()
    for k in range(8):
        watch.sampled(now - 8 + k, dropped=k % 4 == 0)
    assert not watch.too_slow()
    watch.sampled(now, dropped=True)
    assert watch.too_slow()
    assert watch.dropped == 13
    skipping = SlowWatch(LiveLimits())
    skipping.skip(now)
    assert skipping.too_slow()
    assert skipping.skipped == 1
