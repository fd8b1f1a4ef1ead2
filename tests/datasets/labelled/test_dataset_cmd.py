"""`feltwatch dataset` at the command line, its pages, and an audit's candidates."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.labelled import bench_dataset
from datasets.labelled.exporting import export_labels
from datasets.labelled.formats.base import Format
from datasets.labelled.harvest import harvest
from datasets.labelled.manifest import Box, Dataset, NewPicture
from surveillance.audit.recording import audit
from surveillance.cli import main
from surveillance.reports import model_labels
from surveillance.reports.dataset_pages import write_stats_page
from surveillance.reports.model_labels import Terms, model_boxes
from tests.datasets.labelled.made import LABELS, add, picture_bytes, small_dataset
from tests.surveillance.handmade import observed_round
from tests.vision.painted import ground, paint_card, painted_networks
from vision.geometry.table import TableFile
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame

pytest_plugins = ["tests.surveillance.conftest"]


def test_there_and_back_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_dataset(tmp_path / "d").close()
    out = str(tmp_path / "out")
    assert main(["dataset", "export", str(tmp_path / "d"), "--format", "cvat", "--out", out,
                 "--zip", "--quiet"]) == 0  # fmt: skip
    assert f"{out}.zip" in capsys.readouterr().out
    assert main(["dataset", "import", f"{out}.zip", "--into", str(tmp_path / "b"), "--json",
                 "--quiet"]) == 0  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    assert (printed["added"], printed["boxes"], printed["missing"]) == (6, 10, 0)
    assert main(["dataset", "diff", str(tmp_path / "d"), str(tmp_path / "b"), "--json",
                 "--quiet"]) == 0  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    assert (printed["same"], sum(printed["differences"].values())) == (10, 0)


def test_ctrl_c_says_that_it_can_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from datasets.labelled import importing

    def stop(_data: bytes) -> None:
        raise KeyboardInterrupt

    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", Format.COCO)
    monkeypatch.setattr(importing, "inspect", stop)
    arguments = ["dataset", "import", str(tmp_path / "out"), "--into", str(tmp_path / "b")]
    assert main([*arguments, "--quiet"]) == 130
    assert "run it again to go on" in capsys.readouterr().err
    monkeypatch.undo()
    assert main([*arguments, "--quiet"]) == 0
    with Dataset.open(tmp_path / "b") as back:
        assert len(back) == 6


def test_check_ends_with_one_when_there_are_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_dataset(tmp_path / "d").close()
    assert main(["dataset", "check", str(tmp_path / "d"), "--quiet"]) == 1
    assert "box_outside" in capsys.readouterr().out
    assert main(["dataset", "check", str(tmp_path / "d"), "--quiet", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert {f["code"]: f["count"] for f in printed["findings"]}["box_outside"] == 4
    with Dataset.create(tmp_path / "good", ("AS",)) as dataset:
        add(dataset, "a.jpg", (Box("AS", 1, 1, 9, 9),))
    assert main(["dataset", "check", str(tmp_path / "good"), "--quiet"]) == 0


def test_split_prints_what_it_reached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Dataset.create(tmp_path, ("AS",)) as dataset:
        for n in range(20):
            dataset.add_picture(NewPicture(f"{n}.jpg", 9, 9, sha256=f"{n}", shift=f"s{n}"))
    arguments = ["dataset", "split", str(tmp_path), "--by", "shift", "--shares", "train=3,val=1"]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pictures"] == {"train": 15, "val": 5}
    assert main(["dataset", "split", str(tmp_path), "--by", "deck", "--anew"]) == 0
    assert main(["dataset", "split", str(tmp_path), "--shares", "nonsense"]) == 2
    assert "--shares nonsense" in capsys.readouterr().err


def test_split_by_time_takes_a_span(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Dataset.create(tmp_path, ("AS",)) as dataset:
        for n in range(10):
            dataset.add_picture(NewPicture(f"20220316_1200{n * 5:02d}.jpg", 9, 9, sha256=f"{n}"))
    arguments = ["dataset", "split", str(tmp_path), "--json", "--by"]
    assert main([*arguments, "time", "--span", "5s"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == 10
    assert main([*arguments, "time", "--anew"]) == 2
    assert "give a shorter --span" in capsys.readouterr().err
    assert main([*arguments, "source", "--span", "5s"]) == 2
    assert "--span: belongs to --by time" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "split", "stats", "diff", "export"])
def test_a_folder_without_a_dataset_is_refused(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {
        "export": ["--format", "yolo", "--out", str(tmp_path / "o")], "diff": ["--model"],
    }.get(command, [])  # fmt: skip
    assert main(["dataset", command, str(tmp_path), *more]) == 2
    assert "holds no dataset" in capsys.readouterr().err


def test_diff_needs_something_to_compare_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dataset", "diff", str(tmp_path)]) == 2
    assert "--model" in capsys.readouterr().err


def test_diff_of_sets_without_a_common_image_ends_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        with Dataset.create(tmp_path / name, ("AS",)) as dataset:
            add(dataset, f"{name}.jpg", (Box("AS", 1, 1, 9, 9),))
    command = ["dataset", "diff", str(tmp_path / "a"), str(tmp_path / "b"), "--quiet"]
    assert main(command) == 1
    said = capsys.readouterr().out
    assert f"none is in both {tmp_path / 'a'} (1 images) and {tmp_path / 'b'} (1)" in said
    assert "agree" not in said
    assert main([*command, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["pictures"] == 0
    assert not (tmp_path / "a" / "diff.html").exists()


def test_a_full_disk_is_reported_with_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from surveillance.reports import dataset_pages

    class Full:
        def get_template(self, _name: str) -> Full:
            return self

        def stream(self, _values: object) -> list[str]:
            raise OSError(errno.ENOSPC, "No space left on device")

    small_dataset(tmp_path / "d").close()
    monkeypatch.setattr(dataset_pages, "_environment", Full)
    page = tmp_path / "out" / "stats.html"
    assert main(["dataset", "stats", str(tmp_path / "d"), "--out", str(page)]) == 2
    assert f"{page}: No space left on device" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    "command", ["import", "export", "check", "split", "stats", "harvest", "diff"]
)
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dataset", command, "--help"]) == 0
    assert f"feltwatch dataset {command} " in capsys.readouterr().out


def test_the_page_of_statistics_holds_all_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        add(dataset, "<script>.jpg", (Box("<b>label", 1, 1, 30, 30),), split="train")
        dataset.path(dataset.picture(1)).unlink()
    assert main(["dataset", "stats", str(tmp_path / "d"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["pictures"], printed["boxes"], printed["confirmed"]) == (7, 11, 1)
    assert sum(printed["sizes_px"]["counts"]) == 11
    assert printed["splits"] == {"none": 1, "spare": 1, "test": 1, "train": 3, "val": 1}
    page = (tmp_path / "d" / "stats.html").read_text()
    assert "<script" not in page
    assert "<b>label" not in page
    assert "&lt;b&gt;label" in page
    assert set(re.findall(r'(?:src|href)="([^":,]*)', page)) == {"data"}
    assert page.count("data:image/jpeg;base64,") >= 8
    assert main(["dataset", "stats", str(tmp_path / "d")]) == 0
    assert "11" in capsys.readouterr().out


def test_a_page_of_an_empty_dataset(tmp_path: Path) -> None:
    from datasets.labelled.stats import dataset_stats

    with Dataset.create(tmp_path, LABELS) as dataset:
        write_stats_page(dataset, dataset_stats(dataset), tmp_path / "p" / "stats.html")
    assert "Without any box: AS" in (tmp_path / "p" / "stats.html").read_text()
    assert [p.name for p in (tmp_path / "p").iterdir()] == ["stats.html"]


@pytest.fixture
def painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of painted cards, and a model that reads such."""
    import cv2

    monkeypatch.setattr(model_labels, "load_networks", lambda folder: painted_networks())
    source = tmp_path / "photos"
    (source / "images").mkdir(parents=True)
    entries = []
    for n, label in enumerate(["7H", "KS", "AS"]):
        image = ground(300, 260)
        box = paint_card(image, label, (150, 130), 40.0 * n, 40)
        cv2.imwrite(str(source / "images" / f"{n}.png"), image)
        name = "QD" if label == "AS" else label
        own = {"label": name, "xyxy": [float(v) for v in box], "kind": "card"}
        entries.append({"image": f"images/{n}.png", "width": 300, "height": 260, "boxes": [own]})
    (source / "labels.json").write_text(json.dumps(entries))
    assert main(["dataset", "import", str(source), "--into", str(tmp_path / "d"), "--quiet"]) == 0
    return tmp_path / "d"


def test_a_model_against_a_dataset(painted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["dataset", "diff", str(painted), "--model", "--json", "--quiet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["pictures"] == 3
    assert printed["differences"]["wrong_label"] == 1
    assert printed["confusions"] == [{"first": "QD", "second": "AS", "times": 1}]
    page = (painted / "diff.html").read_text()
    assert page.index("wrong label") < page.index("QD")
    assert "data:image/jpeg;base64," in page


def test_a_model_gives_whole_cards_where_those_are_labelled(painted: Path) -> None:
    with Dataset.open(painted) as dataset:
        boxes, terms = model_boxes(dataset, Path("none"))
        assert terms is Terms.CARDS
        seen = boxes(dataset.picture(1))
        assert seen is not None
        assert [b.label for b in seen] == ["7H"]
        indices, _ = model_boxes(dataset, Path("none"), Terms.INDICES)
        found = indices(dataset.picture(1))
        assert found is not None
        assert len(found) >= 2


class OneRoundWatcher:
    """Gives made rounds at the end of the stream."""

    sample_every_s = 2.0

    def __init__(self, rounds: list[ObservedRound]) -> None:
        self.rounds = rounds

    def feed(self, frame: Frame) -> list[ObservedRound]:
        return []

    def finish(self) -> list[ObservedRound]:
        return self.rounds


def test_an_audit_keeps_candidates_for_a_harvest(
    video: Path, table: TableFile, write_table: Callable[[TableFile], Path], tmp_path: Path
) -> None:
    rounds = [observed_round(n, paid_cents=3000 if n == 2 else 2500) for n in (1, 2, 3)]
    out = tmp_path / "audit"
    summary = audit(
        video, write_table(table), out, make_watcher=lambda *_: OneRoundWatcher(rounds),
        candidates=4,
    )  # fmt: skip
    assert summary.alerts == 1
    lines = [json.loads(t) for t in (out / "candidates.jsonl").read_text().splitlines()]
    # Four of the least sure and the views behind the alert, some of them the same.
    assert 4 <= len(lines) <= 8
    assert {str(t["file"]) for t in lines} == {p.name for p in (out / "candidates").iterdir()}
    alerted = [t for t in lines if t["alerts"]]
    assert {t["round_id"] for t in alerted} == {"t1-000002"}
    assert len(alerted) == 4
    (out / "verdicts.jsonl").write_text(
        json.dumps({"alert_id": alerted[0]["alerts"][0], "verdict": "wrong", "by": "ann"}) + "\n"
    )
    taken = harvest([out], tmp_path / "d", overruled_only=True)
    assert (taken.added, taken.overruled) == (4, 4)
    with Dataset.open(tmp_path / "d") as dataset:
        (one, *_) = dataset.pictures()
        assert (one.width, one.height, one.source) == (96, 96, "table.mp4")
    # Without the option nothing is kept, and what an earlier run kept goes.
    audit(video, write_table(table), out, make_watcher=lambda *_: OneRoundWatcher(rounds))
    assert not (out / "candidates").exists()


def test_the_benchmark_measures_every_step() -> None:
    figures = bench_dataset(60, apart=False)
    assert set(figures["steps"]) == {"import", "check", "split", "check_again", "stats"}
    assert all(step["peak_mib"] > 0 for step in figures["steps"].values())
    assert not any(f["code"] == "near_duplicate" for f in figures["findings"])


def test_images_made_differ() -> None:
    assert np.frombuffer(picture_bytes(1), np.uint8).size > 100
    assert picture_bytes(1) != picture_bytes(2)


def test_an_import_without_cards_asks_nothing_about_cards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "what boxes of cards enclose was not detected"
    for label, asked in (("chip_stack", False), ("AS", True)):
        folder = tmp_path / label
        folder.mkdir()
        (folder / "a.png").write_bytes(picture_bytes(1))
        box = {"label": label, "xyxy": [2, 2, 20, 30]}
        entry = {"image": "a.png", "width": 64, "height": 48, "boxes": [box]}
        (folder / "labels.json").write_text(json.dumps([entry]))
        for more in (["--dry-run"], []):
            into = str(tmp_path / f"into-{label}")
            assert main(["dataset", "import", str(folder), "--into", into, "--quiet", *more]) == 0
            assert (said in capsys.readouterr().out) == asked


def test_export_help_lists_only_forms_that_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_dataset(tmp_path / "d").close()
    out = str(tmp_path / "out")
    given = ["dataset", "export", str(tmp_path / "d"), "--format", "labelme", "--out", out]
    assert main(given) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "'yolo', 'yolo-obb', 'yolo-seg', 'coco', 'voc', 'cvat'" in said
    assert "supervisely" not in said


def test_a_full_disk_is_reported_with_the_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", Format.COCO)

    def full(_path: Path, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    into = tmp_path / "b"
    assert main(["dataset", "import", str(tmp_path / "out"), "--into", str(into), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert f"{into}/pictures/" in said
    assert "No space left on device" in said
