"""The same contents by the same table file, model and program are one audit, in either store."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
import sqlalchemy as sa

from settlement.errors import FeltwatchError
from surveillance.recordings import AuditManager
from surveillance.store import NewRecording, RecordingRow, Store, tables
from tests import waiting
from tests.surveillance import postgres
from tests.surveillance.conftest import write_tagged
from tests.surveillance.web.recordings.recordings_made import hold_audits, manager_of

pytestmark = pytest.mark.slow
until = partial(waiting.until, within_s=200.0)
ROUNDS = 5
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def postgres_host() -> Iterator[str]:
    with postgres.server() as host:
        yield host


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/w.sqlite"
    host, name = request.getfixturevalue("postgres_host"), f"once_{next(_numbers)}"
    postgres.run(host, f"CREATE DATABASE {name}")
    return postgres.url(host, name)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path, video: Path, table_path: Path) -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir()
    write_tagged(video, folder / "night.mp4", 1)
    shutil.copy(table_path, folder / "table.toml")
    return folder


@pytest.fixture
def manager(store: Store, folder: Path, tmp_path: Path) -> Iterator[AuditManager]:
    with manager_of(store, folder, tmp_path / "data", most=2) as manager:
        yield manager


def add(manager: AuditManager, file: str = "night.mp4") -> RecordingRow:
    (folder,) = manager.folders.roots
    return manager.add(str(folder), file, str(folder / "table.toml"), "ann")


def ended(store: Store, id: int, state: str) -> RecordingRow:
    until(lambda: store.recordings.get(id).state not in ("queued", "running"), f"{id} ended")
    row = store.recordings.get(id)
    assert row.state == state, row.message
    return row


def rounds(store: Store) -> list[tuple[int | None, str]]:
    found = store.rounds.page(limit=200).rows
    return sorted((row.recording_id, row.round_id) for row in found)


def change_unseen(path: Path, video: Path) -> None:
    """Other contents of the same size, with the time of change set back."""
    before = path.stat()
    write_tagged(video, path, 2)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def add_together(manager: AuditManager, wait: Callable[[], object]) -> str:
    """Add when the other is as far too, behind all checks before the store's own."""
    really = manager.facts

    def facts(videos: tuple[Path, ...]) -> object:
        found = really(videos)
        wait()
        return found

    manager.facts = facts  # type: ignore[method-assign, assignment]
    try:
        return f"added {add(manager).id}"
    except FeltwatchError as error:
        return str(error)


def add_in_process(url: str, folder: Path, data: Path, both: Barrier, out: Path) -> None:
    with Store.open(url) as store:
        out.write_text(add_together(manager_of(store, folder, data), lambda: both.wait(60)))


def check_one_added(store: Store, answers: list[str]) -> None:
    # The number need not be 1: the refused entry may have used one up.
    (row,) = store.recordings.page().rows
    assert sorted(answers) == [
        f"added {row.id}",
        f"night.mp4: is queued already, as recording {row.id}",
    ]


def test_two_servers_add_the_same_at_once(store: Store, folder: Path, tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=60)
    managers = [manager_of(store, folder, tmp_path / "data") for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda one: add_together(one, both.wait), managers))
    check_one_added(store, answers)


def test_two_processes_add_the_same_at_once(
    store: Store, url: str, folder: Path, tmp_path: Path
) -> None:
    spawn = multiprocessing.get_context("spawn")
    both, outs = spawn.Barrier(2), [tmp_path / "one", tmp_path / "two"]
    processes = [
        spawn.Process(target=add_in_process, args=(url, folder, tmp_path / "data", both, out))
        for out in outs
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    check_one_added(store, [out.read_text() for out in outs])


def test_a_copy_of_what_is_done_stores_nothing(
    store: Store, manager: AuditManager, folder: Path, tmp_path: Path
) -> None:
    first = add(manager)
    ended(store, first.id, "done")
    found = rounds(store)
    assert len(found) == ROUNDS
    with pytest.raises(
        FeltwatchError, match=f"is done already, as recording {first.id}; go on with that one"
    ):
        add(manager)
    shutil.copyfile(folder / "night.mp4", folder / "copy.mp4")
    row = ended(store, add(manager, "copy.mp4").id, "failed")
    assert f"recording {first.id} (done) is of the same contents" in row.message
    assert rounds(store) == found
    assert not (tmp_path / "data" / "audit-work" / str(row.id)).exists()
    # With another table file it is another audit.
    with (folder / "table.toml").open("a") as file:
        file.write("\n# moved\n")
    with pytest.raises(FeltwatchError, match="with another table file, model or program; add its"):
        manager.resume(first.id)
    assert store.recordings.get(first.id).state == "done"
    ended(store, add(manager).id, "done")
    assert len(rounds(store)) == 2 * ROUNDS


def test_two_copies_at_once_are_audited_once(
    store: Store, manager: AuditManager, folder: Path
) -> None:
    shutil.copyfile(folder / "night.mp4", folder / "copy.mp4")
    hold_audits(folder, 1.0)
    ids = [add(manager, file).id for file in ("night.mp4", "copy.mp4")]
    until(lambda: any(store.recordings.get(id).state == "failed" for id in ids), "one is refused")
    (refused,) = [row for row in map(store.recordings.get, ids) if row.state == "failed"]
    (other,) = [id for id in ids if id != refused.id]
    assert f"recording {other} (running) is of the same contents" in refused.message
    hold_audits(folder, None)
    ended(store, other, "done")
    assert len(rounds(store)) == ROUNDS


def test_repeated_it_keeps_each_round_once_and_brings_back_what_went(
    store: Store, manager: AuditManager, tmp_path: Path
) -> None:
    row = add(manager)
    ended(store, row.id, "done")
    found = rounds(store)
    bundles = {alert.bundle for alert in store.alerts.page(limit=200).rows}
    (gone, *_) = store.rounds.page(limit=1).rows
    with store.database.write() as connection:
        connection.execute(sa.delete(tables.alerts).where(tables.alerts.c.round == gone.id))
        connection.execute(sa.delete(tables.rounds).where(tables.rounds.c.id == gone.id))
    assert len(rounds(store)) == ROUNDS - 1
    manager.resume(row.id)
    ended(store, row.id, "done")
    assert rounds(store) == found
    assert {alert.bundle for alert in store.alerts.page(limit=200).rows} == bundles
    assert all((tmp_path / "data" / "evidence" / str(bundle)).is_file() for bundle in bundles)


def test_stopped_and_renamed_it_goes_on_where_it_was(
    store: Store, manager: AuditManager, folder: Path
) -> None:
    hold_audits(folder, 2.0)
    first = add(manager)
    until(lambda: store.recordings.get(first.id).at_s >= 1.5, "it is in the middle")
    manager.request_stop(first.id)
    at_s = ended(store, first.id, "stopped").at_s
    hold_audits(folder, None)
    (folder / "kept").mkdir()
    (folder / "night.mp4").rename(folder / "kept" / "late.mp4")
    refused = ended(store, add(manager, "kept/late.mp4").id, "failed")
    assert f"recording {first.id} (stopped) is of the same contents" in refused.message
    assert "names these files from now on; go on with that one" in refused.message
    manager.resume(first.id)
    times: list[float] = []

    def is_done() -> bool:
        row = store.recordings.get(first.id)
        times.append(row.at_s)
        return row.state == "done"

    until(is_done, "it went on to its end")
    assert min(times) >= at_s - 1e-6
    row = store.recordings.get(first.id)
    assert row.files == ("kept/late.mp4",)
    assert len(rounds(store)) == ROUNDS


def test_done_and_renamed_it_is_repeated_without_a_second_round(
    store: Store, manager: AuditManager, folder: Path
) -> None:
    first = add(manager)
    ended(store, first.id, "done")
    found = rounds(store)
    (folder / "night.mp4").rename(folder / "late.mp4")
    ended(store, add(manager, "late.mp4").id, "failed")
    manager.resume(first.id)
    ended(store, first.id, "done")
    assert rounds(store) == found
    alerts = store.alerts.page(limit=200).rows
    assert len({row.alert.alert_id for row in alerts}) == len(alerts) > 0


def test_other_contents_under_the_same_name_size_and_time_are_another_recording(
    store: Store, manager: AuditManager, folder: Path, video: Path
) -> None:
    first = add(manager)
    ended(store, first.id, "done")
    found = rounds(store)
    change_unseen(folder / "night.mp4", video)
    manager.resume(first.id)
    row = ended(store, first.id, "failed")
    assert "are not those of its results any more; add its files again" in row.message
    assert rounds(store) == found
    second = ended(store, add(manager).id, "done")
    assert second.id != first.id
    assert len(rounds(store)) == 2 * ROUNDS


def test_recordings_of_earlier_versions_go_on_without_keys(
    store: Store, manager: AuditManager, folder: Path
) -> None:
    def earlier(file: str) -> int:
        stat = (folder / file).stat()
        new = NewRecording(
            folder=str(folder), file=file, size=stat.st_size, mtime=stat.st_mtime,
            table_file=str(folder / "table.toml"), by="ann",
        )  # fmt: skip
        return store.recordings.add(new).id

    one, two = earlier("night.mp4"), earlier("night.mp4")
    until(
        lambda: {store.recordings.get(id).state for id in (one, two)} == {"done", "failed"},
        "one of them is done",
    )
    assert len(rounds(store)) == ROUNDS
    with store.database.write() as connection:
        connection.execute(sa.update(tables.recordings).values(audit_key=None, state="done"))
    with pytest.raises(FeltwatchError, match="with another table file, model or program; add its"):
        manager.resume(one)
    assert store.recordings.get(one).state == "done"
