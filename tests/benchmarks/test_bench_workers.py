"""The workers' benchmark, on a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.workers import bench_workers
from settlement.errors import FeltwatchError
from tests.surveillance import postgres

SAMPLE = Path(__file__).resolve().parents[2] / "sample"


def test_workers_share_no_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    with pytest.raises(FeltwatchError, match="workers share a PostgreSQL database"):
        bench_workers(SAMPLE / "video.mp4", SAMPLE / "table.toml", url, lambda _: None)


@pytest.mark.slow
@pytest.mark.postgres
def test_a_killed_and_a_stopped_worker_change_no_record() -> None:
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE bench")
        found = bench_workers(
            SAMPLE / "video.mp4", SAMPLE / "table.toml", postgres.url(host, "bench"),
            lambda _: None, recordings=6, seconds=4.0, workers=(1,),
        )  # fmt: skip
    (one,), disturbed = found["runs"], found["one_killed_one_stopped"]
    assert (one["takeovers"], one["differ"]) == (0, 0)
    assert disturbed["takeovers"] >= 1
    assert disturbed["differ"] == 0
