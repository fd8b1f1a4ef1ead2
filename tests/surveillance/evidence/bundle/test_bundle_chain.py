"""The log: lines in a row from many writers, whole after a crash anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import surveillance
from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import CHAIN_FILE, Chain, verify_folder, verify_log, write_bundle
from surveillance.evidence.bundle import chain as chain_module
from surveillance.evidence.bundle.chain import HEAD_LOST, head_path, read_head
from surveillance.evidence.bundle.verify_log import check_log
from tests.surveillance.evidence.bundle.evidence_made import contents, make_evidence

ROOT = Path(surveillance.__file__).parents[1]


class Crash(BaseException):
    """The program ends here."""


def filled(folder: Path, lines: int = 5) -> Chain:
    chain = Chain.of(folder)
    for n in range(lines):
        chain.append("note", {"n": n})
    return chain


def test_every_line_carries_the_hash_of_the_one_before(tmp_path: Path) -> None:
    chain = filled(tmp_path)
    entries = [json.loads(line) for line in chain.path.read_text().splitlines()]
    assert [e["number"] for e in entries] == [1, 2, 3, 4, 5]
    assert [e["prev"] for e in entries] == ["0" * 64, *(e["sha256"] for e in entries[:-1])]
    assert verify_log(chain.path) == ()
    head = read_head(chain.path)
    assert head is not None
    assert (head.number, head.sha256, head.size) == (
        5,
        entries[-1]["sha256"],
        chain.path.stat().st_size,
    )


def test_threads_and_processes_write_one_chain(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from surveillance.evidence.bundle.chain import "
        "Chain\n"
        "for n in range(10): Chain.of(Path(sys.argv[1])).append('process', {'n': n})"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", program, tmp_path], env=environment)
    threads = [threading.Thread(target=filled, args=(tmp_path, 5)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait(120) == 0
    log = check_log(tmp_path / CHAIN_FILE)
    assert log.problems == ()
    assert len(log.entries) == 30


def crashing(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """The program ends at the n-th time that something reaches the disk."""
    left = [step]

    def counted(really: object) -> object:
        def maybe(*args: object, **kwargs: object) -> object:
            if left[0] == 0:
                raise Crash
            left[0] -= 1
            return really(*args, **kwargs)  # type: ignore[operator]

        return maybe

    monkeypatch.setattr(chain_module.os, "fsync", counted(os.fsync))  # type: ignore[attr-defined]
    monkeypatch.setattr(Path, "replace", counted(Path.replace))


def test_after_a_crash_at_any_step_nothing_is_lost_or_found_changed(tmp_path: Path) -> None:
    finished = False
    for step in range(30):
        folder = tmp_path / str(step)
        make_evidence(folder, 1)
        with pytest.MonkeyPatch.context() as patch:
            crashing(patch, step)
            try:
                write_bundle(folder / "day", contents(7), Chain.of(folder))
                finished = True
            except Crash:
                pass
        # Whatever was reached, a check finds nothing changed, before and after the next line.
        assert verify_folder(folder).problems == (), step
        Chain.of(folder).append("note", {})
        assert verify_folder(folder).problems == (), step
        log = check_log(folder / CHAIN_FILE)
        bundles = [e for e in log.entries if e["act"] == "bundle"]
        assert len(list(folder.rglob("*.zip"))) == len(bundles) >= 1, step
        # Whoever does it over writes nothing twice, wherever it was cut off.
        write_bundle(folder / "day", contents(7), Chain.of(folder))
        log = check_log(folder / CHAIN_FILE)
        assert [e["act"] for e in log.entries].count("bundle") == 2, step
        assert len(list(folder.rglob("*.zip"))) == 2, step
        if finished:
            assert step > 5
            return
    raise AssertionError("the bundle was never written")


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_crash_in_the_middle_of_a_line_is_repaired(tmp_path: Path, cut: int) -> None:
    chain = filled(tmp_path, 2)
    before = chain.path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:

        def stop(*_: object) -> None:
            raise Crash

        patch.setattr(Chain, "_write_line", stop)
        with pytest.raises(Crash):
            chain.append("note", {"n": "half"})
    head = read_head(chain.path)
    assert head is not None
    assert head.pending is not None
    chain.path.write_bytes(before + head.pending.line[:cut])
    check = check_log(chain.path)
    assert check.problems == ()
    assert "was being written" in check.notes[0]
    chain.append("note", {"n": "next"})
    entries = check_log(chain.path).entries
    assert [e["detail"]["n"] for e in entries] == [0, 1, "half", "next"]
    assert verify_log(chain.path) == ()


def test_a_log_that_was_changed_goes_on_and_the_change_is_still_found(tmp_path: Path) -> None:
    chain = filled(tmp_path)
    lines = chain.path.read_bytes().splitlines(keepends=True)
    chain.path.write_bytes(b"".join(lines[:-1]))
    chain.append("note", {"n": "later"})
    [problem] = verify_log(chain.path)
    assert (problem.kind, problem.entry, problem.line) == ("removed", 5, 4)
    assert len(check_log(chain.path).entries) == 5


def test_a_log_without_end_of_line_goes_on(tmp_path: Path) -> None:
    chain = filled(tmp_path, 2)
    chain.path.write_bytes(chain.path.read_bytes()[:-10])
    chain.append("note", {"n": "later"})
    [problem] = verify_log(chain.path)
    assert (problem.kind, problem.line) == ("altered", 2)


@pytest.mark.parametrize("how", ["gone", "broken"])
def test_a_lost_head_is_reported_for_ever(tmp_path: Path, how: str) -> None:
    chain = filled(tmp_path)
    lines = chain.path.read_bytes().splitlines(keepends=True)
    chain.path.write_bytes(b"".join(lines[:-1]))  # with the last line
    if how == "gone":
        head_path(chain.path).unlink()
    else:
        head_path(chain.path).write_text("{}")
    assert any("head record" in problem.message for problem in verify_log(chain.path))
    chain.append("note", {"n": "later"})
    chain.append("note", {"n": "later still"})
    [problem] = verify_log(chain.path)
    assert (problem.kind, problem.line) == ("removed", 5)
    assert check_log(chain.path).entries[4]["act"] == HEAD_LOST


def test_a_disk_that_takes_nothing_is_reported_and_the_line_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = filled(tmp_path, 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Chain, "_write_line", full)
    with pytest.raises(FeltwatchError, match="the disk is full"):
        write_bundle(tmp_path, contents(), chain)
    monkeypatch.undo()
    assert verify_folder(tmp_path).problems == ()
    chain.recover()
    check = verify_folder(tmp_path)
    assert (check.problems, check.bundles, check.lines) == ((), 1, 2)
