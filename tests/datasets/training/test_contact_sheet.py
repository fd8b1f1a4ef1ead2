"""The contact sheet and the measurements of speed."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from benchmarks.render import bench_views
from datasets.render.camera import synthetic_camera
from datasets.render.cards.deck import draw_deck
from datasets.render.scene import ShiftPlan
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.filming.recording import write_video
from datasets.simulate.shift import default_rules
from datasets.training.contact_sheet import CELLS, COLUMNS, contact_sheet, find_photos, square
from settlement.errors import FeltwatchError
from surveillance.cli import main
from vision.geometry.standard_layout import FELT, standard_table


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """24 plain images and a file that is none."""
    folder = tmp_path / "photos"
    (folder / "deep").mkdir(parents=True)
    for k in range(CELLS):
        image = np.full((30, 40 + k, 3), (0, 255, 10 * k), np.uint8)
        cv2.imwrite(str(folder / ("deep" if k % 2 else ".") / f"{k:02d}.png"), image)
    (folder / "readme.txt").write_text("no picture")
    return folder


@pytest.mark.render
def test_rendered_views_stand_at_the_left_and_photographs_at_the_right(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheet.png"
    assert contact_sheet(photos, out, seed=3, side=60) == out
    sheet = cv2.imread(str(out))
    assert sheet is not None
    rows = CELLS // COLUMNS
    assert sheet.shape[0] == rows * 60
    right = sheet[:, -COLUMNS * 60 :]
    green = (right[..., 1] == 255) & (right[..., 0] == 0)
    assert 0.3 < green.mean() < 0.95
    reds = {tuple(right[30 + 60 * r, 30 + 60 * c].tolist()) for r in range(rows) for c in range(4)}
    assert len(reds) == CELLS, "every photograph once"
    left = sheet[:, : COLUMNS * 60]
    cells = {left[60 * r : 60 * r + 60, 60 * c : 60 * c + 60].tobytes()
             for r in range(rows) for c in range(4)}  # fmt: skip
    assert len(cells) == CELLS
    assert main(["dataset", "sheet", str(photos), "--out", str(tmp_path / "b.jpg")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "b.jpg")


def test_what_is_wrong_is_named(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="no such folder of photographs"):
        contact_sheet(tmp_path / "none", tmp_path / "a.png")
    (photos / "00.png").unlink()
    with pytest.raises(FeltwatchError, match="24 photographs are needed, found 23"):
        contact_sheet(photos, tmp_path / "a.png")
    (photos / "00.png").write_bytes(b"no picture")
    with pytest.raises(FeltwatchError, match="cannot be read as an image"):
        contact_sheet(photos, tmp_path / "a.png")
    assert len(find_photos(photos, 5)) == 5
    assert find_photos(photos, 5, 2) != find_photos(photos, 5, 3)


def test_an_image_is_fitted_whole_into_its_cell() -> None:
    cell = square(np.full((20, 80, 3), 200, np.uint8), 40)
    assert cell.shape == (40, 40, 3)
    assert (cell[15:25] == 200).all()
    assert (cell[:14] == 40).all()


def test_views_are_measured() -> None:
    figures = bench_views(4, size=96, workers=1)
    assert figures["views"] == 4
    assert figures["views_per_s"] > 0


def test_a_recording_is_written_and_reads_back(tmp_path: Path) -> None:
    table = standard_table(default_rules(), seats=2)
    camera = synthetic_camera(FELT, width_px=320, height_px=182, tilt_deg=30)
    film = Film(table, camera, draw_deck(), Look.draw(np.random.default_rng(2)),
                np.random.default_rng(3))  # fmt: skip
    progress: list[float] = []
    path = tmp_path / "a.mp4"
    write_video(film, ShiftPlan(0.8, (), (), ()), path, fps=5, progress=progress.append)
    assert progress[-1] == 1.0
    with av.open(str(path)) as container:
        frames = [f.to_ndarray(format="bgr24") for f in container.decode(video=0)]
    assert len(frames) == 4
    assert frames[0].shape == (182, 320, 3)
    assert np.abs(frames[0].astype(int) - film.bgr()).mean() < 12
    with pytest.raises(FeltwatchError, match="codec 'mpeg9' is not known"):
        write_video(film, ShiftPlan(0.2, (), (), ()), path, codec="mpeg9")
    odd = synthetic_camera(FELT, width_px=321, height_px=182, tilt_deg=30)
    with pytest.raises(ValueError, match="must be even both ways"):
        Film(table, odd, draw_deck(), Look.draw(np.random.default_rng(2)), np.random.default_rng(3))
