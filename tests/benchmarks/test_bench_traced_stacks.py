"""The judge of the stack reader by a path tracer: its truth, its scoring and what it needs."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.traced_stacks.__main__ import main
from benchmarks.traced_stacks.blender import without_holes
from benchmarks.traced_stacks.film import last_frame, write_film
from benchmarks.traced_stacks.scene import MORE_STYLES, hidden_share, traced_table
from benchmarks.traced_stacks.score import ENROLLED, PICKED, View, calibrated, score
from benchmarks.traced_stacks.strips import PER_SHARD, write_strips
from benchmarks.traced_stacks.textures import rim
from benchmarks.traced_stacks.truth import (
    TracedCamera,
    TracedGroup,
    TracedStack,
    TracedTable,
    read_truth,
)
from datasets.training.sides.shards import read_shard, shards
from settlement.errors import FeltwatchError
from vision.chips.network_input.side_strip import BELOW_CHIPS, ROWS_PER_CHIP
from vision.chips.reading import ReadStack
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import ByteArray, Detections

ONE = TracedStack((0.0, 0.0), ("a", "a"), ((0.0, 0.0), (0.0, 0.0)), (0.0, 0.0), "upright", 0)


@pytest.fixture(scope="module")
def tables() -> list[TracedTable]:
    return [traced_table(11, number) for number in range(2)]


def marked(camera: TracedCamera) -> TracedCamera:
    px = np.array([(30.0, 30.0), (600.0, 40.0), (590.0, 330.0), (40.0, 320.0), (300.0, 180.0)])
    felt = camera.to_felt(px)
    return replace(
        camera, points=tuple(
            ((float(x), float(y)), (float(u), float(v)))
            for (x, y), (u, v) in zip(felt, px, strict=True)
        )
    )  # fmt: skip


@pytest.fixture
def tiny(tables: list[TracedTable]) -> TracedTable:
    """One kind of $5, four stacks of two chips in a row, seen by a small camera."""
    own = tables[0]
    kind = replace(own.kinds[0], name="a", value_cents=500, style="spots", spots=4)
    camera = marked(TracedCamera((0.0, 1600.0, 2600.0), (0.0, 0.0), 0.0, 700.0, 640, 360))
    stacks = tuple(replace(ONE, base_mm=(60.0 * k - 90, 0.0), px_per_chip=3.0) for k in range(4))
    six = replace(
        ONE, base_mm=(0.0, 150.0), chips=("a",) * 6, offsets_mm=((0.0, 0.0),) * 6,
        turns=(0.0,) * 6, group=1,
    )  # fmt: skip
    return replace(
        own, camera=camera, kinds=(kind,), groups=(TracedGroup((0.0, 0.0), 0.0, "BET", 0.0),),
        stacks=stacks, samples=(six,),
    )  # fmt: skip


def read_at(stack: TracedStack, cents: int, probability: float, off_mm: float = 3.0) -> ReadStack:
    x, y = stack.base_mm
    chips = (0,) * (cents // 500)
    sums = (Sum(cents, chips, probability), Sum(cents + 500, (*chips, 0), 1 - probability))
    return ReadStack(
        (x + off_mm, y), ("a",) * len(chips), (0.0, 0.0, 1.0, 1.0), Posterior(sums, 0.0, 24)
    )


def test_truth_is_read_as_written_and_its_marks_give_its_camera(
    tmp_path: Path, tables: list[TracedTable]
) -> None:
    for table in tables:
        table.write(tmp_path / "t.json")
        assert read_truth(tmp_path / "t.json") == table
        calibration = calibrated(table)
        for stack in (*table.stacks, *table.samples):
            for high in (0.0, len(stack.chips) * table.thickness_mm):
                true = table.camera.to_image(np.array([[*stack.base_mm, high]]))
                lifted = calibration.lift(np.array([stack.base_mm]), high)
                assert np.abs(calibration.felt_to_image(lifted) - true).max() < 1.0


def test_table_holds_what_the_judge_promises(tables: list[TracedTable]) -> None:
    for table in tables:
        assert 5 <= len(table.kinds) == len(table.samples) <= 8
        values = {kind.name: kind.value_cents for kind in table.kinds}
        for stack in table.stacks:
            cents = [values[chip] for chip in stack.chips]
            assert 1 <= len(cents) <= 22
            assert cents == sorted(cents, reverse=True)
            assert len(stack.offsets_mm) == len(stack.turns) == len(cents)
        px = table.camera.to_image(np.array([[*s.base_mm, 0.0] for s in table.stacks]))
        assert (px > 0).all()
        assert (px < [table.camera.width_px, table.camera.height_px]).all()


def test_other_forms_of_truth_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(ValueError, match=r"t\.json: not the truth"):
        read_truth(tmp_path / "t.json")


def test_a_stack_hides_what_stands_behind_it(tiny: TracedTable) -> None:
    tall = replace(ONE, chips=("a",) * 20, offsets_mm=((0.0, 0.0),) * 20, turns=(0.0,) * 20)
    behind = replace(ONE, base_mm=(0.0, -tiny.diameter_mm - 1))
    assert hidden_share(tiny, behind, [tall]) > 0.7
    assert hidden_share(tiny, tall, [behind]) == 0
    assert hidden_share(tiny, replace(behind, base_mm=(150.0, 0.0)), [tall]) == 0


def test_a_pixel_that_is_no_number_is_filled() -> None:
    light = np.full((6, 8, 3), 0.5, np.float32)
    light[2, 3], light[0, 0, 1] = np.nan, np.inf
    assert (without_holes(light) == 0.5).all()


def test_rim_has_its_spots(tiny: TracedTable) -> None:
    kind = replace(tiny.kinds[0], body=(0.01,) * 3, spot=(0.8,) * 3, spots=6)
    bright = rim(kind, np.random.default_rng(0))[8, :, 0] > 0.3
    assert (np.diff(bright.astype(int)) == 1).sum() == 6


def test_stacks_are_matched_and_counted(tmp_path: Path, tiny: TracedTable) -> None:
    frame = np.full((360, 640, 3), 90, np.uint8)
    write_film(tmp_path / "t.mp4", [frame, frame], 20)
    assert abs(last_frame(tmp_path / "t.mp4").astype(int) - 90).max() < 4
    tiny.write(tmp_path / "t.json")
    tiny.write(tmp_path / "without_a_film.json")

    def read(view: View) -> list[ReadStack]:
        first, second, third, _ = view.stacks
        if not view.palette.flags.all():
            return []
        stray = replace(first, base_mm=(0.0, -150.0))
        return [
            read_at(first, 1000, 0.999), read_at(second, 1500, 0.999), read_at(third, 1000, 0.6),
            read_at(stray, 500, 0.999), read_at(view.table.samples[0], 3000, 0.999),
        ]  # fmt: skip

    found = score(tmp_path, read)
    assert found["tables"] == 1
    own = found[ENROLLED]
    assert (own["right"], own["wrong"], own["undecided"], own["not_found"]) == (1, 1, 2, 1)
    assert (own["likeliest_right"], own["count_right"]) == (2, 2)
    assert (own["invented"], own["invented_sure"]) == (1, 1)
    assert own["by"]["px per chip"]["2.5-3.5"]["stacks"] == 4
    assert own["by"]["chips"] == {"1-2": own["by"]["posture"]["upright"]}
    assert found[PICKED]["not_found"] == 4


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="holds no traced tables"):
        score(tmp_path, lambda view: [])


def test_rendering_without_blender_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "bpy", None)
    out = tmp_path / "out"
    assert main(["render", "--out", str(out), "--tables", "1", "--seed", "1"]) == 1
    assert "pip install bpy==" in capsys.readouterr().err
    assert not out.exists()


def test_training_tables_are_fuller_and_leave_the_judges_tables_as_they_were() -> None:
    text = json.dumps([asdict(traced_table(11, number)) for number in range(3)])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "bcf9f7ec9c58d364"
    tables = [traced_table(11, number, training=True) for number in range(12)]
    assert {len(one.groups) for one in tables} == {5}
    kinds = [kind for one in tables for kind in one.kinds]
    assert set(MORE_STYLES) < {kind.style for kind in kinds}
    for style in MORE_STYLES:
        own = next(kind for kind in kinds if kind.style == style)
        plain = replace(own, style="plain", spots=0)
        changed = abs(rim(own, np.random.default_rng(0)) - rim(plain, np.random.default_rng(0)))
        assert 0.02 < (changed.max(axis=2) > 0.004).mean() < 0.98, style


class FindsNothing:
    """A detector to which every view is bare felt."""

    size = 320

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        return [Detections.empty(("chip",)) for _ in views]


def test_strips_of_painted_tables_carry_their_labels(tmp_path: Path, tiny: TracedTable) -> None:
    rng = np.random.default_rng(0)
    frame = rng.integers(0, 255, (360, 640, 3)).astype(np.uint8)
    for number in range(PER_SHARD + 1):
        tiny.write(tmp_path / f"12_{number:04d}.json")
        for take in ("", ".1"):
            write_film(tmp_path / f"12_{number:04d}{take}.mp4", [frame, frame], 20)
    assert write_strips(tmp_path, tmp_path / "out", FindsNothing()) == PER_SHARD * 2 * 5
    assert write_strips(tmp_path, tmp_path / "out", FindsNothing()) == 0
    (path,) = shards(tmp_path / "out" / "val")
    own = read_shard(path)
    assert own.count.tolist() == [2, 2, 2, 2, 6] * (PER_SHARD * 2)
    assert (own.colours >= 0).sum(axis=1).tolist() == own.count.tolist()
    assert own.table.tolist() == [n for n in range(PER_SHARD * 2) for _ in range(5)]
    assert own.samples.shape[0] == own.rgb.shape[0] == own.tops.shape[0] == PER_SHARD * 2
    assert (own.rgb[:, 0] >= 0).all()
    assert (own.rgb[:, 1:] == -1).all()
    # Bases are as wrong as a detector's: within a few chips along the line of sight.
    off = own.facts[:, 0] / ROWS_PER_CHIP - BELOW_CHIPS
    assert 0.2 < np.abs(off).mean() < 2.5
    assert own.strips[..., :3].std() > 10
