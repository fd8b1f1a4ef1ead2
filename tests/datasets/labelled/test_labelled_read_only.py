"""Datasets on storage that cannot be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from datasets.labelled import schema
from datasets.labelled.manifest import Dataset
from settlement.errors import FeltwatchError
from tests.datasets.labelled.made import contents, small_dataset

COMMANDS = """
import sys
from surveillance.cli import main
at, out = sys.argv[1:]
read = [["check", at, "--quiet"], ["stats", at, "--out", out + "/stats.html"],
        ["export", at, "--format", "coco", "--out", out + "/coco", "--quiet"],
        ["diff", at, at, "--no-page", "--quiet"]]
print([main(["dataset", *command]) for command in read])
print(main(["dataset", "split", at, "--by", "deal"]))
"""


def mounted(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code where `folder` is mounted read-only; skips where that is not permitted."""
    bind = f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}'"
    enter = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    try:
        subprocess.run([*enter, bind], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a read-only file system cannot be mounted here")
    command = [*enter, f'{bind} && exec "$0" "$@"', sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_dataset_on_a_read_only_file_system_is_read(tmp_path: Path) -> None:
    small_dataset(tmp_path / "d").close()
    done = mounted(tmp_path / "d", COMMANDS, str(tmp_path / "d"), str(tmp_path))
    lines = done.stdout.splitlines()
    # The set has errors that the check finds; all others end with 0.
    assert "[1, 0, 0, 0]" in lines, done.stderr
    assert lines[-1] == "2"
    assert "the folder must be writable" in done.stderr
    assert (tmp_path / "stats.html").is_file()


PAGES = """
import sys
from surveillance.cli import main
at = sys.argv[1]
for command in (["stats", at], ["diff", at, at, "--quiet"], ["stats", at, "--no-page"]):
    print(main(["dataset", *command]))
"""


def test_a_page_beside_a_read_only_dataset_is_refused_with_the_options_that_help(
    tmp_path: Path,
) -> None:
    small_dataset(tmp_path / "d").close()
    done = mounted(tmp_path / "d", PAGES, str(tmp_path / "d"))
    lines = done.stdout.splitlines()
    assert lines[:2] == ["2", "2"]
    assert lines[-1] == "0"
    errors = done.stderr.splitlines()
    assert [error.split(": ")[2] for error in errors] == [
        f"{tmp_path / 'd' / page}" for page in ("stats.html", "diff.html")
    ]
    assert all("--out" in error and "--no-page" in error for error in errors)


def test_changes_that_only_the_log_holds_are_not_lost(tmp_path: Path) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        # A copy made while the dataset is open has its last changes in the log.
        (tmp_path / "copy").mkdir()
        for name in ("dataset.sqlite", "dataset.sqlite-wal"):
            shutil.copy(tmp_path / "d" / name, tmp_path / "copy" / name)
        assert len(dataset) == 6
    assert (tmp_path / "copy" / "dataset.sqlite-wal").stat().st_size > 0
    done = mounted(tmp_path / "copy", COMMANDS, str(tmp_path / "copy"), str(tmp_path))
    assert "[2, 2, 2, 2]" in done.stdout
    assert "dataset.sqlite-wal holds changes that are not in it yet" in done.stderr


def test_only_a_read_only_file_system_is_taken_as_immutable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        expected = contents(dataset)
    asked: list[str] = []
    connection = schema._connection

    def only_immutable(path: Path, query: str) -> schema.Connection:
        asked.append(query)
        if "immutable" not in query:
            raise sqlite3.OperationalError("unable to open database file")
        return connection(path, query)

    monkeypatch.setattr(schema, "_connection", only_immutable)
    with pytest.raises(FeltwatchError, match="the folder must be writable"):
        Dataset.open(tmp_path / "d", to_read=True)
    assert asked == ["mode=rw", "mode=ro"]
    flags = os.statvfs(tmp_path)
    values = list(flags)
    values[8] |= os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda _path: os.statvfs_result(values))
    with Dataset.open(tmp_path / "d", to_read=True) as dataset:
        assert contents(dataset) == expected
        with pytest.raises(FeltwatchError, match="readonly"):
            dataset.set_note("x", 1)
    with pytest.raises(FeltwatchError, match="the folder must be writable"):
        Dataset.open(tmp_path / "d")
