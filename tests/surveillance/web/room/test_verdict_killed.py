"""A server that is killed between a verdict and its line in the log keeps neither."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from surveillance.store import Store
from tests.surveillance import postgres
from tests.surveillance.web.room_made import made_room
from vision.geometry.table import TableFile

JUDGE = """
import json, os, signal, sys
from pathlib import Path
from surveillance.store.audit import AuditLog
from tests.surveillance.conftest import small_table
from tests.surveillance.web.room_made import asking, made_room
with made_room(Path(sys.argv[1]), small_table(), url=sys.argv[2]) as room:
    with asking(room, "ann") as client:
        client.get("/api/alerts/1").raise_for_status()
        AuditLog.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        path, change = sys.argv[3].split(maxsplit=1)
        client.post(f"/api/alerts/1/{path}", json=json.loads(change)).raise_for_status()
"""
VERDICT = 'verdict {"verdict": "confirmed", "comment": "as seen"}'
CASE = 'case {"case": true}'


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/room.sqlite"
        return
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE killed")
        yield postgres.url(host, "killed")


@pytest.mark.parametrize("act", [VERDICT, CASE])
def test_both_or_neither(url: str, act: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", JUDGE, str(tmp_path / "room"), url, act]
    assert subprocess.run(command, check=False).returncode == -9
    with Store.open(url) as store:
        row = store.alerts.get(1)
        assert (row.state, row.case) == ("open", False)
        assert store.alerts.verdicts(1) == ()


def test_a_step_that_fails_undoes_the_writes_before_it(table: TableFile, tmp_path: Path) -> None:
    with made_room(tmp_path / "room", table) as room:
        database = room.store.database

        def fails() -> None:
            with database.together():
                room.store.alerts.judge(2, "rejected", "", "ann")
                assert room.store.alerts.get(2).state == "rejected"
                assert database.is_together
                with database.write() as connection:
                    connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")

        with pytest.raises(FeltwatchError, match="no such table: nowhere"):
            fails()
        assert not database.is_together
        assert room.store.alerts.get(2).state == "open"
