"""Checkpoints of the log outside of its folder: what was dropped or put back is found."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from surveillance.cli import main
from surveillance.evidence.bundle import CHAIN_FILE, FolderCheck, SigningKey, verify_folder
from surveillance.evidence.bundle.checkpoint import (
    CHECKPOINT_FILE,
    append_checkpoint,
    read_checkpoints,
    take_checkpoint,
)
from surveillance.evidence.bundle.timestamps import request_timestamp, stamped_at, write_timestamp
from surveillance.evidence.bundle.verify_checkpoints import place_at
from tests.surveillance.evidence.bundle.authority import authority
from tests.surveillance.evidence.bundle.evidence_made import make_evidence
from tests.surveillance.evidence.bundle.test_bundle_tamper import write_anew

KEY = SigningKey.make()


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Three bundles, with a checkpoint after each."""
    folder = tmp_path / "data" / "evidence"
    for number in (1, 2, 3):
        make_evidence(folder, bundles=1, key=KEY, first=number)
        taken = take_checkpoint(folder / CHAIN_FILE, KEY)
        assert taken is not None
        append_checkpoint(tmp_path / "elsewhere", taken)
    return folder


def checked(evidence: Path, key: SigningKey | None = KEY) -> FolderCheck:
    place = place_at(evidence.parents[1] / "elsewhere")
    return verify_folder(evidence, key=None if key is None else key.public, places=[place])


def drop_bundle(evidence: Path, how: str) -> None:
    """Take the second bundle away with all lines about it, and chain the rest again."""
    path = evidence / CHAIN_FILE
    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    [gone] = [e for e in entries if e["act"] == "bundle"][1:2]
    (evidence / gone["detail"]["file"]).unlink()
    about_it = (gone["detail"], {"alert": 2, "verdict": "confirmed"})
    kept = [e for e in entries if e["detail"] not in about_it]
    assert len(kept) == len(entries) - 2
    write_anew(evidence, kept, how, key=KEY)


def test_what_was_not_changed_fits(evidence: Path) -> None:
    check = checked(evidence)
    assert check.problems == ()
    [note] = [note for note in check.notes if "checkpoints compared" in note]
    assert "3 checkpoints compared, the last of entry 6" in note


def test_a_dropped_bundle_in_a_log_chained_and_signed_again_is_found(evidence: Path) -> None:
    """By somebody who has the site's key: the signatures alone show nothing."""
    drop_bundle(evidence, "own")
    assert verify_folder(evidence, key=KEY.public).problems == ()
    kinds = [(problem.kind, problem.entry) for problem in checked(evidence).problems]
    assert kinds == [("altered", 4), ("removed", 6)]


def test_an_older_copy_of_the_whole_folder_is_found(evidence: Path, tmp_path: Path) -> None:
    shutil.copytree(evidence.parent, tmp_path / "copy")
    make_evidence(evidence, bundles=1, key=KEY, first=4)
    taken = take_checkpoint(evidence / CHAIN_FILE, KEY)
    assert taken is not None
    append_checkpoint(tmp_path / "elsewhere", taken)
    shutil.rmtree(evidence.parent)
    (tmp_path / "copy").rename(evidence.parent)
    assert verify_folder(evidence, key=KEY.public).problems == ()
    [problem] = checked(evidence).problems
    assert (problem.kind, problem.entry) == ("removed", 8)
    assert "ends with entry 6" in problem.message
    assert "an older copy was put back" in problem.message


def test_an_older_copy_that_went_on_from_there_is_found(evidence: Path, tmp_path: Path) -> None:
    old = tmp_path / "copy"
    shutil.copytree(evidence, old)
    make_evidence(evidence, bundles=2, key=KEY, first=4)
    taken = take_checkpoint(evidence / CHAIN_FILE, KEY)
    assert taken is not None
    append_checkpoint(tmp_path / "elsewhere", taken)
    shutil.rmtree(evidence)
    old.rename(evidence)
    make_evidence(evidence, bundles=3, key=KEY, first=7)
    [problem] = checked(evidence).problems
    assert (problem.kind, problem.entry) == ("altered", 10)


def test_a_restarted_log_is_found(evidence: Path) -> None:
    shutil.rmtree(evidence)
    make_evidence(evidence, bundles=5, key=KEY)
    [problem] = checked(evidence).problems
    assert "is not the log that" in problem.message


def test_checkpoints_of_another_key_vouch_for_nothing_and_are_reported(evidence: Path) -> None:
    thief = SigningKey.make()
    drop_bundle(evidence, "own")
    elsewhere = evidence.parents[1] / "elsewhere"
    (elsewhere / CHECKPOINT_FILE).unlink()
    taken = take_checkpoint(evidence / CHAIN_FILE, thief)
    assert taken is not None
    append_checkpoint(elsewhere, taken)
    messages = [problem.message for problem in checked(evidence).problems]
    assert any("is not signed by the key" in message for message in messages)
    assert any("holds no checkpoint of this log" in message for message in messages)


def test_an_altered_or_half_written_checkpoint_is_reported_and_the_next_is_whole(
    evidence: Path, tmp_path: Path
) -> None:
    file = tmp_path / "elsewhere" / CHECKPOINT_FILE
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1].replace(b'"number":4', b'"number":5') + lines[2][:40])
    taken = take_checkpoint(evidence / CHAIN_FILE, KEY)
    assert taken is not None
    append_checkpoint(tmp_path / "elsewhere", taken)
    found, damaged = read_checkpoints(tmp_path / "elsewhere")
    assert ([checkpoint.number for checkpoint in found], damaged) == ([2, 6], 2)
    [problem] = checked(evidence).problems
    assert problem.message == "2 entries are no checkpoint as written"


def test_a_key_that_is_twice_in_a_checkpoint_is_reported(evidence: Path, tmp_path: Path) -> None:
    (path,) = (tmp_path / "elsewhere").iterdir()
    first, *rest = path.read_bytes().splitlines(keepends=True)
    at = json.dumps(json.loads(first)["at"]).encode()
    path.write_bytes(b"".join([b'{"at":' + at + b"," + first[1:], *rest]))
    assert checked(evidence).problems != ()


def test_no_log_gives_no_checkpoint(tmp_path: Path) -> None:
    assert take_checkpoint(tmp_path / CHAIN_FILE, KEY) is None


def test_the_bodies_of_a_webhook_are_taken_as_they_came(evidence: Path, tmp_path: Path) -> None:
    taken = take_checkpoint(evidence / CHAIN_FILE, KEY)
    assert taken is not None
    kept = tmp_path / "received.jsonl"
    kept.write_text(
        json.dumps({"event": "checkpoint", "delivery": "1", "body": taken.value}) + "\n"
    )
    assert read_checkpoints(kept) == ([taken], 0)
    drop_bundle(evidence, "own")
    check = verify_folder(evidence, key=KEY.public, places=[place_at(kept)])
    assert [problem.kind for problem in check.problems] == ["removed"]


def test_a_time_stamp_is_checked_by_its_authority(evidence: Path, tmp_path: Path) -> None:
    """OpenSSL stamps it; a token of another checkpoint or authority is refused."""
    [first, *_, last], _ = read_checkpoints(tmp_path / "elsewhere")
    with authority(tmp_path / "authority") as stamps, authority(tmp_path / "other") as other:
        token = request_timestamp(last, stamps.url, stamps.root)
        write_timestamp(tmp_path / "elsewhere", last, token)
        with pytest.raises(FeltwatchError, match="time stamp is not good"):
            request_timestamp(last, stamps.url, other.root)
        seen = stamped_at(token, last, stamps.root)
        assert abs((seen - datetime.fromisoformat(last.at)).total_seconds()) < 600
        with pytest.raises(FeltwatchError, match="no time stamp of this checkpoint"):
            stamped_at(token, first, stamps.root)
        with pytest.raises(FeltwatchError, match="no time stamp of this checkpoint"):
            stamped_at(token, last, other.root)
        check = verify_folder(
            evidence, places=[place_at(tmp_path / "elsewhere")], authority=stamps.root
        )
        assert check.problems == ()
        assert any("1 time stamp, the last of entry 6" in note for note in check.notes)
        write_timestamp(tmp_path / "elsewhere", first, token)
        check = verify_folder(
            evidence, places=[place_at(tmp_path / "elsewhere")], authority=stamps.root
        )
        assert [problem.kind for problem in check.problems] == ["altered"]
    with pytest.raises(FeltwatchError, match="gave no time stamp"):
        request_timestamp(last, stamps.url, stamps.root)


def test_the_command_compares(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key.pem"
    KEY.write(key)
    command = ["verify", str(evidence), "--key", str(key), "--checkpoints"]
    assert main([*command, str(tmp_path / "elsewhere")]) == 0
    assert "3 checkpoints compared" in capsys.readouterr().out
    drop_bundle(evidence, "own")
    assert main([*command, str(tmp_path / "elsewhere")]) == 1
    assert "the log was chained again from there or before" in capsys.readouterr().out
    assert main([*command, str(tmp_path / "nowhere")]) == 2
