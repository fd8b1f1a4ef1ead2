"""Splits: whole groups, the same every time, and refusals."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from datasets.labelled.manifest import Box, Dataset, NewPicture
from datasets.labelled.split import parse_shares, split_dataset
from datasets.labelled.times import parse_span, time_groups
from settlement.errors import FeltwatchError

SHARES = {"train": 0.8, "val": 0.1, "test": 0.1}
values = st.none() | st.sampled_from("abcdefghij")
rows = st.lists(st.tuples(values, values, values), min_size=3, max_size=40)


def fill(folder: Path, drawn: Sequence[tuple[str | None, ...]]) -> Dataset:
    dataset = Dataset.create(folder, ("AS",))
    with dataset.batch():
        for n, (shift, deck, camera) in enumerate(drawn):
            dataset.add_picture(
                NewPicture(f"{n}.jpg", 9, 9, sha256=f"{n}", shift=shift, deck=deck, camera=camera)
            )
    return dataset


def homes(dataset: Dataset) -> dict[str, str | None]:
    return {p.file: p.split for p in dataset.pictures()}


@settings(max_examples=40, deadline=None)
@given(drawn=rows, keys=st.sets(st.sampled_from(["shift", "deck", "camera"]), min_size=1))
def test_no_value_is_ever_in_two_splits(
    drawn: Sequence[tuple[str | None, ...]], keys: set[str]
) -> None:
    with tempfile.TemporaryDirectory() as temporary, fill(Path(temporary), drawn) as dataset:
        # One split can always be made; it says how many groups there are.
        groups = split_dataset(dataset, sorted(keys), {"all": 1.0}).groups
        if groups < len(SHARES):
            with pytest.raises(FeltwatchError, match="too few for 3 splits"):
                split_dataset(dataset, sorted(keys), SHARES, anew=True)
            assert set(homes(dataset).values()) == {"all"}
            return
        summary = split_dataset(dataset, sorted(keys), SHARES, anew=True)
        for key in keys:
            assert not list(dataset.spread(key))
        assert set(homes(dataset).values()) == set(SHARES)
        assert sum(summary.pictures.values()) == len(drawn)


def test_shares_are_reached_where_groups_are_small(tmp_path: Path) -> None:
    drawn = [(f"s{n // 5}", None, None) for n in range(500)]
    with fill(tmp_path, drawn) as dataset:
        summary = split_dataset(dataset, ("shift",), SHARES)
        assert summary.reached == {"train": 0.8, "val": 0.1, "test": 0.1}
        assert (summary.groups, summary.largest_group, summary.warnings) == (100, 5, [])


def test_the_same_seed_gives_the_same_splits(tmp_path: Path) -> None:
    drawn = [(f"s{n % 20}", None, None) for n in range(100)]
    with fill(tmp_path, drawn) as dataset:
        split_dataset(dataset, ("shift",), SHARES, seed=4)
        first = homes(dataset)
        split_dataset(dataset, ("shift",), SHARES, seed=4, anew=True)
        assert homes(dataset) == first
        split_dataset(dataset, ("shift",), SHARES, seed=5, anew=True)
        assert homes(dataset) != first


def test_values_hang_together_over_several_keys(tmp_path: Path) -> None:
    drawn = [("s1", "d1", None), ("s2", "d1", "c2"), ("s3", None, "c2"), ("s4", "d4", "c4"),
             ("s5", "d5", "c5")]  # fmt: skip
    with fill(tmp_path, drawn) as dataset:
        summary = split_dataset(dataset, ("shift", "deck", "camera"), SHARES)
        assert summary.groups == 3
        home = homes(dataset)
        assert home["0.jpg"] == home["1.jpg"] == home["2.jpg"]
        assert summary.warnings


def test_splits_that_are_there_stay(tmp_path: Path) -> None:
    drawn = [(f"s{n % 10}", None, None) for n in range(50)]
    with fill(tmp_path, drawn) as dataset:
        held = [p.id for p in dataset.pictures() if p.shift == "s3"]
        dataset.set_splits([(held[0], "test")], by="person:ann")
        summary = split_dataset(dataset, ("shift",), SHARES)
        assert summary.fixed == 1
        assert {dataset.picture(id).split for id in held} == {"test"}
        before = homes(dataset)
        dataset.add_picture(NewPicture("new.jpg", 9, 9, sha256="new", shift="s3"))
        split_dataset(dataset, ("shift",), SHARES)
        assert homes(dataset) == before | {"new.jpg": "test"}


def test_groups_that_are_torn_already_need_anew(tmp_path: Path) -> None:
    with fill(tmp_path, [("s1", None, None)] * 2 + [("s2", None, None)] * 2) as dataset:
        dataset.set_splits([(1, "train"), (2, "val")], by="person:ann")
        with pytest.raises(FeltwatchError, match=r"together by shift .* --anew"):
            split_dataset(dataset, ("shift",), {"train": 0.5, "val": 0.5})
        split_dataset(dataset, ("shift",), {"train": 0.5, "val": 0.5}, anew=True)
        assert not list(dataset.spread("shift"))


def test_what_cannot_be_split_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with fill(tmp_path, [(f"s{n}", "d1", None) for n in range(9)]) as dataset:
        with pytest.raises(FeltwatchError, match="split by less than shift, deck"):
            split_dataset(dataset, ("shift", "deck"), SHARES)
        with pytest.raises(FeltwatchError, match="can be shift, deck"):
            split_dataset(dataset, ("colour",), SHARES)
        split_dataset(dataset, ("shift",), SHARES)


def test_shares_that_do_not_add_up_are_weights(tmp_path: Path) -> None:
    with fill(tmp_path, [(f"s{n}", None, None) for n in range(20)]) as dataset:
        summary = split_dataset(dataset, ("shift",), parse_shares("train=0.9,val=0.6"))
        assert summary.pictures == {"train": 12, "val": 8}
        assert summary.warnings == [
            "--shares add up to 1.5, not 1, and are taken as weights: train 60.0%, val 40.0%"
        ]
        thirds = parse_shares("a=0.3333333,b=0.3333333,c=0.3333334")
        warnings = split_dataset(dataset, ("shift",), thirds, anew=True).warnings
        assert not any("--shares" in warning for warning in warnings)


def test_a_class_that_a_split_lacks_is_named(tmp_path: Path) -> None:
    with fill(tmp_path, [(f"s{n}", None, None) for n in range(20)]) as dataset:
        box = Box("AS", 1, 1, 5, 5)
        dataset.set_boxes(1, [box, box], by="person:ann", revision=1)
        warnings = split_dataset(dataset, ("shift",), SHARES).warnings
        assert "AS: val and test hold none of its 2 boxes" in warnings


@pytest.mark.parametrize("text", ["", "train", "train=x", "train=0", "a=1,a=2", "a b=1", "a=inf"])
def test_wrong_shares_are_refused(text: str) -> None:
    with pytest.raises(FeltwatchError, match="--shares"):
        parse_shares(text)


def photographs(folder: Path, seconds: Sequence[int]) -> Dataset:
    """Images named by the time they were taken at, `seconds` after noon."""
    dataset = Dataset.create(folder, ("AS",))
    with dataset.batch():
        for s in seconds:
            name = f"IMG_20220316_{12 + s // 3600:02d}{s // 60 % 60:02d}{s % 60:02d}.jpg"
            dataset.add_picture(NewPicture(name, 9, 9, sha256=name, shift="one day"))
    return dataset


@settings(max_examples=40, deadline=None)
@given(seconds=st.lists(st.integers(0, 7200), min_size=3, max_size=60, unique=True))
def test_neighbours_in_time_are_never_in_two_splits(seconds: list[int]) -> None:
    with (
        tempfile.TemporaryDirectory() as temporary,
        photographs(Path(temporary), sorted(seconds)) as dataset,
    ):
        pauses = sum(b - a >= 60 for a, b in pairwise(sorted(seconds)))
        if pauses + 1 < len(SHARES):
            with pytest.raises(FeltwatchError, match="give a shorter --span"):
                split_dataset(dataset, ("time",), SHARES)
            return
        assert split_dataset(dataset, ("time",), SHARES).groups == pauses + 1
        order = sorted(dataset.pictures(), key=lambda p: p.file)
        for (a, b), first, second in zip(pairwise(sorted(seconds)), order, order[1:], strict=False):
            assert b - a >= 60 or first.split == second.split


def test_a_shorter_span_gives_more_groups(tmp_path: Path) -> None:
    with photographs(tmp_path, range(0, 3600, 20)) as dataset:
        with pytest.raises(FeltwatchError, match=r"by time all images are .* 1 group"):
            split_dataset(dataset, ("time",), SHARES)
        summary = split_dataset(dataset, ("time",), SHARES, span_s=20.0)
        assert (summary.groups, summary.reached) == (180, SHARES)
        # Together with the shift, which is the same for all, nothing can be split.
        with pytest.raises(FeltwatchError, match="by shift, time"):
            split_dataset(dataset, ("shift", "time"), SHARES, anew=True, span_s=20.0)


def test_the_time_is_taken_from_exif_or_the_recording(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, ("AS",)) as dataset:
        exif = Image.Exif()
        exif.get_ifd(0x8769)[0x9003] = "2022:03:16 12:00:30"
        Image.new("RGB", (9, 9)).save(tmp_path / "pictures" / "a.jpg", exif=exif)
        for new in (
            NewPicture("a.jpg", 9, 9, sha256="a"),
            NewPicture("20220316-120000.jpg", 9, 9, sha256="b", time_s="43200"),
            NewPicture("v 000001.jpg", 9, 9, sha256="c", source="v.mp4", time_s="43200.5"),
            NewPicture("v 000002.jpg", 9, 9, sha256="d", source="v.mp4", time_s="43250"),
            NewPicture("w 000001.jpg", 9, 9, sha256="e", source="w.mp4", time_s="43250"),
        ):
            dataset.add_picture(new)
        groups = time_groups(dataset)
        assert groups[1] == groups[2]
        assert groups[3] == groups[4]
        assert len(set(groups.values())) == 3


def test_images_without_a_time_are_named(tmp_path: Path) -> None:
    with photographs(tmp_path, (0, 600, 1200)) as dataset:
        dataset.add_picture(NewPicture("felt.jpg", 9, 9, sha256="x"))
        with pytest.raises(FeltwatchError, match=r"1 of 4 images have no time \(first: felt\.jpg"):
            split_dataset(dataset, ("time",), SHARES)


@pytest.mark.parametrize("text", ["", "0", "-5s", "5 days", "1e9", "nan"])
def test_a_wrong_span_is_refused(text: str) -> None:
    with pytest.raises(FeltwatchError, match=r"--span .*: expected a time such as 60s"):
        parse_span(text)
