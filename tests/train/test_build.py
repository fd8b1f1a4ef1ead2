"""The whole recipe in one, on next to nothing: killed in every stage, it gives the same weights."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.render.cards.deck import draw_deck
from datasets.training.views import render_view
from models.data.provenance import read_object
from models.recipe import Build, build
from models.recipe_file import Photographs, Recipe, Training, read_recipe, scaled
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import load_card

ROOT = Path(__file__).parents[2]
WITHIN_S = 400
STAGES = {
    "views", "detector", "reader", "patches", "reader-patches", "sides", "sides-painted",
    "sides-beside", "strips", "strips-both", "export-rendered", "cut-phone",
    "detector-photographs", "reader-photographs", "export",
}  # fmt: skip

_BUILD = """
import sys
from pathlib import Path
import models.data.photo_crops
from models.recipe import Build, build
from models.recipe_file import Recipe
# A network that learned nothing gives no card a share.
models.data.photo_crops.CORNER_SHARE = models.data.photo_crops.CLEAR_LEAD = 0.0
if __name__ == "__main__":
    recipe = Recipe.model_validate_json(sys.argv[1])
    report = lambda text: print(text, flush=True)
    build(Build(recipe, Path(sys.argv[2]), device="cpu", report=report))
"""


def photographs(folder: Path) -> Path:
    """Eight rendered views in the form of labelled photographs, by their corners."""
    rng = np.random.default_rng(3)
    deck, labels = draw_deck(), []
    (folder / "images").mkdir(parents=True)
    for n in range(8):
        view = render_view(rng, [deck], size=256)
        name = f"IMG_20260101_1{n}0000.jpg"
        cv2.imwrite(str(folder / "images" / name), view.image)
        boxes = [
            {"label": b.card, "xyxy": list(b.xyxy), "kind": "corner"} for b in view.boxes if b.card
        ]
        labels.append({"image": f"images/{name}", "width": 256, "height": 256, "boxes": boxes})
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    return folder


def small(phone: Path) -> Recipe:
    """The recipe that comes along, of 20 views and two steps, with photographs."""
    made = scaled(read_recipe(), views=20, steps=2)

    def fewer(one: Training) -> Training:
        return one.model_copy(update={"batch": 16})

    sets = (Photographs(folder=phone, after="15:00"),)
    return made.model_copy(update={
        "size": 64, "int8": False, "detector": fewer(made.detector), "reader": fewer(made.reader),
        "patches": made.patches.model_copy(
            update={"count": 40, "pool": 60, "training": fewer(made.patches.training)}
        ),
        "strips": made.strips.model_copy(
            update={"count": 48, "training": fewer(made.strips.training)}
        ),
        "photographs": made.photographs.model_copy(update={
            "sets": sets, "weight": 2, "reader": fewer(made.photographs.reader),
        }),
    })  # fmt: skip


class Run:
    """Builds of one recipe in one folder, as processes that can be killed."""

    def __init__(self, recipe: Recipe, out: Path) -> None:
        self.recipe, self.out = recipe, out
        out.parent.mkdir(parents=True, exist_ok=True)

    def start(self) -> subprocess.Popen[str]:
        script, log = self.out.parent / "build.py", self.out.parent / "log.txt"
        script.write_text(_BUILD, encoding="utf-8")
        with log.open("a") as errors:
            return subprocess.Popen(
                [sys.executable, str(script), self.recipe.model_dump_json(), str(self.out)],
                cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
                env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            )  # fmt: skip

    def finish(self) -> None:
        process = self.start()
        process.communicate(timeout=WITHIN_S)
        assert process.returncode == 0, (self.out.parent / "log.txt").read_text()[-3000:]

    def notes(self, key: str) -> dict[str, object]:
        """What each stage noted, by stage."""
        found = sorted((self.out / "stages").glob("*.json"))
        return {path.stem: read_object(path)[key] for path in found}

    def kill_in(self, stage: str, after_s: float) -> bool:
        """Start, and kill -9 so long after a stage began; whether it was cut short."""
        process = self.start()
        assert process.stdout is not None
        for line in process.stdout:
            if line.split() == ["stage", stage]:
                break
        time.sleep(after_s)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        return stage not in self.notes("sha256")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A build that nobody stopped."""
    folder = tmp_path_factory.mktemp("whole")
    run = Run(small(photographs(folder / "phone")), folder / "made" / "build")
    run.finish()
    return run


def test_the_card_names_what_the_weights_came_from(whole: Run) -> None:
    alone, card = (load_card(whole.out / name) for name in ("rendered-weights", "weights"))
    assert alone["data"]["photographs"] == []
    for one in (alone, card):
        assert one["models"]["detector"]["training"]["form"] == "slim"
    assert [one["name"] for one in card["data"]["photographs"]] == ["phone"]
    cut = {p.name for p in (whole.out / "cut" / "phone" / "images").glob("*.jpg")}
    assert cut
    assert not any("_15" in name or "_16" in name or "_17" in name for name in cut)
    chains = {part: own["chain"] for part, own in card["models"].items()}
    assert {part: len(chain) for part, chain in chains.items()} == {
        "detector": 2, "reader": 3, "strips": 2,
    }  # fmt: skip
    assert chains["detector"][:1] == alone["models"]["detector"]["chain"]
    assert [set(one["data_sha256"]) for one in chains["reader"]] == [
        {"set"}, {"patches"}, {"patches", "phone"},
    ]  # fmt: skip
    assert set(chains["strips"][1]["data_sha256"]) == {"sides-beside", "sides-painted"}
    for chain in chains.values():
        assert all(one["steps"] == 2 and one["seed"] == 1 for one in chain)


def test_what_is_done_stays_and_another_recipe_is_refused(whole: Run) -> None:
    made = [p for p in whole.out.rglob("*") if p.suffix in (".pt", ".onnx", ".npz", ".jpg")]
    before = {p: p.stat().st_mtime_ns for p in made}
    plan = Build(whole.recipe, whole.out, device="cpu")
    assert build(plan) == whole.out / "weights"
    assert {p: p.stat().st_mtime_ns for p in made} == before
    with (whole.out / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(FeltwatchError, match="another build runs in it"):
            build(plan)
    other = whole.recipe.model_copy(update={"seed": 2})
    with pytest.raises(FeltwatchError, match="begun with another recipe"):
        build(replace(plan, recipe=other))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_in_every_stage_it_gives_the_same_weights(whole: Run, tmp_path: Path) -> None:
    wanted, seconds = whole.notes("sha256"), whole.notes("seconds")
    assert set(wanted) == STAGES
    broken = Run(whole.recipe, tmp_path / "made" / "build")
    # In the order in which they ran.
    order = sorted(wanted, key=lambda name: (whole.out / "stages" / f"{name}.json").stat().st_mtime)
    cut_short = [stage for stage in order if broken.kill_in(stage, float(str(seconds[stage])) / 4)]
    broken.finish()
    assert cut_short == order
    assert broken.notes("sha256") == wanted
