"""Altered at random, 200 times: every change is found, and the right file is named."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from surveillance.bundle import CHAIN_FILE, part_names, part_span, verify_bundle, verify_folder
from surveillance.bundle.canonical import canonical_json, sealed
from surveillance.bundle.chain import head_path
from tests.surveillance.bundle.evidence_made import make_evidence

TIMES = 200
Change = Callable[[random.Random, Path], Path]


def _bundle(rng: random.Random, folder: Path) -> Path:
    return rng.choice(sorted(folder.rglob("*.zip")))


def change_byte(rng: random.Random, folder: Path) -> Path:
    """Any byte of a bundle becomes another."""
    path = _bundle(rng, folder)
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    path.write_bytes(data)
    return path


def change_structure_byte(rng: random.Random, folder: Path) -> Path:
    """A byte of the zip itself: headers, directory, end record."""
    path = _bundle(rng, folder)
    data = bytearray(path.read_bytes())
    spans = [part_span(path, name) for name in part_names(path)]
    inside = {at for offset, size in spans for at in range(offset, offset + size)}
    at = rng.choice([at for at in range(len(data)) if at not in inside])
    data[at] ^= rng.randrange(1, 256)
    path.write_bytes(data)
    return path


def cut_bytes(rng: random.Random, folder: Path) -> Path:
    """Some bytes are taken out of a bundle."""
    path = _bundle(rng, folder)
    data = path.read_bytes()
    at = rng.randrange(len(data))
    path.write_bytes(data[:at] + data[at + rng.randrange(1, 60) :])
    return path


def put_bytes(rng: random.Random, folder: Path) -> Path:
    """Some bytes are put into a bundle."""
    path = _bundle(rng, folder)
    data = path.read_bytes()
    at = rng.randrange(len(data) + 1)
    path.write_bytes(data[:at] + rng.randbytes(rng.randrange(1, 60)) + data[at:])
    return path


def change_log_byte(rng: random.Random, folder: Path) -> Path:
    """Any byte of the log becomes another."""
    path = folder / CHAIN_FILE
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    path.write_bytes(data)
    return path


def change_lines(rng: random.Random, folder: Path) -> Path:
    """A line is removed, moved, copied, swapped with another or written anew."""
    path = folder / CHAIN_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    at, to = rng.sample(range(len(lines)), 2)
    how = rng.choice(("remove", "move", "copy", "swap", "rewrite"))
    if how == "swap":
        lines[at], lines[to] = lines[to], lines[at]
    elif how == "copy":
        lines.insert(to, lines[at])
    elif how == "rewrite":
        entry = {**json.loads(lines[at]), "at": f"2026-03-0{rng.randrange(1, 9)}T00:00:00+00:00"}
        lines[at] = canonical_json(sealed(entry)) + b"\n"
    else:
        line = lines.pop(at)
        if how == "move":
            lines.insert(to, line)
    path.write_bytes(b"".join(lines))
    return path


def change_head(rng: random.Random, folder: Path) -> Path:
    """Any byte of the head record becomes another."""
    path = head_path(folder / CHAIN_FILE)
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    path.write_bytes(data)
    return folder / CHAIN_FILE


BUNDLE_CHANGES: tuple[Change, ...] = (change_byte, change_structure_byte, cut_bytes, put_bytes)
CHANGES: tuple[Change, ...] = (*BUNDLE_CHANGES, change_log_byte, change_lines, change_head)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence")
    make_evidence(folder)
    return folder


@pytest.mark.parametrize("seed", [1, 2026])
def test_every_change_is_found(original: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    whole = snapshot(original)
    done = 0
    used: set[str] = set()
    while done < TIMES:
        folder = tmp_path / "evidence"
        shutil.copytree(original, folder)
        change = rng.choice(CHANGES)
        path = change(rng, folder)
        if snapshot(folder) != whole:  # not when two equal lines were swapped
            problems = verify_folder(folder).problems
            what = f"change {done} of seed {seed}, {change.__name__}: {path}"
            assert problems, what
            assert str(path) in {problem.file for problem in problems}, what
            if change in BUNDLE_CHANGES:
                assert verify_bundle(path), f"{what}: by itself alone"
            done += 1
            used.add(change.__name__)
        shutil.rmtree(folder)
    assert used == {change.__name__ for change in CHANGES}


def test_every_byte_of_a_small_bundle(original: Path, tmp_path: Path) -> None:
    """Not at random: each byte in turn, the lowest and the highest bit."""
    path = tmp_path / "b.zip"
    data = sorted(original.rglob("*.zip"))[0].read_bytes()
    clip = min(part_span(sorted(original.rglob("*.zip"))[0], "clip.mp4")[0], len(data))
    # Of pictures and clip some bytes stand for all; the rest is taken whole.
    places = [at for at in range(len(data)) if at < 200 or at >= clip + 2400 or at % 16 == 0]
    for at in places:
        changed = bytearray(data)
        changed[at] ^= 0x01 if at % 2 else 0x80
        path.write_bytes(changed)
        assert verify_bundle(path), f"byte {at}"
