"""Two servers with one camera name on one PostgreSQL: the second is refused."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from settlement.errors import FeltwatchError
from surveillance.config.site_file import load_site
from surveillance.live.camera_lock import END_WITHIN_S, camera_lock
from surveillance.live.sharing.table_share import TableShare
from surveillance.live.sharing.wall_share import WallShare
from surveillance.live.shutdown import Shutdown
from surveillance.serve import serve_stack
from surveillance.store import Store, answers
from tests.surveillance import postgres
from tests.surveillance.live.live_room import PATIENCE_S, SCRIPTED, wait_for, write_site


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE shared")
        yield host


def test_a_second_server_with_the_same_camera_name_is_refused(host: str, tmp_path: Path) -> None:
    url = postgres.url(host, "shared")
    sites = []
    for name, camera in (("one", "c1"), ("two", "c1"), ("three", "c2")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "film.mp4").write_bytes(b"no film")
        file = write_site(folder, "film.mp4", store={"url": url}, camera={"name": camera})
        sites.append((load_site(file), file))
    with serve_stack(*sites[0], watcher=SCRIPTED):
        with (
            pytest.raises(FeltwatchError, match=r"camera c1: another server on .*\(feltwatch "),
            serve_stack(*sites[1], watcher=SCRIPTED),
        ):
            pass
        with serve_stack(*sites[2], watcher=SCRIPTED):
            pass
    with serve_stack(*sites[1], watcher=SCRIPTED):
        pass


def drop_connections(host: str) -> None:
    """End the servers' connections, and wait until they and their locks are gone."""
    postgres.run(
        host,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = 'shared' AND application_name LIKE 'feltwatch %'",
    )


def test_the_name_is_locked_again_after_the_connection_broke(host: str) -> None:
    with (
        Store.open(postgres.url(host, "shared")) as store,
        Store.open(postgres.url(host, "shared")) as other,
    ):
        lost: list[str] = []
        with camera_lock(store.database, ["c1"], lost.append, every_s=0.05):
            drop_connections(host)

            def is_locked() -> bool:
                try:
                    with camera_lock(other.database, ["c1"], lost.append):
                        return False
                except FeltwatchError:
                    return True

            # Each attempt that gets the name may make the first server lose it: try seldom.
            threading.Event().wait(1.0)
            assert is_locked()
        assert lost == []
        assert not is_locked()


def test_a_database_that_is_frozen_does_not_hold_up_the_end(host: str) -> None:
    own = f"feltwatch {socket.gethostname()} {os.getpid()}"
    query = sa.text("SELECT pid FROM pg_stat_activity WHERE application_name = :own")
    with Store.open(postgres.url(host, "shared")) as store:
        with camera_lock(store.database, ["c7"], pytest.fail, every_s=0.1):
            with store.database.read() as connection:
                frozen = connection.execute(query, {"own": own}).scalar_one()
            os.kill(frozen, signal.SIGSTOP)
            time.sleep(0.5)
            began = time.monotonic()
        try:
            assert time.monotonic() - began < END_WITHIN_S + 2
        finally:
            os.kill(frozen, signal.SIGCONT)


@pytest.mark.parametrize("shares", [False, True])
def test_a_server_on_a_database_that_is_frozen_ends_within_its_limit(
    tmp_path: Path, *, shares: bool
) -> None:
    with postgres.stoppable_server() as server:
        postgres.run(server.host, "CREATE DATABASE shared")
        (tmp_path / "film.mp4").write_bytes(b"no film")
        store = {"url": postgres.url(server.host, "shared"), "share_cameras": shares}
        file = write_site(tmp_path, "film.mp4", store=store, limits={"stop_s": 15})
        with contextlib.ExitStack() as freezing:
            with serve_stack(load_site(file), file, watcher=SCRIPTED):
                time.sleep(5.0)
                freezing.enter_context(server.frozen())
                time.sleep(1.0)
                began = time.monotonic()
            assert time.monotonic() - began < 15


def test_what_shared_cameras_take_to_end_counts_within_the_limit(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    for part, method in ((Shutdown, "begin"), (WallShare, "stop"), (TableShare, "stop")):
        own = getattr(part, method)

        def noted(self: object, name: str = part.__name__, own: Any = own) -> None:
            ended.append(name)
            own(self)

        monkeypatch.setattr(part, method, noted)
    (tmp_path / "film.mp4").write_bytes(b"no film")
    store = {"url": postgres.url(host, "shared"), "share_cameras": True}
    file = write_site(tmp_path, "film.mp4", store=store)
    with serve_stack(load_site(file), file, watcher=SCRIPTED):
        assert ended == []
    assert ended == ["Shutdown", "TableShare", "WallShare"]


def test_a_name_stays_locked_over_a_database_that_was_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "ANSWER_S", 1.0)
    with postgres.stoppable_server() as server:
        postgres.run(server.host, "CREATE DATABASE shared")
        with Store.open(postgres.url(server.host, "shared")) as store:
            lost: list[str] = []
            with camera_lock(store.database, ["c8"], lost.append, every_s=0.2):
                for _ in range(3):
                    with server.frozen():
                        time.sleep(3.0)
                    time.sleep(3.0)
                with (
                    Store.open(postgres.url(server.host, "shared")) as other,
                    pytest.raises(FeltwatchError, match="another server"),
                    camera_lock(other.database, ["c8"], pytest.fail),
                ):
                    pass
            assert lost == []


def test_a_name_that_another_took_meanwhile_is_reported(host: str) -> None:
    with (
        Store.open(postgres.url(host, "shared")) as store,
        Store.open(postgres.url(host, "shared")) as other,
    ):
        lost: list[str] = []
        with camera_lock(store.database, ["c1"], lost.append, every_s=5.0):
            drop_connections(host)
            with camera_lock(other.database, ["c1"], lost.append):
                wait_for(lambda: bool(lost), PATIENCE_S)
        assert "camera c1: another server" in lost[0]


def test_sqlite_needs_no_lock_of_names(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.sqlite") as store:
        lost: list[str] = []
        with (
            camera_lock(store.database, ["c1"], lost.append),
            camera_lock(store.database, ["c1"], lost.append),
        ):
            pass
