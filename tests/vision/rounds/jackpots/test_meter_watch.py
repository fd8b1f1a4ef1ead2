"""What the displays of a table add to the record of a round."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.meter_displays import draw_scene, render
from settlement.declared import Declared, meter_warnings, with_declared
from settlement.procedures import Phase
from settlement.record import Meter, RoundRecord
from settlement.uncertainty import Doubts
from vision.geometry.calibration import Calibration
from vision.geometry.displays import MeterDisplay
from vision.geometry.table import Camera, FeltPoint
from vision.meters.reading import MeterReading
from vision.rounds.jackpots.meter_watch import MeterWatch
from vision.rounds.round_state import Round

WAGER = "emperors_treasure_progressive"
PLACE = f"meters.{WAGER}.1"
RECORD = RoundRecord(round_id="t-1", table="t", game="emperors_challenge_exposed")


def _calibration() -> Calibration:
    marks = ((0.0, 0.0), (479.0, 0.0), (479.0, 271.0), (0.0, 271.0))
    points = tuple(FeltPoint(felt_mm=at, image_px=at) for at in marks)
    return Calibration.fit(Camera(width_px=480, height_px=272, points=points))


def _watch(corners: np.ndarray, digits: int = 7) -> MeterWatch:
    display = MeterDisplay(
        wager=WAGER, digits=digits, decimals=2,
        corners_px=tuple((float(x), float(y)) for x, y in corners),
    )  # fmt: skip
    return MeterWatch([display], _calibration())


def _told(begun: int | None, settled: int | None) -> RoundRecord:
    def reading(cents: int | None) -> list[MeterReading]:
        return [MeterReading(cents, 0.998, "", None if cents else "glare")]

    corners = np.array([[100.0, 100.0], [200.0, 100.0], [200.0, 120.0], [100.0, 120.0]])
    watch = _watch(corners)
    watch.memory.begun[5.0] = reading(begun)
    watch.memory.settled[5.0] = reading(settled)
    return watch.with_meters(RECORD, 5.0)


def test_a_round_has_what_the_display_showed_when_settling_began() -> None:
    name = "meters watch"
    scene = next(
        s for s in (draw_scene(k, name) for k in range(200))
        if not s.blinks and not s.glare and s.digit_px > 17 and s.item.decimals
        and s.blur_px < 0.8 and s.item.brightness >= 0.8
    )  # fmt: skip
    frames, corners, shown = render(scene, name)
    watch = _watch(corners, len(scene.item.text))
    own = Round(1.0, {})
    for number, frame in enumerate(frames):
        if number == len(frames) - 1:
            own.phase = Phase.SETTLING
        watch.follow(frame, 1.0 + 0.5 * number, own)
    ((display, reads),) = watch.of_round(1.0)
    assert display.wager == WAGER
    assert [one.at_s for one in reads] == [1.0, 1.0 + 0.5 * (len(frames) - 1)]
    assert watch.of_round(2.0)[0][1] == []
    record = watch.with_meters(RECORD, 1.0)
    assert record.meters is not None
    assert [meter.cents for meter in record.meters] == [int(shown[0])]
    assert not watch.memory.settled


def test_a_display_that_rose_in_the_round_is_read_and_one_that_fell_is_not() -> None:
    rose = _told(100000, 100044)
    assert rose.meters == (Meter(wager=WAGER, cents=100044, probability=0.998),)
    fell = _told(100044, 100000)
    assert fell.meters is None
    assert [entry.what for entry in fell.undecided] == [PLACE]


@pytest.mark.parametrize("settled", [True, False])
def test_what_was_not_read_is_undecided_and_puts_nothing_else_in_doubt(settled: bool) -> None:
    corners = np.array([[100.0, 100.0], [200.0, 100.0], [200.0, 120.0], [100.0, 120.0]])
    record = _told(100000, None) if settled else _watch(corners).with_meters(RECORD, 5.0)
    assert record.meters is None
    assert [entry.what for entry in record.undecided] == [PLACE]
    doubts = Doubts(record)
    assert doubts.hand(1) is None
    assert doubts.wager(1, "main", "paid") is None


def test_a_feed_goes_before_a_display_and_both_values_are_kept() -> None:
    declared = Declared(meters=(Meter(wager=WAGER, cents=100000),))
    seen = _told(None, 100044)
    both = with_declared(seen, declared, players_bank=False)
    assert both.meters == (Meter(wager=WAGER, cents=100000, display_cents=100044),)
    (words,) = meter_warnings(both)
    assert "100000" in words
    assert "100044" in words
    again = with_declared(both, declared, players_bank=False)
    assert again.meters == both.meters
    same = with_declared(_told(None, 100000), declared, players_bank=False)
    assert list(meter_warnings(same)) == []


def test_a_feed_decides_what_a_display_left_undecided() -> None:
    declared = Declared(meters=(Meter(wager=WAGER, cents=100000),))
    record = with_declared(_told(None, None), declared, players_bank=False)
    assert record.meters == declared.meters
    assert record.undecided == ()
