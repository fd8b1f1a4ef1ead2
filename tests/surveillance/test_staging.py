"""What runs that were killed leave in an output folder, and who removes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from surveillance.staging import Staging, _host, lock


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def left(out: Path, name: str) -> Path:
    folder = out / name
    (folder / "evidence").mkdir(parents=True)
    (folder / "evidence" / "a.jpg").write_bytes(b"half")
    return folder


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, gone: int) -> None:
    folder = left(tmp_path, f".partial-{_host()}-{gone}-abc_12")
    with Staging(tmp_path) as staging:
        assert not folder.exists()
        assert staging.path.is_dir()
        assert staging.path.name.startswith(f".partial-{_host()}-{os.getpid()}-")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        ".partial-another.host-{gone}-abc_12",
        ".partial-{host}x-{gone}-abc_12",
        ".partial-{host}-{parent}-abc_12",
        ".partial-{host}-99999999999999999999-abc_12",
        ".partial-abc_12",
        "partial-{host}-{gone}-abc_12",
    ],
)
def test_of_other_machines_and_of_running_processes_nothing_is_removed(
    tmp_path: Path, gone: int, name: str
) -> None:
    folder = left(tmp_path, name.format(host=_host(), gone=gone, parent=os.getppid()))
    with Staging(tmp_path):
        pass
    assert (folder / "evidence" / "a.jpg").is_file()


@pytest.mark.parametrize("whose", ["gone", "own"])
def test_a_folder_that_is_locked_stays_whatever_its_process_id(
    tmp_path: Path, gone: int, whose: str
) -> None:
    """Containers with one host name have processes of their own, and ids come again."""
    process = gone if whose == "gone" else os.getpid()
    folder = left(tmp_path, f".partial-{_host()}-{process}-abc_12")
    handle = os.open(folder, os.O_RDONLY)
    assert lock(handle)
    with Staging(tmp_path):
        assert folder.exists()
    os.close(handle)
    with Staging(tmp_path):
        assert not folder.exists()


def test_two_runs_of_one_process_leave_each_other_alone(tmp_path: Path) -> None:
    with Staging(tmp_path) as one:
        one.write_text("a.txt", "one")
        with Staging(tmp_path) as two:
            two.write_text("a.txt", "two")
            assert (one.path / "a.txt").read_text() == "one"
        one.publish(["a.txt"])
    assert (tmp_path / "a.txt").read_text() == "one"
