"""Stacks cut out of a recording where a detector's boxes put them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models.data.shift_stacks
from datasets.training.shift_labels import boxes_in_view
from datasets.training.shift_moments import choose_moments
from datasets.training.shift_views import moment_pictures, truth_lines
from datasets.training.stack_strips import read_levels
from datasets.training.views import CLASSES
from models.data.crops import read_crops
from models.data.provenance import stack_data
from models.data.shift_stacks import cut_stacks, film_stacks, read_heights, stacks_in_view
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from tests.datasets.simulate.small_film import WISHES, small_film
from vision.chips.colour_network import load_level_reader
from vision.chips.network_input.count_crop import COUNT_NAMES, MOST_COUNTED
from vision.chips.network_input.level_windows import LEVEL_ROWS
from vision.chips.reading import COUNT_OFFS_MM
from vision.detect.detections import Detections
from vision.geometry.calibration import Calibration
from vision.geometry.table import load_table

pytestmark = pytest.mark.render

SIZE = 640


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_film(tmp_path_factory.mktemp("film") / "night")


def found_at(boxes: Sequence[tuple[float, ...]]) -> Detections:
    chip = CLASSES.index("chip")
    return Detections(
        np.array(boxes, np.float32).reshape(-1, 4), np.full(len(boxes), 0.9, np.float32),
        np.full(len(boxes), chip, np.int64), CLASSES,
    )  # fmt: skip


class Knowing:
    """A detector that is told the truth's boxes of each view, in order."""

    size = SIZE

    def __init__(self, film: Path) -> None:
        self.boxes = [list(boxes) for boxes in _true_stacks(film)]

    def find(self, views: Sequence[np.ndarray]) -> list[Detections]:
        return [found_at(self.boxes.pop(0)) for _ in views]


def _true_stacks(film: Path) -> list[list[tuple[float, ...]]]:
    """The boxes of the stacks in the resting views that have any."""
    table = load_table(film / "table.toml")
    assert table.camera is not None
    calibration = Calibration.fit(table.camera)
    places = {0: table.dealer.place} | {seat.seat: seat.place for seat in table.seats}
    truth = film / "frames.jsonl.gz"
    moments = choose_moments(truth_lines(truth), calibration, places)
    rests = [m for m in moments if m.kind == "rest"]
    out: list[list[tuple[float, ...]]] = []
    for _, objects, moment in moment_pictures(film / "video.mp4", truth, rests):
        seen = boxes_in_view(objects, calibration, places[moment.seat], SIZE)
        own = [one.box.xyxy for one in seen if one.colours]
        if own:
            out.append([tuple(xyxy) for xyxy in own])
    return out


def cut(film: Path, out: Path, detector: Any) -> int:
    video, table, truth = (film / name for name in ("video.mp4", "table.toml", "frames.jsonl.gz"))
    return cut_stacks(video, table, truth, out, detector)


def test_a_stack_is_cut_with_its_count_and_its_height(film: Path, tmp_path: Path) -> None:
    views = len(_true_stacks(film))
    assert cut(film, tmp_path, Knowing(film)) == views == 2
    (file,) = read_crops(tmp_path, len(COUNT_NAMES))
    assert file.crops.shape == (views * len(COUNT_OFFS_MM), 64, 64, 3)
    assert [COUNT_NAMES[n] for n in file.labels] == ["3"] * len(file.labels)
    heights = read_heights(tmp_path)
    counted = heights[:, 0] / heights[:, 1]
    assert np.abs(counted - 3).max() < 0.8
    # Two reds below a green: the crop's lower side is red, whatever the camera.
    crop = np.asarray(file.crops[1], np.int64)
    red = (crop[..., 2] > crop[..., 0] + 40) & (crop[..., 2] > crop[..., 1] + 40)
    green = (crop[..., 1] > crop[..., 0] + 20) & (crop[..., 1] > crop[..., 2] + 20)
    assert red.sum() > 60
    assert green.sum() > 100
    assert np.nonzero(red)[0].mean() > np.nonzero(green)[0].mean()


def test_the_levels_of_a_stack_are_cut_with_their_colours(tmp_path: Path) -> None:
    film = small_film(tmp_path / "night", replace(WISHES, size=(2560, 1440)))
    cut(film, tmp_path / "cut", Knowing(film))
    levels = read_levels(tmp_path / "cut")
    table = load_table(film / "table.toml")
    names = [*table.chips, "none"]
    told = [names[place] for place in levels.colours]
    assert set(told) == {"red", "green", "none"}
    assert told.count("red") > told.count("green") > 10
    rgb = [list(kind.rgb) for kind in table.chips.values()]
    assert levels.palettes[0].tolist() == rgb
    # A window's second quarter is its own level; the shipped network knows what it shows, most
    # times even at two thirds of the resolution it is made for. (At a third of it what it knows
    # depends on the fonts of the machine, with which the scene is drawn.)
    own = levels.windows[:, LEVEL_ROWS : 2 * LEVEL_ROWS, 8:16, :3].astype(int).mean(axis=(1, 2))
    is_red = np.array([name == "red" for name in told])
    redder = own[:, 2] - own[:, 1]
    assert np.median(redder[is_red]) > 10 > -20 > np.median(redder[np.array(told) == "green"])
    palette = np.asarray(rgb, np.float32)
    read = load_level_reader(default_weights(), 1).read(levels.windows, palette)
    chip = levels.colours >= 0
    assert (read[chip, :-1].argmax(axis=1) == levels.colours[chip]).mean() > 0.8


def test_a_box_that_is_not_at_the_stack_gives_no_crop(film: Path) -> None:
    table = load_table(film / "table.toml")
    assert table.camera is not None
    calibration = Calibration.fit(table.camera)
    truth = film / "frames.jsonl.gz"
    place = table.seat(1).place
    moments = choose_moments(truth_lines(truth), calibration, {1: place})
    rests = [m for m in moments if m.kind == "rest"][:1]
    ((frame, objects, _),) = moment_pictures(film / "video.mp4", truth, rests)
    seen = boxes_in_view(objects, calibration, place, SIZE)
    (box,) = [one.box.xyxy for one in seen if one.colours]
    wide = box[2] - box[0]
    for boxes, found in (
        ([], 0),
        ([(box[0] + wide, box[1], box[2] + wide, box[3])], 0),
        ([box, (box[0] - 4, box[1] - 4, box[2], box[3])], 1),
    ):
        cuts = stacks_in_view(frame, calibration, place, seen, found_at(boxes), SIZE, table.chips)
        assert len(cuts) == found
    assert cuts[0].count == 3
    assert cuts[0].visible > 0.9


def test_nothing_found_is_said(film: Path, tmp_path: Path) -> None:
    class Blind:
        size = SIZE

        def find(self, views: list[np.ndarray]) -> list[Detections]:
            return [Detections.empty(CLASSES) for _ in views]

    with pytest.raises(FeltwatchError, match="no stack that its truth knows"):
        cut(film, tmp_path / "out", Blind())
    assert not (tmp_path / "out").exists()


def test_filming_goes_on_where_it_stopped(
    film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filmed = []

    def copied(place: Path, number: int, seed: int) -> None:
        filmed.append((number, seed))
        for path in film.iterdir():
            (place / path.name).write_bytes(path.read_bytes())

    monkeypatch.setattr(models.data.shift_stacks, "_film", copied)
    out = tmp_path / "stacks"

    class Again(Knowing):
        def find(self, views: Sequence[np.ndarray]) -> list[Detections]:
            self.boxes = self.boxes or [list(boxes) for boxes in _true_stacks(film)]
            return super().find(views)

    crops = film_stacks(out, 3, Again(film), seed=40)
    assert crops == 3 * 2 * len(COUNT_OFFS_MM)
    (out / "train" / "s1-labels.npy").unlink()
    assert film_stacks(out, 4, Again(film), seed=40) == 4 * 2 * len(COUNT_OFFS_MM)
    assert filmed == [(0, 40), (1, 41), (2, 42), (1, 41), (3, 43)]
    assert {path.parent.name for path in out.glob("*/*3*-labels.npy")} == {"val"}
    told = stack_data(out)
    assert (told.seed, told.shifts, told.crops) == (40, 4, 3 * 2 * len(COUNT_OFFS_MM))
    with pytest.raises(FeltwatchError, match="another seed"):
        film_stacks(out, 4, Again(film), seed=41)
    assert json.loads((out / "recipe.json").read_text())["seed"] == 40
    assert MOST_COUNTED > 3
