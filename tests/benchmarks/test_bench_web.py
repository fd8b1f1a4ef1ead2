"""`feltwatch bench web`: everything there is is requested, and reported with its time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.web import bench_web
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from surveillance.cli import main
from surveillance.store import AlertFilter, RoundFilter, Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('bench')}/a.sqlite"


@pytest.fixture(scope="module")
def found(url: str) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        shown: list[str] = []
        patch.setattr("typer.echo", shown.append)
        size = ["--rounds", "1000", "--alerts", "100", "--repeats", "1"]
        assert main(["bench", "web", *size, "--store", url, "--json"]) == 0
    answer: dict[str, Any] = json.loads(shown[0])
    return answer


def test_pages_and_lists_are_asked_for(found: dict[str, Any]) -> None:
    assert (found["store"], found["rounds"], found["alerts"]) == ("sqlite", 1000, 100)
    asked = {(line["path"], line["query"].split("=")[0]) for line in found["timings"]}
    for path in ("/", "/alerts", "/rounds", "/reports", "/api/tables", "/api/precision", "/log"):
        assert (path, "") in asked, path
    for path in ("/api/alerts", "/api/rounds", "/api/log"):
        assert (path, "?cursor") in asked, path
        assert (path, "?since") in asked, path
    assert ("/api/alerts/100", "") in asked
    reports = [line["query"] for line in found["timings"] if line["path"] == "/api/report"]
    for asked_format in ("json", "pdf", "csv"):
        # A shift's, a day's and a month's, of all tables and of one.
        queries = [query for query in reports if f"format={asked_format}" in query]
        assert len({query.partition("&table=")[0] for query in queries}) >= 3
        assert any("&table=" in query for query in queries)
    for path in ("/api/report/alerts", "/api/recordings/1/timeline", "/recordings/1", "/people"):
        assert any(path == one for one, _ in asked), path
    assert found["failed"] == []
    assert len(found["timings"]) == found["requests"] > 50
    assert all(200 <= line["status"] < 400 for line in found["timings"])


def test_times_are_measured(found: dict[str, Any]) -> None:
    for line in found["timings"]:
        assert 0 < line["median_ms"] <= line["p95_ms"] <= line["worst_ms"] < 60_000, line
        assert 0 < line["begun_ms"] <= line["worst_ms"], line
    slow = {line["path"] + line["query"] for line in found["timings"] if line["worst_ms"] > 300}
    assert slow == set(found["over_300_ms"])
    assert found["under_300_ms"] == (not slow)
    late = {line["path"] + line["query"] for line in found["timings"] if line["first_ms"] > 300}
    assert late == set(found["over_300_ms_at_first"])
    busy = {line["path"] + line["query"] for line in found["timings"] if line["cpu_ms"] > 300}
    assert busy == set(found["over_300_ms_of_processor"])
    assert found["worst_ms"] == found["timings"][0]["worst_ms"]


def test_what_was_filled_in_is_as_from_a_shift(url: str, found: dict[str, Any]) -> None:
    with Store.open(url) as store:
        for row in store.rounds.page(limit=20).rows:
            record = RoundRecord.model_validate(row.record)
            assert (record.round_id, record.table) == (row.round_id, row.table)
            assert len(record.seats) == len(row.settlement["seats"]) == 6
        counts = store.alerts.counts()
        assert sum(counts.values()) == 100
        assert counts["confirmed"] > counts["rejected"]
        alert = store.alerts.page(AlertFilter(state="confirmed"), limit=1).rows[0]
        assert alert.round is not None
        assert store.rounds.get(alert.round).alerts == 1
        assert store.alerts.verdicts(alert.id)[-1].by == alert.decided_by
        page = store.alerts.page(AlertFilter(code="OVERPAID"), limit=5)
        assert all(row.difference_cents for row in page.rows)
        assert len({row.table for row in store.alerts.page(limit=50).rows}) > 4
        assert store.rounds.count(RoundFilter(with_alerts=True)).rounds == 100
    assert bench_web(1000, 100, 1, url)["fill_s"] < found["fill_s"], "it is not filled again"


def test_a_store_that_holds_other_rounds_is_left_alone(tmp_path: Path) -> None:
    from tests.surveillance.store.made_rows import new_round

    url = f"sqlite:///{tmp_path}/a.sqlite"
    with Store.open(url) as store:
        store.rounds.add(new_round())
    with pytest.raises(FeltwatchError, match="holds rounds already"):
        bench_web(1000, 100, 1, url)
