from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from datasets.camera import synthetic_camera, table_camera
from datasets.faults import FaultPlan
from datasets.play import plan_shift
from datasets.simulate import default_rules, simulate, write_table
from settlement.errors import FeltwatchError
from settlement.record import read_rounds
from settlement.settle import settle
from vision.calibration import Calibration
from vision.layout import FELT, standard_table
from vision.print_check import FELT_MATCH_MIN, felt_match
from vision.sources import FileSource
from vision.table import load_table

WISHES: dict[str, Any] = {
    "seed": 3, "rounds": 1, "faults": FaultPlan(), "seats": 2, "fps": 3, "size": (640, 360),
    "preset": "ultrafast",
}  # fmt: skip


@pytest.fixture(scope="module")
def shift(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    out = tmp_path_factory.mktemp("shift") / "new" / "folder"
    told: list[float] = []
    simulate(out, progress=told.append, **WISHES)
    return out, told


def test_a_shift_is_four_files(shift: tuple[Path, list[float]]) -> None:
    out, told = shift
    names = {p.name for p in out.iterdir()}
    assert names == {"video.mp4", "table.toml", "truth.jsonl", "recipe.json"}
    assert told[-1] == 1.0
    assert told == sorted(told)


def test_the_truth_is_that_of_the_plan(shift: tuple[Path, list[float]]) -> None:
    out, _ = shift
    table = load_table(out / "table.toml")
    plan = plan_shift(table, seed=3, rounds=1, faults=FaultPlan(), pace=0.35)
    rounds = read_rounds(out / "truth.jsonl")
    assert tuple(rounds) == plan.rounds
    assert rounds[0].dealer.high is not None
    assert settle(rounds[0], table.rules).seats
    recipe = json.loads((out / "recipe.json").read_text(encoding="utf-8"))
    assert recipe["duration_s"] == plan.duration_s
    assert (recipe["seed"], recipe["size"], recipe["codec"]) == (3, [640, 360], "h264")


def test_the_video_lasts_as_long_as_the_shift_and_shows_the_table(
    shift: tuple[Path, list[float]],
) -> None:
    out, _ = shift
    table = load_table(out / "table.toml")
    wanted = json.loads((out / "recipe.json").read_text(encoding="utf-8"))["duration_s"]
    with av.open(str(out / "video.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (640, 360)
        assert stream.average_rate == 3
        assert stream.frames == round(wanted * 3)
        assert stream.duration is not None
        assert stream.time_base is not None
        assert float(stream.duration * stream.time_base) == pytest.approx(wanted, abs=0.5)
    with FileSource(out / "video.mp4") as source:
        frame = next(iter(source.frames()))
        assert frame.at_s == Fraction(0)
        assert table.camera is not None
        calibration = Calibration.fit(table.camera)
        assert felt_match(frame.luma, table, calibration) > FELT_MATCH_MIN


def test_a_table_file_written_is_read_back_equal(tmp_path: Path) -> None:
    table = standard_table(default_rules(), seats=3)
    camera = synthetic_camera(FELT, width_px=1280, height_px=720)
    whole = table.model_copy(update={"camera": table_camera(camera, table, 0.4, 9)})
    for name, own in (("bare.toml", table), ("with_camera.toml", whole)):
        write_table(own, tmp_path / name)
        assert load_table(tmp_path / name) == own


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    out = tmp_path / "file" / "shift"
    with pytest.raises(FeltwatchError, match=f"^{out}: Not a directory$"):
        simulate(out, **WISHES)


def test_a_video_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "video.partial.mp4").mkdir()
    (tmp_path / "video.partial.mp4" / "kept").touch()
    monkeypatch.setattr("datasets.simulate.Film", lambda table, camera, *_: _Broken(camera))
    with pytest.raises(FeltwatchError, match=f"^{tmp_path}: "):
        simulate(tmp_path, **WISHES)


class _Broken:
    """A film that tears after two pictures."""

    def __init__(self, camera: Any) -> None:
        self.camera = camera

    def frames(self, plan: Any, fps: int) -> Iterator[tuple[float, Any]]:
        for k in range(2):
            yield k / fps, np.zeros((540, 640), np.uint8)
        raise MemoryError


def test_a_run_cut_short_leaves_no_video(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.simulate.Film", lambda table, camera, *_: _Broken(camera))
    with pytest.raises(MemoryError):
        simulate(tmp_path, **WISHES)
    assert list(tmp_path.iterdir()) == []


def test_a_codec_that_is_not_known_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.simulate.Film", lambda table, camera, *_: _Broken(camera))
    with pytest.raises(FeltwatchError, match="codec 'vp8' is not known: 'h264' or 'hevc'"):
        simulate(tmp_path, codec="vp8", **WISHES)


def test_a_deck_that_cannot_be_read_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="no such folder of card faces"):
        simulate(tmp_path / "out", deck=tmp_path / "faces", **WISHES)
    assert not (tmp_path / "out").exists()


def test_the_film_takes_the_camera_of_the_table_file(shift: tuple[Path, list[float]]) -> None:
    """The marks in the table file are those of the camera that filmed, up to a hand's error."""
    table = load_table(shift[0] / "table.toml")
    assert table.camera is not None
    fitted = Calibration.fit(table.camera)
    assert fitted.rms_px < 1.0
    assert (fitted.width_px, fitted.height_px) == (640, 360)
