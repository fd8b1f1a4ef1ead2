"""Which frames of a round decide what a sensor's lamp showed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from datasets.simulate.shift import Wishes
from tests.vision.rounds.readings import Play, dealer_cards, reading, seat_cards
from vision.geometry.calibration import Calibration
from vision.rounds.jackpots.lamp_watch import LampFrame, LampWatch
from vision.rounds.round_state import Round
from vision.sensors.lamp_reading import LampReading

BARE = Wishes(seed=1, rounds=1, seats=2, jackpots="plain").table_file()
CAMERA = synthetic_camera(BARE.felt, width_px=640, height_px=360)
TABLE = BARE.model_copy(update={"camera": table_camera(CAMERA, BARE)})
LIT, UNLIT = LampReading(0.999, 0.0005, 0.0005), LampReading(0.0005, 0.999, 0.0005)


def watch() -> LampWatch:
    assert TABLE.camera is not None
    return LampWatch(TABLE, Calibration.fit(TABLE.camera))


def played() -> tuple[Round, float, float]:
    """A round, when its bets lay and when it ended."""
    play = Play()
    for seat in (1, 2):
        play.see(seat, reading(stakes={"main": ["red"]}))
    bets_s = play.now_s
    for seat in (1, 2):
        play.see(seat, reading(stakes={"main": ["red"]}, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    for seat in (1, 2):
        play.see(seat, reading(stakes={"main": ["red"]}, cards=seat_cards(seat)))
    own = play.tracker.end()
    assert own is not None
    return replace(own, cut_s=play.now_s), bets_s, play.now_s


def test_only_frames_between_the_close_of_bets_and_the_end_count() -> None:
    own, bets_s, end_s = played()
    lamps = watch()
    place = next(iter(lamps.places))
    lamps.frames[0] = [LampFrame(at_s, UNLIT) for at_s in (0.1, bets_s)]
    lamps.frames[0] += [LampFrame(end_s - k, LIT) for k in (2.0, 1.0, 0.5)]
    lamps.frames[0] += [LampFrame(end_s + 5, UNLIT)]
    found = lamps.of_round(own)
    assert (found[place].lit, found[place].frames) == (True, 3)
    assert [one.at_s for one in lamps.frames[0]] == [end_s + 5]


def test_the_frames_of_a_round_are_those_since_the_round_before() -> None:
    own, _, end_s = played()
    lamps = watch()
    place = next(iter(lamps.places))
    times = (own.since_s - 1.0, own.since_s, end_s, end_s + 1.0)
    lamps.frames[0] = [LampFrame(at_s, LIT) for at_s in times]
    assert [one.at_s for one in lamps.frames_of(own, end_s)[place]] == [own.since_s, end_s]


def test_a_lamp_that_looked_lit_when_the_round_began_is_not_decided() -> None:
    own, _, end_s = played()
    lamps = watch()
    lamps.frames[0] = [LampFrame(own.start_s + at_s, LIT) for at_s in (-1.0, 0.3)]
    lamps.frames[0] += [LampFrame(end_s - k, LIT) for k in (2.0, 1.0, 0.5)]
    lamps.frames[1] = list(lamps.frames[0][2:])
    found = list(lamps.of_round(own).values())
    assert [one.lit for one in found[:2]] == [None, True]


def test_a_seat_that_is_not_at_rest_is_not_read() -> None:
    lamps = watch()
    frame = np.full((360, 640, 3), 40, np.uint8)
    lamps.read(frame, [1, None], 1.0)
    lamps.read(frame, [1, None], 1.2)
    counts = {place: len(own) for place, own in zip(lamps.places, lamps.frames, strict=True)}
    assert {seat for (seat, _), count in counts.items() if count} == {1}
    assert set(counts.values()) == {0, 1}


def test_a_table_without_declared_lamps_has_none_to_watch() -> None:
    own = TABLE.model_copy(update={"sensor_lamp": None})
    with pytest.raises(ValueError, match="sensor_lamp"):
        LampWatch(own, watch()._calibration)
