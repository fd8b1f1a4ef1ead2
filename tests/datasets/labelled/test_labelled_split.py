"""Splits: whole groups, the same every time, and refusals."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets.labelled.manifest import Dataset, NewPicture
from datasets.labelled.split import parse_shares, split_dataset
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


@pytest.mark.parametrize("text", ["", "train", "train=x", "train=0", "a=1,a=2", "a b=1", "a=inf"])
def test_wrong_shares_are_refused(text: str) -> None:
    with pytest.raises(FeltwatchError, match="--shares"):
        parse_shares(text)
