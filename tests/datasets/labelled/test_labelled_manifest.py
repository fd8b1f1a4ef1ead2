"""The manifest: conflicts, history, filters, threads, crashes and wrong files."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from datasets.labelled.manifest import Box, Conflict, Dataset, NewPicture
from datasets.labelled.schema import SCHEMA_VERSION
from settlement.errors import FeltwatchError
from tests.datasets.labelled.made import LABELS, add, contents, small_dataset


def test_everything_comes_back(tmp_path: Path) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        before = contents(dataset)
        assert dataset.labels == LABELS
    with Dataset.open(tmp_path / "d") as again:
        assert contents(again) == before
        assert len(again) == 6
        picture = again.find("a.jpg")
        assert picture is not None
        assert (picture.deck, picture.time_s, picture.deal) == ("d1", "1.500", "r1")
        assert again.path(picture).is_file()


def test_an_old_revision_is_refused_and_names_who_was_first(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        one = add(dataset, "a.jpg", (Box("AS", 1, 1, 9, 9),), labelled_by="model:x")
        now = dataset.set_boxes(one, [Box("KD", 1, 1, 9, 9)], by="person:ann", revision=1)
        assert now == 2
        with pytest.raises(Conflict, match=r"a\.jpg: was changed by person:ann") as raised:
            dataset.set_boxes(one, [], by="person:bob", revision=1)
        assert raised.value.revision == 2
        with pytest.raises(Conflict):
            dataset.confirm(one, by="person:bob", revision=1)
        assert dataset.boxes(one) == (Box("KD", 1, 1, 9, 9),)


def test_boxes_that_change_take_the_confirmation_away(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        one = add(dataset, "a.jpg", (Box("AS", 1, 1, 9, 9),), labelled_by="model:x")
        now = dataset.confirm(one, by="person:ann", revision=1)
        assert dataset.set_boxes(one, dataset.boxes(one), by="person:bob", revision=now) == now
        assert dataset.picture(one).confirmed_by == "person:ann"
        now = dataset.set_boxes(one, [], by="person:bob", revision=now)
        picture = dataset.picture(one)
        assert not picture.is_confirmed
        assert picture.labelled_by == "person:bob"
        now = dataset.confirm(one, by="person:bob", revision=now)
        now = dataset.unconfirm(one, by="person:ann", revision=now)
        assert not dataset.picture(one).is_confirmed


def test_every_change_is_kept(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        old = Box("AS", 1, 1, 9, 9, score=0.25, attributes=(("kind", "corner"),))
        one = add(dataset, "a.jpg", (old,), labelled_by="model:x")
        dataset.set_boxes(one, [], by="person:ann", revision=1)
        dataset.confirm(one, by="person:ann", revision=2)
        dataset.set_splits([(one, "val")], by="person:bob")
        dataset.set_details(one, by="person:bob", deck="d2")
        history = dataset.history(one)
        assert [(c.what, c.by, c.revision) for c in history] == [
            ("added", "model:x", 1), ("boxes", "person:ann", 2), ("confirmed", "person:ann", 3),
            ("split", "person:bob", 3), ("details", "person:bob", 3),
        ]  # fmt: skip
        assert history[1].before == (old,)
        assert history[3].note == "val"
        assert all(c.at.endswith("+00:00") for c in history)


def test_filters_and_pages(tmp_path: Path) -> None:
    with small_dataset(tmp_path) as dataset:
        names = [p.file for p in dataset.pictures()]
        assert [p.file for p in dataset.pictures(limit=2)] == names[:2]
        second = dataset.find(names[1])
        assert second is not None
        assert [p.file for p in dataset.pictures(after_id=second.id)] == names[2:]
        assert dataset.count(split="train") == 2
        assert dataset.count(split="") == 1
        assert dataset.count(confirmed=True) == 1
        assert dataset.count(confirmed=False, split="train") == 2
        assert dataset.count(label="AS") == 3
        assert [p.file for p in dataset.pictures(without_boxes=True)] == ["sub/b c.jpg"]
        assert [p.file for p in dataset.pictures(deal="r1")] == ["a.jpg"]
        assert dataset.splits() == {None: 1, "spare": 1, "test": 1, "train": 2, "val": 1}


def test_pages_go_on_while_it_is_changed(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        with dataset.batch():
            for n in range(1203):
                dataset.add_picture(NewPicture(f"{n}.jpg", 9, 9, sha256=f"{n}"))
        seen = 0
        for picture in dataset.pictures():
            dataset.set_details(picture.id, by="person:x", deck="d") if seen % 400 == 0 else None
            seen += 1
        assert seen == 1203


def test_a_batch_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:

        def half() -> None:
            with dataset.batch():
                dataset.add_picture(NewPicture("a.jpg", 9, 9, sha256="a"))
                dataset.add_picture(NewPicture("a.jpg", 9, 9, sha256="a"))

        with pytest.raises(FeltwatchError, match=r"a\.jpg already"):
            half()
        assert len(dataset) == 0


def test_threads_write_at_once(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        one = dataset.add_picture(NewPicture("a.jpg", 99, 99, sha256="a"))
        won: list[int] = []

        def push(number: int) -> None:
            while True:
                revision = dataset.picture(one).revision
                boxes = [*dataset.boxes(one), Box("AS", number, 0, number + 5, 9)]
                try:
                    won.append(dataset.set_boxes(one, boxes, by="person:x", revision=revision))
                except Conflict:
                    continue
                return

        threads = [threading.Thread(target=push, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(won) == list(range(2, 14))
        assert {b.x0 for b in dataset.boxes(one)} == set(range(12))


def _add_many(folder: str, start: int) -> None:
    with Dataset.open(Path(folder)) as dataset:
        for n in range(start, start + 40):
            dataset.add_picture(NewPicture(f"{n}.jpg", 9, 9, sha256=f"{n}"))


def test_processes_write_at_once(tmp_path: Path) -> None:
    Dataset.create(tmp_path, LABELS).close()
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_add_many, args=(str(tmp_path), n)) for n in (0, 100)]
    for process in both:
        process.start()
    for process in both:
        process.join()
        assert process.exitcode == 0
    with Dataset.open(tmp_path) as dataset:
        assert len(dataset) == 80


def test_a_process_that_is_killed_loses_only_the_step_it_was_in(tmp_path: Path) -> None:
    Dataset.create(tmp_path, LABELS).close()
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from datasets.labelled.manifest import Dataset, NewPicture\n"
        "d = Dataset.open(Path(sys.argv[1]))\n"
        "for n in range(5):\n"
        "    d.add_picture(NewPicture(f'{n}.jpg', 9, 9, sha256=str(n)))\n"
        "with d.batch():\n"
        "    d.add_picture(NewPicture('half.jpg', 9, 9, sha256='h'))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=env, check=False)
    assert ended.returncode == -9
    with Dataset.open(tmp_path) as dataset:
        assert [p.file for p in dataset.pictures()] == [f"{n}.jpg" for n in range(5)]


def test_wrong_manifests_are_named(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"holds no dataset"):
        Dataset.open(tmp_path)
    path = tmp_path / "dataset.sqlite"
    path.write_bytes(b"this is no database, not by far" * 100)
    with pytest.raises(FeltwatchError, match=r"dataset\.sqlite: is no dataset"):
        Dataset.open(tmp_path)
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(FeltwatchError, match="no dataset of feltwatch"):
        Dataset.open(tmp_path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    Dataset.create(tmp_path, LABELS).close()
    db = sqlite3.connect(tmp_path / "dataset.sqlite")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    db.close()
    with pytest.raises(FeltwatchError, match="update feltwatch"):
        Dataset.open(tmp_path)
    with pytest.raises(FeltwatchError, match="holds a dataset already"):
        Dataset.create(tmp_path, LABELS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"file": "../a.jpg"}, "must stay inside"),
        ({"file": "/etc/a.jpg"}, "must stay inside"),
        ({"file": "C:/a.jpg"}, "must be relative"),
        ({"file": "a\\b.jpg"}, "must be relative"),
        ({"file": "a\nb.jpg"}, "cannot be shown"),
        ({"file": "x" * 300 + ".jpg"}, "longer than 255"),
        ({"width": 0}, "got 0 x 9"),
        ({"time_s": "soon"}, "no number of seconds"),
        ({"labelled_by": "ann"}, "is no author"),
        ({"attributes": (("a", float("nan")),)}, "cannot be kept"),
    ],
)
def test_wrong_values_are_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    values: dict[str, object] = {"file": "a.jpg", "width": 9, "height": 9, "sha256": "a"}
    with (
        Dataset.create(tmp_path, LABELS) as dataset,
        pytest.raises(FeltwatchError, match=message),
    ):
        dataset.add_picture(NewPicture(**(values | changed)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": ""}, {"label": " AS"}, {"label": "A\x00"}, {"x0": float("inf")},
        {"score": 1.5}, {"visible": -0.1}, {"x1": "9"},
    ],
)  # fmt: skip
def test_wrong_boxes_are_refused(wrong: dict[str, object]) -> None:
    values: dict[str, object] = {"label": "AS", "x0": 0, "y0": 0, "x1": 9, "y1": 9}
    with pytest.raises(FeltwatchError):
        Box(**(values | wrong))  # type: ignore[arg-type]


def test_a_dataset_that_cannot_be_written_says_what_it_needs(tmp_path: Path) -> None:
    small_dataset(tmp_path / "d").close()
    # As on a read-only or full disk, SQLite cannot make the file beside it.
    (tmp_path / "d" / "dataset.sqlite-wal").mkdir()
    with pytest.raises(FeltwatchError, match=r"cannot be opened.*must be writable"):
        Dataset.open(tmp_path / "d")
