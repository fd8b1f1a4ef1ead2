"""The fit and the count of the lamps' benchmark, on looks put together by hand."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pytest

from benchmarks.sensor_lamps import measure
from benchmarks.sensor_lamps.lamp_scenes import Lamp, Scene, Seen
from datasets.render.sensors import draw_design
from vision.geometry.lamps import SensorLamp
from vision.sensors.lamp_look import LampLook
from vision.sensors.lamp_reading import LampReading, softmax

DESIGN = draw_design(np.random.default_rng(1))
SCENE = Scene(DESIGN, SensorLamp(diameter_mm=14.0), (), (), None)


def seen(lit: bool, hidden: float = 0.0, cover: str = "", off: float = 0.0) -> Seen:
    level = 0.1 if hidden else 0.9 if lit else 0.2
    felt = 1.5 if hidden else 0.0
    look = LampLook(level + off, level, 0, level, 0, 0, 0, 0, 0, felt + off, felt, 0, 0)
    return Seen(look, Lamp((1, "x"), lit, cover, hidden), SCENE, 2160)


def test_the_fit_tells_the_classes_apart() -> None:
    rng = np.random.default_rng(2)
    rows = [
        seen(lit, hidden, off=float(rng.normal(0, 0.05)))
        for lit, hidden in ((True, 0.0), (False, 0.0), (True, 1.0))
        for _ in range(30)
    ]
    rows.append(seen(True, 0.4))
    weights, offsets = measure.fit(rows)
    odds = np.array([row.look.array() for row in rows[:-1]]) @ np.array(weights).T
    named = softmax(odds + np.array(offsets)).argmax(axis=1)
    assert named.tolist() == [row.truth for row in rows[:-1]]


def test_what_is_hidden_is_right_when_it_is_not_decided() -> None:
    lit, unlit, hidden = (
        LampReading(0.998, 0.001, 0.001),
        LampReading(0.001, 0.998, 0.001),
        LampReading(0.001, 0.001, 0.998),
    )
    rows = [seen(True), seen(True), seen(True), seen(True, 1.0, "coin"), seen(False, 1.0, "card")]
    found = measure.figures(rows, [lit, unlit, hidden, hidden, lit])
    visible = found["visible"]
    assert (visible["of"], visible["right"], visible["wrong"], visible["undecided"]) == (3, 1, 1, 1)
    assert found["hidden"]["decided"] == 1
    assert found["hidden by coin"]["right"] == 1


def test_the_judges_seed_is_a_hash_and_is_not_fitted_to(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(b"feltwatch lamps judge 2026-11-25").hexdigest()
    assert int(digest[:7], 16) == measure.JUDGE_SEED
    monkeypatch.setattr(sys, "argv", ["sensor_lamps", "--judge", "--fit"])
    with pytest.raises(SystemExit):
        measure.main()
