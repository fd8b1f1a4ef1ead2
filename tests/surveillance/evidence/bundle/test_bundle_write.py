"""Bundles: complete, readable by any zip tool, the same for the same contents."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from surveillance.evidence.bundle import (
    Chain,
    part_names,
    part_span,
    read_part,
    verify_bundle,
    write_bundle,
)
from tests.surveillance.evidence.bundle.evidence_made import contents, make_clip


@pytest.mark.parametrize("name", ["canonical", "chain", "keys", "problem", "verify_log"])
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"surveillance.evidence.bundle.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_a_bundle_holds_all_that_stands_behind_the_alert(tmp_path: Path) -> None:
    given = contents(clip=make_clip(tmp_path))
    ref = write_bundle(tmp_path / "day", given, Chain.of(tmp_path))
    assert hashlib.sha256(ref.path.read_bytes()).hexdigest() == ref.sha256
    assert ref.path.name == f"20260301T201630Z-t1-000001-01-{ref.sha256[:12]}.zip"
    with zipfile.ZipFile(ref.path) as archive:
        assert archive.testzip() is None
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert list(parts) == [
        "manifest.json",
        "alert.json",
        "record.json",
        "settlement.json",
        "detections.jsonl",
        "versions.json",
        "table.toml",
        "pictures/before.jpg",
        "pictures/seat3.jpg",
        "clip.mp4",
    ]
    assert tuple(parts) == part_names(ref.path)
    assert RoundRecord.model_validate_json(parts["record.json"]) == given.record
    assert json.loads(parts["settlement.json"]) == given.settlement
    assert [json.loads(line) for line in parts["detections.jsonl"].splitlines()] == given.detections
    assert parts["pictures/seat3.jpg"] == given.pictures["seat3.jpg"]
    assert parts["table.toml"] == given.table_file
    manifest = json.loads(parts["manifest.json"])
    assert manifest["clip_start_s"] == "812.4"
    assert manifest["at"] == "2026-03-01T20:16:30+00:00"
    for listed in manifest["parts"]:
        data = parts[listed["name"]]
        assert (listed["size"], listed["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert verify_bundle(ref.path) == ()


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
def test_another_tool_reads_it_too(tmp_path: Path) -> None:
    ref = write_bundle(tmp_path, contents(), Chain.of(tmp_path))
    subprocess.run(["unzip", "-tq", ref.path], check=True, capture_output=True)


def test_the_same_contents_give_the_same_bytes(tmp_path: Path) -> None:
    first = write_bundle(tmp_path / "a", contents(), Chain.of(tmp_path))
    again = write_bundle(tmp_path / "b", contents(), Chain.of(tmp_path))
    other = write_bundle(tmp_path / "a", contents(camera="c2"), Chain.of(tmp_path))
    assert first.path.read_bytes() == again.path.read_bytes()
    assert other.path != first.path, "nothing is written over"


def test_the_same_bundle_is_there_once(tmp_path: Path) -> None:
    chain = Chain.of(tmp_path)
    first = write_bundle(tmp_path / "day", contents(), chain)
    log = chain.path.read_bytes()
    assert write_bundle(tmp_path / "day", contents(), chain) == first
    assert chain.path.read_bytes() == log
    assert [p.name for p in (tmp_path / "day").iterdir()] == [first.path.name]
    # A file that only has its name is no bundle: the right one takes its place.
    first.path.write_bytes(b"something else")
    assert write_bundle(tmp_path / "day", contents(), chain) == first
    assert verify_bundle(first.path) == ()


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    given = replace(contents(), record=None, settlement=None, pictures={}, clip=None)
    ref = write_bundle(tmp_path, given, Chain.of(tmp_path))
    assert set(part_names(ref.path)) & {"record.json", "settlement.json", "clip.mp4"} == set()
    assert verify_bundle(ref.path) == ()


def test_a_stretch_of_the_file_is_the_part(tmp_path: Path) -> None:
    clip = make_clip(tmp_path)
    ref = write_bundle(tmp_path, contents(clip=clip), Chain.of(tmp_path))
    offset, size = part_span(ref.path, "clip.mp4")
    assert ref.path.read_bytes()[offset : offset + size] == clip.read_bytes()
    assert read_part(ref.path, "clip.mp4") == clip.read_bytes()
    for look in (part_span, read_part):
        with pytest.raises(FeltwatchError, match="no part 'nothing'"):
            look(ref.path, "nothing")


def test_what_cannot_be_a_bundle_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    chain = Chain.of(tmp_path / "e")
    wrong = [
        (contents(pictures={"../x.jpg": b""}), "cannot be the name"),
        (contents(pictures={"a.jpg": b"", "A.JPG": b""}), "two parts"),
        (contents(clip=tmp_path / "gone.mp4"), r"gone\.mp4: the clip\.mp4 cannot be read"),
        (replace(contents(), at=contents().at.replace(tzinfo=None)), "no zone"),
    ]
    for given, message in wrong:
        with pytest.raises(FeltwatchError, match=message):
            write_bundle(tmp_path / "e" / "day", given, chain)
    with pytest.raises(FeltwatchError, match="beside their log"):
        write_bundle(tmp_path / "elsewhere", contents(), chain)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_clip_that_still_grows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surveillance.evidence.bundle import write

    clip = make_clip(tmp_path)
    measure = write._measure

    def grown(name: str, source: bytes | Path) -> object:
        part = measure(name, source)
        if source == clip:
            clip.write_bytes(clip.read_bytes()[:-1] + b"!")
        return part

    monkeypatch.setattr(write, "_measure", grown)
    with pytest.raises(FeltwatchError, match="changed while it was put into"):
        write_bundle(tmp_path, contents(clip=clip), Chain.of(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["clip.mp4"]
