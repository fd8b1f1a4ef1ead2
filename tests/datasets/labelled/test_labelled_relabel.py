"""Labels renamed, merged and dropped; splits by near-duplicates and classes; statistics."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest

from datasets.labelled.checks.check import Code, check
from datasets.labelled.checks.near import near_links
from datasets.labelled.import_source import ImportOptions
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box, Dataset, NewPicture
from datasets.labelled.relabel import LabelMap, parse_map
from datasets.labelled.split import split_dataset
from datasets.labelled.stats import dataset_stats
from datasets.labelled.video import cut_recording
from settlement.errors import FeltwatchError
from surveillance.cli import main
from tests.datasets.labelled.made import add, picture_bytes
from tests.datasets.labelled.test_labelled_defects import coco, pictures, put

BOX = (1.0, 2.0, 30.0, 40.0)


def three(folder: Path) -> Dataset:
    dataset = Dataset.create(folder, ("10C", "TC", "ace of spades", "person"))
    one = add(dataset, "a.jpg", (Box("10C", *BOX), Box("ace of spades", *BOX)))
    add(dataset, "b.jpg", (Box("TC", *BOX), Box("person", *BOX)))
    dataset.confirm(one, by="person:ann", revision=1)
    return dataset


def test_labels_are_renamed_merged_and_dropped(tmp_path: Path) -> None:
    with three(tmp_path / "d") as dataset:
        command = ["dataset", "relabel", str(tmp_path / "d"), "--cards", "--map", "person="]
        assert main([*command, "--dry-run"]) == 0
        assert dataset.labels == ("10C", "TC", "ace of spades", "person")
        assert main(command) == 0
        assert dataset.labels == ("TC", "AS")
        assert [b.label for b in dataset.boxes(1)] == ["TC", "AS"]
        assert [b.label for b in dataset.boxes(2)] == ["TC"]
        assert dataset.picture(1).is_confirmed
        last = dataset.history(1)[-1]
        assert last.what == "labels"
        assert last.before is not None
        assert [b.label for b in last.before] == ["10C", "ace of spades"]
        assert main(["dataset", "relabel", str(tmp_path / "d"), "--map", "none=x"]) != 0


def test_labels_are_renamed_at_import_and_in_exports(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg")
    path = coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
    path.write_text(path.read_text().replace('"AS"', '"10 of hearts"'))
    import_labels(tmp_path / "in", tmp_path / "d", ImportOptions(labels=LabelMap(cards=True)))
    with Dataset.open(tmp_path / "d") as dataset:
        assert dataset.labels == ("TH",)
        assert dataset.note("coco")["categories"] == [{"id": 1, "name": "TH"}]
    assert pictures(tmp_path / "d")["a.jpg"][1][0].label == "TH"


def test_a_name_to_be_mapped_that_is_not_there_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "in", "a.jpg")
    coco(tmp_path / "in", "a.json", "a.jpg", [1, 2, 30, 40])
    asked = ["dataset", "import", str(tmp_path / "in"), "--into", str(tmp_path / "d")]
    for more in (["--dry-run"], ["--quiet"]):
        assert main([*asked, "--map", "AS=KD,10C=TC", "--map", "AS=AH", *more]) == 0
        out = capsys.readouterr().out
        assert "--map: there is no label 'AS=KD,10C'; give --map once for each name" in out
    assert pictures(tmp_path / "d")["a.jpg"][1][0].label == "AH"


@pytest.mark.parametrize("pair", ["TC", "=TC", "a=b"])
def test_wrong_maps_are_refused(pair: str) -> None:
    with pytest.raises(FeltwatchError, match="--map"):
        parse_map(["a=c", pair])


def test_near_duplicates_stay_in_one_split(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        for n in range(24):
            add(dataset, f"{n:02d}.jpg", (Box("AS", *BOX),), seed=n // 3)
        summary = split_dataset(dataset, ("shift",), {"train": 0.5, "val": 0.5})
        assert (summary.groups, summary.near) == (8, 24)
        home = {p.file: p.split for p in dataset.pictures()}
        for n in range(0, 24, 3):
            assert len({home[f"{n + k:02d}.jpg"] for k in range(3)}) == 1
        assert Code.NEAR_DUPLICATE not in {f.code for f in check(dataset, min_examples=0)}
        split_dataset(dataset, ("shift",), {"train": 0.5, "val": 0.5}, anew=True, near=False)
        assert Code.NEAR_DUPLICATE in {f.code for f in check(dataset, min_examples=0)}


def test_many_views_of_one_felt_cost_no_more_than_their_number() -> None:
    ids = np.arange(8_000)
    hashes = np.full(8_000, 7, np.uint64)
    rng = np.random.default_rng(1)
    thumbs = [rng.integers(0, 255, 1024, np.uint8).tobytes() for _ in range(50)]
    looked = 0

    def thumb(id: int) -> bytes:
        nonlocal looked
        looked += 1
        return thumbs[id % 50]

    links = list(near_links(ids, hashes, thumb))
    assert looked < 50 * 8_000
    assert len(links) < 8_000


def test_splits_are_stratified_by_class(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS", "KD")) as dataset, dataset.batch():
        for n in range(100):
            label = "KD" if n >= 90 else "AS"
            dataset.add_picture(
                NewPicture(f"{n}.jpg", 9, 9, sha256=f"{n}"), boxes=(Box(label, 1, 1, 5, 5),)
            )
        summary = split_dataset(dataset, ("shift",), {"train": 0.8, "val": 0.1, "test": 0.1})
    assert summary.classes == {
        "AS": {"train": 72, "val": 9, "test": 9}, "KD": {"train": 8, "val": 1, "test": 1},
    }  # fmt: skip


def test_a_class_without_training_boxes_is_reported(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS", "KD")) as dataset:
        for n in range(30):
            label = "KD" if n % 3 == 0 else "AS"
            split = "val" if n % 3 == 0 else "train"
            add(dataset, f"{n}.jpg", (Box(label, *BOX),), seed=n, split=split)
        found = {f.code: f for f in check(dataset, min_examples=5)}
        assert found[Code.NOT_IN_TRAIN].examples == ["KD: 0 in train, 10 in all"]
        few = {f.code: f for f in check(dataset)}[Code.NOT_CONFIRMED]
        assert few.as_dict()["examples_left_out"] == 22
        every = {f.code: f for f in check(dataset, examples=None)}[Code.NOT_CONFIRMED]
        assert len(every.examples) == every.count == 30


def test_statistics_list_places_forms_and_near_duplicates(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        add(dataset, "a.jpg", (Box("AS", 0, 0, 8, 4), Box("AS", 80, 50, 90, 60)), seed=1)
        add(dataset, "b.jpg", (Box("AS", 0, 0, 4, 8),), seed=1)
        add(dataset, "c.jpg", (), seed=2)
        stats = dataset_stats(dataset)
    assert sum(map(sum, stats.heat)) == 3
    assert (stats.heat[0][1], stats.heat[1][0], stats.heat[20][21]) == (1, 1, 1)
    assert sum(stats.aspects) == 3
    assert stats.image_sizes == {"96 x 64": 3}
    assert (stats.near, stats.near_groups, stats.near_examples) == (2, 1, (("a.jpg", "b.jpg"),))
    assert json.loads(json.dumps(stats.as_dict()))["near"] == 2


def test_a_recording_and_its_rounds_become_images_to_label(tmp_path: Path) -> None:
    video = tmp_path / "video.mp4"
    with av.open(str(video), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for n in range(60):
            image = np.full((64, 96, 3), 4 * n, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    # A real record of the sample, its times moved into the six seconds.
    sample = Path(__file__).parents[3] / "sample" / "truth.jsonl"
    content = json.loads(sample.read_text().splitlines()[0]) | {"start_s": "1.0", "end_s": "5.5"}
    for seat, taken in zip(content["seats"], ("2.5", "3.7", "5.0"), strict=True):
        seat["cards_taken_s"] = taken
    rounds = tmp_path / "rounds.jsonl"
    rounds.write_text(json.dumps(content) + "\n")
    summary = cut_recording(video, rounds, tmp_path / "d")
    assert (summary.rounds, summary.added) == (1, 3)
    again = cut_recording(video, rounds, tmp_path / "d")
    assert (again.added, again.present) == (0, 3)
    found = pictures(tmp_path / "d")
    # Half a second before cards are taken.
    assert sorted(str(p.time_s) for p, _ in found.values()) == ["2.000000", "3.200000", "4.500000"]
    for picture, boxes in found.values():
        assert boxes == ()
        assert picture.deal == "video t1-000001"
        assert "6D" in dict(picture.attributes)["cards"]
    (tmp_path / "x.mp4").write_bytes(picture_bytes(1)[:50])
    with pytest.raises(FeltwatchError, match="is no video"):
        cut_recording(tmp_path / "x.mp4", rounds, tmp_path / "d2")
