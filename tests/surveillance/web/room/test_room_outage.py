"""A database that is really stopped, or whose disk is really full: what the pages still do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from fastapi.testclient import TestClient

from surveillance.live.event_bus import EventBus
from surveillance.live.recorder import Recorder
from surveillance.live.states import CameraState, TableState
from surveillance.store import Store
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance import postgres
from tests.surveillance.full_disk import fill, free, small_disk

PATIENCE_S = 60.0


@contextmanager
def place(url: str, folder: Path) -> Iterator[tuple[TestClient, Store, Recorder]]:
    """A server with one table and somebody who is logged in."""
    with Store.open(url) as store:
        bus = EventBus()
        recorder = Recorder(store, bus, folder / "evidence")
        recorder.add_camera("c1", "t1")
        state = TableState(camera="c1", table="t1", game="g", state=CameraState.RUNNING)
        bus.set_state(state, datetime.now(UTC))
        bus.set_pictures("c1", b"\xff\xd8 plain", b"\xff\xd8 drawn")
        app = create_app(WebSettings(store=store, bus=bus, recorder=recorder))
        ana = store.people.add("ana", "admin", "no hash")
        with TestClient(app, base_url="http://127.0.0.1:8471") as client:
            secret = app.state.accounts.sessions.open(ana, "test", "test").secret
            client.cookies[SESSION_COOKIE] = secret
            try:
                yield client, store, recorder
            finally:
                recorder.close(10)


def ageless(client: TestClient) -> list[dict[str, object]]:
    """The tables as the wall shows them, without the age of their images, which grows."""
    tables = client.get("/api/tables").json()
    return [{k: v for k, v in table.items() if k != "picture_age_s"} for table in tables]


def until(client: TestClient, key: str, *, is_set: bool) -> dict[str, object]:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        record: dict[str, object] = client.get("/api/record").json()
        if (record[key] is not None) is is_set:
            return record
        time.sleep(0.1)
    raise AssertionError(f"{key} did not change within {PATIENCE_S:g} s: {record}")


def test_wall_and_login_go_on_while_postgresql_is_stopped(tmp_path: Path) -> None:
    with postgres.stoppable_server() as server:
        postgres.run(server.host, "CREATE DATABASE pages")
        with place(postgres.url(server.host, "pages"), tmp_path) as (client, store, recorder):
            assert client.get("/").status_code == 200
            before = ageless(client)
            assert before[0]["camera"] == "c1"
            server.stop()
            record = until(client, "store_down_since", is_set=True)
            since = datetime.fromisoformat(str(record["store_down_since"]))
            for path in ("/", "/api/tables", "/api/tables/c1", "/api/tables/c1/picture"):
                began = time.monotonic()
                assert client.get(path).status_code == 200, path
                assert time.monotonic() - began < 10, path
            assert ageless(client) == before
            refused = client.get("/api/rounds")
            assert refused.status_code == 503
            words = f"the database cannot be read or written since {since:%Y-%m-%d %H:%M:%S} UTC"
            assert words in refused.json()["detail"]
            # Who is not logged in is not let in by it.
            assert client.get("/api/tables", headers={"cookie": "a=b"}).status_code != 200
            server.start()
            until(client, "store_down_since", is_set=False)
            assert client.get("/api/rounds").status_code == 200
            assert recorder.wait_stored(30)
            # Who looked meanwhile stands in the log.
            acts = [row.act for row in store.audit.page(limit=200).rows]
            assert acts.count("wall seen") == 2
            assert "live picture seen" in acts


def test_wall_and_login_go_on_while_postgresql_is_frozen(tmp_path: Path) -> None:
    with postgres.stoppable_server() as server:
        postgres.run(server.host, "CREATE DATABASE pages")
        with place(postgres.url(server.host, "pages"), tmp_path) as (client, store, recorder):
            assert client.get("/").status_code == 200
            before = ageless(client)
            with server.frozen():
                began = time.monotonic()
                assert client.get("/").status_code == 200
                assert time.monotonic() - began < 20, "no page waits for longer than two calls"
                until(client, "store_down_since", is_set=True)
                for path in ("/", "/api/tables", "/api/tables/c1", "/api/tables/c1/picture"):
                    began = time.monotonic()
                    assert client.get(path).status_code == 200, path
                    assert time.monotonic() - began < 8, path
                assert ageless(client) == before
                assert client.get("/api/rounds").status_code == 503
            until(client, "store_down_since", is_set=False)
            assert client.get("/api/rounds").status_code == 200
            assert recorder.wait_stored(30)
            # Who looked meanwhile stands in the log.
            acts = [row.act for row in store.audit.page(limit=200).rows]
            assert acts.count("wall seen") == 3


def test_pages_and_their_log_go_on_while_the_disk_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 48) as disk:
        url = f"sqlite:///{disk}/feltwatch.sqlite"
        with place(url, disk) as (client, store, recorder):
            fill(disk)
            for _ in range(60):
                assert client.get("/").status_code == 200
            assert recorder.status.journal_down_since is None
            free(disk)
            assert recorder.wait_stored(60)
            acts = [row.act for row in store.audit.page(limit=200).rows]
            assert acts.count("wall seen") == 60
