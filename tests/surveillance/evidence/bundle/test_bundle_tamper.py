"""Altered at random, 200 times: every change is found, and the right file is named.

Once in a folder whose log is not signed, and once in one with a key, where whoever alters has
no key but may rewrite the whole log.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from surveillance.evidence.bundle import (
    CHAIN_FILE,
    SigningKey,
    VerifyKey,
    part_names,
    part_span,
    site_key,
    verify_bundle,
    verify_folder,
)
from surveillance.evidence.bundle.canonical import canonical_json, opened, sealed
from surveillance.evidence.bundle.chain import LINE, NO_LINE, Head, head_path
from tests.surveillance.evidence.bundle.evidence_made import make_evidence

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
    """A line is removed, moved, copied, swapped with another or rewritten."""
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


Entry = dict[str, object]


def write_anew(
    folder: Path,
    entries: list[Entry],
    how: str,
    head_too: bool = True,
    key: SigningKey | None = None,
) -> None:
    """The log and its head with hashes that fit, as who has no key can: `how` they sign."""
    key = key or SigningKey.make()
    lines: list[bytes] = []
    prev = NO_LINE
    for number, entry in enumerate(entries, start=1):
        value: Entry = {**entry, "number": number, "prev": prev}
        if how != "copied":
            value = {k: v for k, v in value.items() if k not in ("key", "signature")}
        line = sealed(key.sign(value, LINE) if how == "own" else value)
        prev = str(line["sha256"])
        lines.append(canonical_json(line) + b"\n")
    path = folder / CHAIN_FILE
    path.write_bytes(b"".join(lines))
    if head_too:
        head = Head(len(lines), prev, path.stat().st_size)
        head_path(path).write_bytes(head.to_bytes(key if how == "own" else None))


def rebuild_chain(rng: random.Random, folder: Path) -> Path:
    """The whole log is rewritten with other content, and the head with it.

    Nothing shows that without the key: plain hashes, the old signatures kept, or signed by a
    key that was made for it.
    """
    path = folder / CHAIN_FILE
    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    act = rng.choice(("drop", "alter", "insert", "nothing"))
    at = rng.randrange(len(entries))
    if act == "drop":
        del entries[at]
    elif act == "alter":
        entries[at]["detail"] = {"alert": rng.randrange(100), "verdict": "rejected"}
    elif act == "insert":
        entries.insert(at, {**entries[at], "act": "verdict", "detail": {}})
    how = rng.choice(("plain", "own") if act == "nothing" else ("plain", "copied", "own"))
    write_anew(folder, entries, how)
    return path


def cut_end(rng: random.Random, folder: Path) -> Path:
    """The last lines go, and the head is made to fit."""
    path = folder / CHAIN_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    kept = lines[: rng.randrange(1, len(lines))]
    path.write_bytes(b"".join(kept))
    last = opened(kept[-1].rstrip(b"\n"))
    assert last is not None
    head = Head(last["number"], last["sha256"], path.stat().st_size)
    how = rng.choice((None, SigningKey.make()))
    head_path(path).write_bytes(head.to_bytes(how))
    return path


BUNDLE_CHANGES: tuple[Change, ...] = (change_byte, change_structure_byte, cut_bytes, put_bytes)
CHANGES: tuple[Change, ...] = (*BUNDLE_CHANGES, change_log_byte, change_lines, change_head)
WITHOUT_KEY: tuple[Change, ...] = (rebuild_chain, cut_end)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence")
    make_evidence(folder)
    return folder


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, VerifyKey]:
    """A folder with a key of its own, and the public key."""
    place = tmp_path_factory.mktemp("site")
    key = site_key(place / "key.pem", place / "evidence")
    make_evidence(place / "evidence", key=key)
    return place / "evidence", VerifyKey.load(place / "key.pem.pub")


@pytest.mark.parametrize("seed", [1, 2026])
def test_every_change_is_found(original: Path, tmp_path: Path, seed: int) -> None:
    every_change_is_found(original, None, CHANGES, tmp_path / "evidence", seed)


@pytest.mark.parametrize("seed", [7, 2027])
def test_every_change_is_found_by_the_key(
    signed: tuple[Path, VerifyKey], tmp_path: Path, seed: int
) -> None:
    """The same and those that leave a chain of plain hashes that holds together."""
    original, key = signed
    assert verify_folder(original, key=key).problems == ()
    changes = (*CHANGES, *WITHOUT_KEY)
    every_change_is_found(original, key, changes, tmp_path / "evidence", seed)


def every_change_is_found(
    original: Path, key: VerifyKey | None, changes: tuple[Change, ...], folder: Path, seed: int
) -> None:
    rng = random.Random(seed)
    whole = snapshot(original)
    done = 0
    used: set[str] = set()
    while done < TIMES:
        shutil.copytree(original, folder)
        change = rng.choice(changes)
        path = change(rng, folder)
        if snapshot(folder) != whole:  # not when two equal lines were swapped
            problems = verify_folder(folder, key=key).problems
            what = f"change {done} of seed {seed}, {change.__name__}: {path}"
            assert problems, what
            assert str(path) in {problem.file for problem in problems}, what
            if change in BUNDLE_CHANGES:
                assert verify_bundle(path), f"{what}: by itself alone"
            done += 1
            used.add(change.__name__)
        shutil.rmtree(folder)
    assert used == {change.__name__ for change in changes}


def test_every_byte_of_a_small_bundle(original: Path, tmp_path: Path) -> None:
    """Not at random: each byte in turn, the lowest and the highest bit."""
    path = tmp_path / "b.zip"
    data = sorted(original.rglob("*.zip"))[0].read_bytes()
    clip = min(part_span(sorted(original.rglob("*.zip"))[0], "clip.mp4")[0], len(data))
    # Of images and clip some bytes stand for all; the rest is taken whole.
    places = [at for at in range(len(data)) if at < 200 or at >= clip + 2400 or at % 16 == 0]
    for at in places:
        changed = bytearray(data)
        changed[at] ^= 0x01 if at % 2 else 0x80
        path.write_bytes(changed)
        assert verify_bundle(path), f"byte {at}"
