"""The soak benchmark on the real server, for as long as each fault takes once."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from benchmarks import soak
from benchmarks.soak import FAULTS, bench_soak
from settlement.errors import FeltwatchError
from tests.rtsp.loopback import need_server

SAMPLE = Path(__file__).resolve().parents[2] / "sample"


def test_it_is_longer_than_its_warm_up() -> None:
    with pytest.raises(FeltwatchError, match="more than the warm-up, 20"):
        bench_soak(SAMPLE / "video.mp4", SAMPLE / "table.toml", 20.0, lambda _: None)


def test_its_examples_are_true() -> None:
    found = doctest.testmod(soak)
    assert (found.failed, found.attempted > 0) == (0, True)


@pytest.mark.slow
def test_the_camera_comes_back_from_every_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    need_server()
    monkeypatch.setattr(soak, "SAMPLE_EVERY_S", 2.0)
    found = bench_soak(
        SAMPLE / "video.mp4", SAMPLE / "table.toml", 5.0, lambda _: None,
        fault_every_s=15.0, warm_minutes=1.0,
    )  # fmt: skip
    assert set(found["faults"]) == set(FAULTS)
    assert found["came_back"] == sum(found["faults"].values())
    assert (found["exit_status"], found["processes_left"]) == (0, 0)
    assert set(found["answers"]) == {200}
    assert found["at_end"]["server_mib"] > 100
