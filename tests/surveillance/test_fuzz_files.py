"""Files that somebody spoilt: read, or refused in words that name the file; never a traceback.

`FELTWATCH_FUZZ=2000 pytest tests/surveillance/test_fuzz_files.py` tries each 20,000 times.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from settlement.errors import FeltwatchError
from settlement.settle import settle
from surveillance.cli.game.record_input import Rules, read_records
from surveillance.cli.server.serve_cmd import EXAMPLE
from surveillance.config.calibration_image import picture_of_bytes
from surveillance.config.site_file import load_site
from surveillance.evidence.bundle import (
    CHAIN_FILE,
    SigningKey,
    part_names,
    part_span,
    read_part,
    verify_bundle,
    verify_folder,
)
from surveillance.evidence.bundle.chain import head_path
from surveillance.evidence.bundle.checkpoint import (
    CHECKPOINT_FILE,
    append_checkpoint,
    read_checkpoints,
    take_checkpoint,
)
from surveillance.evidence.bundle.keys import VerifyKey
from surveillance.evidence.bundle.verify_checkpoints import place_at
from tests.surveillance.evidence.bundle.evidence_made import make_evidence
from tests.surveillance.fuzzing import fuzzed
from tests.surveillance.handmade import RULES
from vision.geometry.table import load_table

SAMPLE = Path(__file__).parents[2] / "sample"
KEY = SigningKey.make()

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["\0", "../..", "AS", "JOKER", "1e999", "sqlite:///x", "rtsp://[", "0"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=6,
)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value within a value stands."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, part in value.items():
            found += paths_of(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            found += paths_of(part, (*path, index))
    return found


@st.composite
def spoilt(draw: st.DrawFn, sound: dict[str, Any]) -> dict[str, Any]:
    """The object with one to three values changed, taken away, put twice or added."""
    value = copy.deepcopy(sound)
    for _ in range(draw(st.integers(1, 3))):
        paths = paths_of(value)
        if not paths:
            break
        *way, last = draw(st.sampled_from(paths))
        inner: Any = value
        for step in way:
            inner = inner[step]
        act = draw(st.sampled_from(["change", "remove", "add", "twice"]))
        if act == "change":
            inner[last] = draw(VALUES)
        elif act == "remove":
            del inner[last]
        elif isinstance(inner, dict):
            inner[draw(st.text(max_size=8))] = draw(VALUES)
        else:
            inner.insert(last, copy.deepcopy(inner[last]) if act == "twice" else draw(VALUES))
    return value


def without_none(value: Any) -> Any:
    """The value as TOML can hold it."""
    if isinstance(value, dict):
        return {key: without_none(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_none(part) for part in value if part is not None]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return 2**63 - 1
    return value


@st.composite
def spoilt_bytes(draw: st.DrawFn, sound: bytes) -> bytes:
    """The bytes with a few stretches changed, taken away, put twice or added, or cut."""
    data = bytearray(sound)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 40)))
        act = draw(st.sampled_from(["change", "remove", "add", "twice", "cut"]))
        if act == "change":
            data[at:end] = draw(st.binary(min_size=end - at, max_size=end - at))
        elif act == "remove":
            del data[at:end]
        elif act == "add":
            data[at:at] = draw(st.binary(max_size=40))
        elif act == "twice":
            data[at:at] = data[at:end]
        else:
            del data[at:]
    return bytes(data)


def read_or_refused(read: Callable[[], object], name: str) -> None:
    """Nothing but FeltwatchError may come, one line that names the file."""
    try:
        read()
    except FeltwatchError as error:
        message = str(error)
    else:
        return
    assert name in message
    assert "\n" not in message


TABLE = tomllib.loads((SAMPLE / "table.toml").read_text())
SITE = tomllib.loads(
    "\n".join(line.removeprefix("# ") for line in EXAMPLE.read_text().splitlines()[3:])
)
ROUNDS = [json.loads(line) for line in (SAMPLE / "truth.jsonl").read_text().splitlines()]


@fuzzed
@given(data=spoilt(TABLE))
def test_table_files(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed-table.toml"
    path.write_text(tomli_w.dumps(without_none(data)), encoding="utf-8", errors="replace")
    read_or_refused(lambda: load_table(path), path.name)


@fuzzed
@given(data=spoilt(SITE))
def test_site_files(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed-site.toml"
    path.write_text(tomli_w.dumps(without_none(data)), encoding="utf-8", errors="replace")
    read_or_refused(lambda: load_site(path), path.name)


@fuzzed
@given(text=spoilt_bytes((SAMPLE / "table.toml").read_bytes()) | spoilt_bytes(EXAMPLE.read_bytes()))
def test_table_and_site_files_as_bytes(
    text: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.toml"
    path.write_bytes(text)
    read_or_refused(lambda: load_table(path), path.name)
    read_or_refused(lambda: load_site(path), path.name)


@fuzzed
@given(record=st.sampled_from(ROUNDS).flatmap(spoilt))
def test_rounds_are_settled_or_refused(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any]
) -> None:
    rules = load_table(SAMPLE / "table.toml").rules
    path = tmp_path_factory.getbasetemp() / "rounds.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")

    def read() -> None:
        for found in read_records(str(path), Rules(rules)):
            settle(found, rules)

    read_or_refused(read, path.name)


@fuzzed
@given(text=spoilt_bytes((SAMPLE / "truth.jsonl").read_bytes()[:4000]))
def test_round_files_as_bytes(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "rounds.jsonl"
    path.write_bytes(text)
    read_or_refused(lambda: list(read_records(str(path), Rules(RULES))), path.name)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two signed bundles, with a checkpoint elsewhere."""
    folder = tmp_path_factory.mktemp("evidence")
    make_evidence(folder, bundles=2, key=KEY)
    taken = take_checkpoint(folder / CHAIN_FILE, KEY)
    assert taken is not None
    append_checkpoint(folder.with_name("elsewhere"), taken)
    return folder


@fuzzed
@given(data=st.data())
def test_bundles(evidence: Path, data: st.DataObject) -> None:
    bundle = min(evidence.rglob("*.zip"))
    sound = bundle.read_bytes()
    changed = data.draw(spoilt_bytes(sound))
    path = evidence.with_name("fuzzed.zip")
    path.write_bytes(changed)
    assert bool(verify_bundle(path)) == (changed != sound)
    for read in (
        lambda: part_names(path),
        lambda: [read_part(path, name) for name in part_names(path)],
        lambda: part_span(path, "alert.json"),
    ):
        read_or_refused(read, path.name)


@fuzzed
@given(data=st.data())
def test_logs_heads_and_checkpoints(evidence: Path, data: st.DataObject) -> None:
    elsewhere = evidence.with_name("elsewhere")
    log = evidence / CHAIN_FILE
    file = data.draw(st.sampled_from([log, head_path(log), elsewhere / CHECKPOINT_FILE]))
    sound = file.read_bytes()
    changed = data.draw(spoilt_bytes(sound))
    try:
        file.write_bytes(changed)
        check = verify_folder(evidence, key=KEY.public, places=[place_at(elsewhere)])
    finally:
        file.write_bytes(sound)
    # Without its last end of line, or with one more, a file says the same.
    if changed.strip(b"\n") != sound.strip(b"\n"):
        assert check.problems


@fuzzed
@given(text=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_checkpoint_and_key_files(text: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(text)
    assert read_checkpoints(path)[0] == []
    read_or_refused(lambda: VerifyKey.load(path), path.name)


def pictures() -> list[bytes]:
    rng = np.random.default_rng(1)
    picture = rng.integers(0, 255, (162, 180, 3), np.uint8)
    return [
        cv2.imencode(suffix, picture)[1].tobytes()
        for suffix in (".jpg", ".png", ".webp", ".bmp", ".tiff")
    ]


@fuzzed
@given(data=st.sampled_from(pictures()).flatmap(spoilt_bytes) | st.binary(max_size=200))
def test_uploaded_images(data: bytes) -> None:
    read_or_refused(lambda: picture_of_bytes(data, "upload.jpg"), "upload.jpg")
