"""Measuring: rounds are interleaved, ratios are of the same round, all parts are reported."""

from __future__ import annotations

import json

import pytest

from benchmarks import networks
from benchmarks.networks import Timed, bench_model, interleave
from models.weights.folder import default_weights


def test_each_round_begins_with_another() -> None:
    order: list[str] = []
    contestants = {name: Timed(lambda name=name: order.append(name), 4) for name in "abc"}  # type: ignore[misc]
    steps: list[float] = []
    interleave(contestants, 3, steps.append)
    assert "".join(order) == "abc" + "abc" + "bca" + "cab"
    assert steps == pytest.approx([1 / 3, 2 / 3, 1])
    assert all(len(timed.wall_ms) == len(timed.cpu_ms) == 3 for timed in contestants.values())


def test_ratios_are_medians_of_the_rounds_own() -> None:
    ours, other = Timed(lambda: None, 1), Timed(lambda: None, 1)
    # The second round was disturbed, both in it.
    ours.wall_ms, other.wall_ms = [10, 100, 10], [30, 300, 31]
    ours.cpu_ms, other.cpu_ms = [10, 10, 10], [20, 20, 20]
    ratios = networks._ratios({networks.OURS: ours, "slow": other})
    assert ratios == {"slow / openvino": {"wall": 3.0, "cpu": 2.0}}
    assert other.as_dict() == {"ms": 31.0, "least_ms": 30.0, "cpu_ms": 20.0}


@pytest.mark.slow
def test_the_shipped_weights_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    monkeypatch.setattr(networks, "_peak_memory", lambda weights: 123)
    found = json.loads(json.dumps(bench_model(default_weights(), views=1, rounds=1)))
    assert set(found["detector"]) >= {"openvino", "openvino without int8", "openvino f32"}
    assert "crops" not in found["detector"]
    assert set(found["not_measured"]) == {"onnxruntime f32", "ultralytics predict"}
    assert found["ratio"]["openvino f32 / openvino"]["wall"] > 0
    for part in ("reader", "reader_both_indices", "comparer", "stacks"):
        assert found[part]["ms"] > 0
    assert found["reader"]["crops"] == 14
    assert found["threads"]["detector"]["threads"] >= 1
    assert found["peak_mib"] == 123


@pytest.mark.slow
def test_memory_is_of_a_process_of_its_own() -> None:
    peak = networks._peak_memory(default_weights())
    assert peak is not None
    assert 50 < peak < 2000
