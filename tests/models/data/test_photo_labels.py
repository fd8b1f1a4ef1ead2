"""Labelled folders and their held-out parts."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from models.data import photo_labels
from models.data.photo_labels import hash_split, held_out, load_labels, time_after
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError


def write(folder: Path, names: list[str], **changes: Any) -> Path:
    box = {"label": "AS", "xyxy": [1, 2, 30, 40], "kind": "card", **changes}
    content = [{"image": n, "width": 64, "height": 48, "boxes": [box]} for n in names]
    (folder / "labels.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_doctests() -> None:
    assert doctest.testmod(photo_labels).failed == 0


def test_default_weights_lie_in_the_package() -> None:
    assert default_weights().parent == Path(photo_labels.__file__).resolve().parents[1]


def test_labels_are_read(tmp_path: Path) -> None:
    (photo,) = load_labels(write(tmp_path, ["images/a.jpg"]))
    assert photo.boxes[0].label == "AS"
    assert photo.boxes[0].holds(15, 20)
    assert not photo.boxes[0].holds(31, 20)
    assert photo.boxes[0].holds(31, 20, grow=0.1)


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"label": "1S"}, "'1S' is no label"),
        ({"xyxy": [5, 5, 5, 9]}, "is no box"),
        ({"kind": "hand"}, "0.boxes.0.kind"),
        ({"colour": "red"}, "0.boxes.0.colour"),
    ],
)
def test_a_bad_label_is_named(tmp_path: Path, changes: dict[str, Any], label: str) -> None:
    with pytest.raises(FeltwatchError, match=label) as error:
        load_labels(write(tmp_path, ["a.jpg"], **changes))
    assert "labels.json" in str(error.value)


def test_no_labels_and_broken_ones(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"labels\.json: cannot be read"):
        load_labels(tmp_path)
    (tmp_path / "labels.json").write_text("[{", encoding="utf-8")
    with pytest.raises(FeltwatchError, match="not valid JSON"):
        load_labels(tmp_path)


def test_split_by_time(tmp_path: Path) -> None:
    names = [f"images/IMG_20220316_{t}.jpg" for t in ("134551", "165959", "170000", "173210")]
    write(tmp_path, names)
    assert time_after(tmp_path, "17:00") == set(names[2:])
    assert held_out(tmp_path, after="17:00") == set(names[2:])
    with pytest.raises(FeltwatchError, match="no time of day"):
        time_after(tmp_path, "5 pm")
    with pytest.raises(FeltwatchError, match="its name has no time"):
        time_after(write(tmp_path, ["images/felt.jpg"]), "17:00")


def test_split_by_hash_is_a_fifth_and_keeps_shots_together(tmp_path: Path) -> None:
    names = [f"images/IMG_20220921_{h:02d}{m:02d}{s:02d}.jpg"
             for h in range(24) for m in range(60) for s in (3, 31)]  # fmt: skip
    held = held_out(write(tmp_path, names))
    assert 0.17 < len(held) / len(names) < 0.23
    assert held == held_out(tmp_path, share=0.2)
    assert held < held_out(tmp_path, share=0.5)
    assert all(hash_split(n) == hash_split(n.replace("03.jpg", "31.jpg")) for n in names)
    assert held_out(tmp_path, share=0.0) == frozenset()
    assert held_out(tmp_path, share=1.0) == set(names)
