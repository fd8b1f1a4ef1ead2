"""The journal: whole entries on the disk, also on a disk that is really full."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from surveillance.live.journal import Gap, Journal, JournalError, Watched
from tests.surveillance.full_disk import fill, small_disk

ENTRY = os.urandom(100_000)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 8) as folder:
        yield folder


def add_until_full(journal: Journal, before: int = 0) -> int:
    """How many entries are taken before one is refused."""
    for number in range(100):
        try:
            journal.add("round", ENTRY, "c1", before + number + 1)
        except JournalError:
            return number
    raise AssertionError("the disk is not full")


def test_entries_come_back_in_order_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "data" / "journal.sqlite"
    journal = Journal(path, 0)
    numbers = [journal.add("round", bytes([n]) * 5000) for n in range(40)]
    journal.remove(numbers[3])
    journal.close()
    journal = Journal(path, 0)
    first = journal.entries(limit=10)
    rest = journal.entries(first[-1].id, limit=100)
    assert [e.body[0] for e in (*first, *rest)] == [n for n in range(40) if n != 3]
    assert path.stat().st_mode & 0o077 == 0
    journal.close()


def test_what_is_added_survives_a_kill_at_once(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from surveillance.live.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(5): journal.add('round', b'x' * 100_000, 'c1', n)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "journal.sqlite"
    done = subprocess.run([sys.executable, "-c", code, path], check=False)
    assert done.returncode == -9
    journal = Journal(path)
    assert [len(e.body) for e in journal.entries()] == [100_000] * 5
    journal.close()


def test_a_full_disk_takes_entries_from_the_reserve(disk: Path) -> None:
    journal = Journal(disk / "journal.sqlite", reserve_bytes=4 * 2**20)
    journal.add_camera("c1", "t1")
    fill(disk)
    taken = add_until_full(journal)
    assert 30 <= taken <= 45
    # Full to the last page, a gap can still be kept, and what was taken is whole.
    gap = Gap("c1", "t1", 1_780_000_000.5, 1_780_000_100.25, 12)
    journal.set_gap(gap)
    assert journal.last_round("c1") == taken
    journal.close()
    journal = Journal(disk / "journal.sqlite", reserve_bytes=4 * 2**20)
    assert journal.gaps() == [gap]
    entries = journal.entries(limit=100)
    assert [e.body for e in entries] == [ENTRY] * taken
    for entry in entries:
        journal.remove(entry.id)
    # What was delivered makes room for as much again.
    assert add_until_full(journal, taken) >= taken - 2
    journal.close()


def test_a_journal_that_cannot_be_opened_is_opened_when_it_can(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.write_text("a file where the folder should be")
    journal = Journal(place / "journal.sqlite", 0)
    with pytest.raises(JournalError, match=r"journal\.sqlite"):
        journal.add("round", b"x")
    place.unlink()
    journal.add("round", b"y")
    assert [e.body for e in journal.entries()] == [b"y"]
    journal.close()


def test_a_damaged_file_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"this is no database at all, " * 400)
    journal = Journal(path, 0)
    journal.add("round", b"x")
    assert journal.count() == 1
    (aside,) = tmp_path.glob("journal.sqlite.damaged-*")
    assert aside.read_bytes().startswith(b"this is no database")
    journal.close()


def test_an_entry_with_a_wrong_checksum_is_refused_not_delivered(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    journal = Journal(path, 0)
    journal.add("round", b"a" * 50)
    journal.add("round", b"b" * 50)
    journal.close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE entries SET body = ? WHERE id = 1", (b"a" * 49 + b"z",))
    journal = Journal(path, 0)
    assert [e.body for e in journal.entries()] == [b"b" * 50]
    (refused,) = journal.refused()
    assert (refused.id, refused.refused) == (1, "its checksum is wrong")
    journal.close()


def test_until_when_a_camera_was_watched_is_kept_with_whether_the_server_was_stopped(
    tmp_path: Path,
) -> None:
    journal = Journal(tmp_path / "journal.sqlite", 0)
    assert journal.watched("c1") is None
    journal.add_camera("c1", "t1")
    journal.add_camera("c2", "t2")
    for own in (None, Watched(1796000000.125), Watched(1796000000.125, stopped=True)):
        journal.set_watched("c1", own)
        assert journal.watched("c1") == own
    lengths = sqlite3.connect(journal.path).execute("SELECT length(watched) FROM cameras")
    assert {length for (length,) in lengths} == {16}
    journal.set_watched("c2", Watched(5.0))
    journal.unwatch_others({"c2"})
    assert (journal.watched("c1"), journal.watched("c2")) == (None, Watched(5.0))
    journal.close()
