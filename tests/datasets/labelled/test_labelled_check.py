"""The check: each kind of finding, and that a sound dataset has none."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from datasets.labelled.checks.check import Code, Severity, check, deal_views
from datasets.labelled.checks.deck_check import View, cards_twice
from datasets.labelled.checks.near import MAX_BITS, find_near
from datasets.labelled.checks.overlap import iou
from datasets.labelled.manifest import Box, Dataset, NewPicture
from datasets.labelled.pictures import inspect, put_file
from tests.datasets.labelled.made import LABELS, add, picture_bytes

GOOD = Box("AS", 5, 5, 20, 30)


def codes(dataset: Dataset, **options: object) -> dict[Code, int]:
    found = check(dataset, min_examples=0, **options)  # type: ignore[arg-type]
    return {f.code: f.count for f in found if f.severity is not Severity.INFO}


def test_a_sound_dataset_has_no_errors(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, ("AS",)) as dataset:
        for n, split in enumerate(("train", "train", "val", "test")):
            add(dataset, f"{n}.jpg", (GOOD,), seed=n, split=split, shift=f"s{split}", deck=split)
            dataset.confirm(n + 1, by="person:ann", revision=1)
        assert check(dataset, min_examples=1) == ()


def test_files_that_are_missing_broken_changed_or_of_another_size(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        ids = [add(dataset, f"{n}.jpg", (GOOD,), seed=n) for n in range(4)]
        cut = picture_bytes(9)[:-300]
        found = inspect(cut)
        assert found.is_broken
        assert (found.width, found.height) == (96, 64)
        put_file(cut, dataset.folder / "pictures" / "cut.jpg")
        dataset.add_picture(NewPicture("cut.jpg", 96, 64, sha256=found.sha256))
        data = picture_bytes(10)
        put_file(data, dataset.folder / "pictures" / "size.jpg")
        seen = inspect(data)
        dataset.add_picture(NewPicture("size.jpg", 64, 96, sha256=seen.sha256, phash=seen.phash))
        dataset.path(dataset.picture(ids[0])).unlink()
        dataset.path(dataset.picture(ids[1])).write_bytes(picture_bytes(11))
        assert codes(dataset) == {
            Code.MISSING_FILE: 1, Code.HASH_CHANGED: 1, Code.BROKEN_PICTURE: 1,
            Code.SIZE_DIFFERS: 1,
        }  # fmt: skip
        assert codes(dataset, read_files=False) == {Code.MISSING_FILE: 1, Code.BROKEN_PICTURE: 1}


@pytest.mark.parametrize(
    ("box", "code"),
    [
        (Box("AS", -3, 5, 20, 30), Code.BOX_OUTSIDE),
        (Box("AS", 5, 5, 99, 30), Code.BOX_OUTSIDE),
        (Box("AS", 5, 5, 20, 66), Code.BOX_OUTSIDE),
        (Box("AS", 200, 200, 220, 230), Code.BOX_OUTSIDE),
        (Box("AS", 5, 5, 5, 30), Code.BOX_EMPTY),
        (Box("AS", 20, 5, 5, 30), Code.BOX_EMPTY),
        (Box("QQ", 5, 5, 20, 30), Code.LABEL_UNKNOWN),
        (Box("AS", 150, 5, 190, 30, angle_deg=20), Code.BOX_OUTSIDE),
        (Box("AS", 5.05, 5, 20, 30), Code.BOX_TWICE),
    ],
)
def test_each_wrong_box_is_found(tmp_path: Path, box: Box, code: Code) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        add(dataset, "a.jpg", (GOOD, box))
        assert codes(dataset) == {code: 1}


def test_boxes_at_the_edge_and_turned_ones_are_right(tmp_path: Path) -> None:
    boxes = (
        Box("AS", -0.5, 0, 96.5, 64), Box("KD", 60, -8, 80, 30, angle_deg=45),
        Box("7H", 5, 5, 20, 30), Box("BACK", 5, 5, 20, 30),
    )  # fmt: skip
    with Dataset.create(tmp_path, LABELS) as dataset:
        add(dataset, "a.jpg", boxes)
        assert codes(dataset) == {}


def test_a_card_twice_in_a_deal(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        add(dataset, "1.jpg", (Box("AS", 5, 5, 12, 18),), deal="r1", attributes=(("seat", 1),))
        add(dataset, "1b.jpg", (Box("AS", 8, 5, 15, 18),), deal="r1", attributes=(("seat", 1),))
        add(dataset, "2.jpg", (Box("KD", 5, 5, 12, 18),), deal="r1", attributes=(("seat", 2),))
        add(dataset, "2next.jpg", (Box("AS", 5, 5, 12, 18),), deal="r2", attributes=(("seat", 2),))
        add(dataset, "nodeal.jpg", (Box("AS", 5, 5, 12, 18),), attributes=(("seat", 2),))
        assert Code.CARD_TWICE not in codes(dataset)
        add(dataset, "3.jpg", (Box("AS", 5, 5, 12, 18),), deal="r1", attributes=(("seat", 3),))
        assert codes(dataset)[Code.CARD_TWICE] == 1
        assert len(list(deal_views(dataset, "r1"))) == 4


@pytest.mark.parametrize(
    ("boxes", "times"),
    [
        ([Box("AS", 0, 0, 10, 20), Box("AS", 50, 70, 60, 90)], 0),  # two corners of one card
        ([Box("AS", 0, 0, 10, 20), Box("AS", 400, 0, 410, 20)], 1),
        ([Box("AS", 20 * n, 0, 20 * n + 10, 20) for n in range(4)], 0),  # an index in all corners
        ([Box("AS", 20 * n, 0, 20 * n + 10, 20) for n in range(5)], 1),
        ([Box("AS", 0, 0, 60, 90, attributes=(("kind", "card"),)) for _ in range(2)], 1),
        ([Box("JOKER", 0, 0, 10, 20), Box("JOKER", 400, 0, 410, 20)], 1),
        ([Box("BACK", 0, 0, 10, 20), Box("BACK", 400, 0, 410, 20)], 0),
    ],
)
def test_what_is_one_card_in_an_image(boxes: list[Box], times: int) -> None:
    assert len(cards_twice([View("a.jpg", tuple(boxes))])) == times


def changed_copies(seed: int) -> list[bytes]:
    """The same image, saved again, smaller and brighter."""
    image = Image.open(io.BytesIO(picture_bytes(seed, 320, 240)))
    copies = [image, image.resize((160, 120)), image.point(lambda v: min(255, int(v * 1.15)))]
    out = []
    for copy in copies:
        buffer = io.BytesIO()
        copy.save(buffer, "JPEG", quality=60)
        out.append(buffer.getvalue())
    return out


def put(dataset: Dataset, name: str, data: bytes, split: str) -> None:
    found = inspect(data)
    put_file(data, dataset.folder / "pictures" / name)
    new = NewPicture(name, found.width, found.height, found.sha256, found.phash, split=split)
    dataset.add_picture(new, thumb=found.thumb)


def test_near_duplicates_across_splits(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        put(dataset, "whole.jpg", picture_bytes(1, 320, 240), "train")
        for n, data in enumerate(changed_copies(1)):
            put(dataset, f"copy{n}.jpg", data, "val")
        for n in range(30):
            put(dataset, f"other{n}.jpg", picture_bytes(100 + n, 320, 240), ("train", "val")[n % 2])
        (found,) = [f for f in check(dataset, min_examples=0) if f.code is Code.NEAR_DUPLICATE]
        assert found.count == 3
        assert all("whole.jpg (train)" in e for e in found.examples)


def test_near_duplicates_within_a_split_are_none_of_its_business(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        for n, data in enumerate(changed_copies(1)):
            put(dataset, f"copy{n}.jpg", data, "train")
        put(dataset, "other.jpg", picture_bytes(7), "val")
        assert Code.NEAR_DUPLICATE not in codes(dataset)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60))
def test_the_bands_find_every_pair_that_is_near(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    bases = rng.integers(0, 2**63, 4, dtype=np.uint64)
    hashes = bases[rng.integers(0, 4, count)].copy()
    for n in range(count):
        for bit in rng.integers(0, 64, rng.integers(0, 8)):
            hashes[n] ^= np.uint64(1) << np.uint64(bit)
    splits = rng.integers(-1, 3, count)
    same = bytes(range(256)) * 4
    found = {i for p in find_near(np.arange(count), hashes, splits, lambda _: same)
             for i in (p.first, p.second)}  # fmt: skip
    expected = {
        i
        for i in range(count)
        for j in range(count)
        if splits[i] >= 0 and splits[j] >= 0 and splits[i] != splits[j]
        and (int(hashes[i]) ^ int(hashes[j])).bit_count() <= MAX_BITS
    }  # fmt: skip
    assert found == expected


def test_leaks_and_few_examples(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, ("AS", "KD")) as dataset:
        add(dataset, "1.jpg", (GOOD,), split="train", shift="n", deck="d", camera="c")
        add(dataset, "2.jpg", (GOOD,), split="val", shift="n", deck="d", camera="c2")
        add(dataset, "3.jpg", (GOOD,), split="val", shift="m", deck="e", camera="c")
        found = {f.code: f for f in check(dataset, min_examples=2)}
        assert found[Code.LEAK_SHIFT].examples == ["n: train 1, val 1"]
        assert found[Code.LEAK_DECK].examples == ["d: train 1, val 1"]
        assert found[Code.LEAK_CAMERA].examples == ["c: train 1, val 1"]
        assert found[Code.LEAK_SHIFT].severity is Severity.ERROR
        assert found[Code.FEW_EXAMPLES].examples == ["AS: 1 in train", "KD: 0 in all"]
        order = [f.severity for f in check(dataset, min_examples=2)]
        assert order == sorted(order, key=list(Severity).index)


def test_examples_are_few_however_much_is_wrong(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        add(dataset, "a.jpg", tuple(Box("QQ", n, 5, n + 9, 30) for n in range(40)))
        (found,) = [f for f in check(dataset, min_examples=0) if f.code is Code.LABEL_UNKNOWN]
        assert found.count == 40
        assert len(found.examples) == 8
        assert found.as_dict()["code"] == "label_unknown"


def test_an_image_on_its_side_counts_as_its_camera_turned_it() -> None:
    image = Image.open(io.BytesIO(picture_bytes(3, 96, 64)))
    exif = image.getexif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    image.save(buffer, "PNG", exif=exif)
    found = inspect(buffer.getvalue())
    assert (found.width, found.height) == (64, 96)
    turned = io.BytesIO()
    image.transpose(Image.Transpose.ROTATE_270).save(turned, "PNG")
    upright = inspect(turned.getvalue())
    assert found.phash is not None
    assert upright.phash is not None
    assert (found.phash ^ upright.phash).bit_count() <= 4


def test_iou_of_boxes() -> None:
    assert iou(Box("A", 0, 0, 10, 10), Box("A", 5, 0, 15, 10)) == pytest.approx(1 / 3)
    assert iou(Box("A", 0, 0, 10, 10), Box("A", 20, 0, 25, 10)) == 0
