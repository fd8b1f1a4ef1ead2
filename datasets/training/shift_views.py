"""Views cut out of a simulated recording as the audit cuts them, with the labels of its truth.

They are written in the form of a rendered set (`datasets.training.training_set`) with the split
'val', so that what checks a model reads both alike:

    images/val/SHIFT-0007.jpg   labels/val/SHIFT-0007.txt   boxes/val/SHIFT.jsonl
    crops/val/SHIFT.npy         crops/val/SHIFT-labels.npy
    meta.jsonl   recipe.json   data.yaml

`boxes` hold what the YOLO labels cannot, a stack's `colours` too; `meta.jsonl` holds of each
image the shift, deck, camera seed, seat (null: the dealer's view), the second and whether
the view was at rest. Several shifts may be cut into one folder, each under its own name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from datasets.render.cards.deck import Picture
from datasets.simulate.filming.truth_frames import read_frames
from datasets.training.shift_labels import boxes_in_view, tray_in_view, view_crops
from datasets.training.shift_moments import Moment, choose_moments
from datasets.training.training_set import CROP_PX, _yolo_line
from datasets.training.views import CLASSES
from settlement.errors import FeltwatchError
from settlement.input_file import read_json
from vision.geometry.calibration import Calibration
from vision.geometry.table import load_table

FORM = 1
"""Goes up when the same recording gives other images or labels than before."""

QUALITY = 94
DEALER = 0

RECIPE_KEYS = (
    "seed", "rounds", "game", "pace", "dealers", "fps", "size", "camera_seed", "distortion",
    "codec", "crf", "preset", "faults", "events", "version",
)  # fmt: skip
"""Keys copied from a shift's recipe; a deck only by its name, without its folder."""


@dataclass(frozen=True, slots=True)
class CutWishes:
    """How a recording is cut; the same wishes give the same images.

    `every_s` is the step at which the shift is sampled, `most` the most images, `size`
    a view's side in px, `shift` the name of the shift in the set (its folder's by default).
    """

    every_s: float = 0.2
    most: int | None = None
    seed: int = 0
    size: int = 640
    shift: str | None = None


def cut_views(
    video: Path,
    table_file: Path,
    truth: Path,
    out: Path,
    wishes: CutWishes | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Cut the seats' and the dealer's views of a recording into `out`; how many there are.

    `truth` is the recording's `frames.jsonl.gz`; a `recipe.json` beside it holds deck and
    camera. Raises FeltwatchError when a file is missing or does not belong to the others,
    when nothing is there to cut, and when `out` holds this shift already or another form.
    """
    wishes = wishes or CutWishes()
    table = load_table(table_file)
    if table.camera is None:
        raise FeltwatchError(f"{table_file}: has no [camera]; views cannot be cut without it")
    calibration = Calibration.fit(table.camera)
    places = {DEALER: table.dealer.place} | {seat.seat: seat.place for seat in table.seats}
    shift = shift_name(wishes.shift or truth.resolve().parent.name)
    if (out / "boxes" / "val" / f"{shift}.jsonl").exists():
        raise FeltwatchError(f"{out}: holds views of the shift {shift!r} already; name it --shift")
    recipe = _recipe(out, wishes)
    chosen = choose_moments(
        truth_lines(truth), calibration, places, every_s=wishes.every_s, most=wishes.most,
        seed=wishes.seed,
    )  # fmt: skip
    if not chosen:
        raise FeltwatchError(f"{truth}: nothing comes to rest in it; is it this table's?")
    made = _shift_recipe(truth)
    for part in ("images", "labels", "boxes", "crops"):
        (out / part / "val").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([wishes.seed, 62])
    listed: list[str] = []
    meta: list[str] = []
    crops: list[Picture] = []
    classes: list[int] = []
    for frame, objects, moment in moment_pictures(video, truth, chosen):
        place = places[moment.seat]
        view = calibration.warp_view(frame, place, wishes.size)
        seen = boxes_in_view(objects, calibration, place, wishes.size)
        name = f"{shift}-{len(listed):04d}"
        _write_image(out / "images" / "val" / f"{name}.jpg", view)
        lines = [_yolo_line(s.box.kind, s.box.xyxy, wishes.size) for s in seen if s.labelled]
        (out / "labels" / "val" / f"{name}.txt").write_text(
            "".join(line + "\n" for line in lines), encoding="ascii"
        )
        tray = tray_in_view(table, place, wishes.size)
        boxes = [one.as_dict() for one in (*seen, *([] if tray is None else [tray]))]
        listed.append(json.dumps({"image": f"{name}.jpg", "scene": "table", "boxes": boxes}))
        meta.append(json.dumps({
            "image": f"{name}.jpg", "shift": shift, "deck": made["deck"],
            "camera_seed": made["camera_seed"], "seat": moment.seat or None,
            "t_s": round(moment.t_s, 3), "moment": moment.kind,
            "resting": moment.kind != "motion",
        }))  # fmt: skip
        for crop, label in view_crops(rng, frame, calibration, place, seen, wishes.size):
            crops.append(crop)
            classes.append(label)
        if progress:
            progress(len(listed) / len(chosen))
    stacked = np.stack(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8)
    np.save(out / "crops" / "val" / f"{shift}.npy", stacked)
    np.save(out / "crops" / "val" / f"{shift}-labels.npy", np.asarray(classes, np.int16))
    with (out / "meta.jsonl").open("a", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in meta))
    recipe["shifts"][shift] = made | {"views": len(listed), "cut": _cut(wishes)}
    recipe["views"] = sum(one["views"] for one in recipe["shifts"].values())
    recipe["decks"] = sorted({one["deck"] for one in recipe["shifts"].values()})
    (out / "recipe.json").write_text(json.dumps(recipe, indent=1) + "\n", encoding="utf-8")
    names = "\n".join(f"  {i}: {name}" for i, name in enumerate(CLASSES))
    (out / "data.yaml").write_text(
        f"train: images/val\nval: images/val\nnames:\n{names}\n", encoding="utf-8"
    )
    # Written last: a shift that has it is whole.
    (out / "boxes" / "val" / f"{shift}.jsonl").write_text(
        "".join(line + "\n" for line in listed), encoding="ascii"
    )
    return len(listed)


def _write_image(path: Path, view: Picture) -> None:
    if not cv2.imwrite(str(path), view, [cv2.IMWRITE_JPEG_QUALITY, QUALITY]):
        raise FeltwatchError(f"{path}: cannot be written")


def truth_lines(truth: Path) -> Iterator[dict[str, Any]]:
    """The lines of a truth file; raises FeltwatchError naming it when it cannot be read."""
    try:
        yield from read_frames(truth)
    except (OSError, EOFError) as error:
        raise FeltwatchError(
            f"{truth}: cannot be read ({error}); 'feltwatch simulate --frames-truth' writes it"
        ) from error
    except (ValueError, KeyError) as error:
        raise FeltwatchError(f"{truth}: is no truth of a recording's frames") from error


def moment_pictures(
    video: Path, truth: Path, chosen: Sequence[Moment]
) -> Iterator[tuple[Picture, list[dict[str, Any]], Moment]]:
    """The chosen moments with the whole image (h, w, 3) BGR and the truth of it.

    Raises FeltwatchError where the recording cannot be read or is not the truth's.
    """
    by_pts: dict[int, list[Moment]] = {}
    for moment in chosen:
        by_pts.setdefault(moment.pts, []).append(moment)
    wanted = (line for line in truth_lines(truth) if line["pts"] in by_pts)
    line = next(wanted, None)
    try:
        with av.open(str(video)) as container:
            base = container.streams.video[0].time_base or Fraction(1)
            step = 1 / (container.streams.video[0].average_rate or Fraction(25))
            for frame in container.decode(video=0):
                if line is None:
                    return
                if float((frame.pts or 0) * base) < float(line["t_s"]) - float(step) / 2:
                    continue
                image = np.asarray(frame.reformat(format="bgr24").to_ndarray(), np.uint8)
                for moment in by_pts[line["pts"]]:
                    yield image, line["objects"], moment
                line = next(wanted, None)
    except av.FFmpegError as error:
        raise FeltwatchError(f"{video}: cannot be read ({error.strerror or error})") from error
    if line is not None:
        raise FeltwatchError(
            f"{video}: ends before second {line['t_s']:g} of {truth.name}; it is another recording"
        )


def shift_name(wanted: str) -> str:
    """A shift's name fit for file names; what follows a '-' there is the image's number."""
    return re.sub(r"\W", "_", wanted, flags=re.ASCII) or "shift"


def _cut(wishes: CutWishes) -> dict[str, Any]:
    return {"every_s": wishes.every_s, "most": wishes.most, "seed": wishes.seed}


def _recipe(out: Path, wishes: CutWishes) -> dict[str, Any]:
    """The set's recipe so far; raises FeltwatchError for a folder of another kind."""
    start = {"views": 0, "seed": wishes.seed, "size": wishes.size, "decks": [], "fonts": 0,
             "look": f"shift-{FORM}", "shifts": {}}  # fmt: skip
    path = out / "recipe.json"
    if not path.exists():
        return start
    data = read_json(path)
    if not isinstance(data, dict) or any(
        data.get(key) != start[key] for key in ("size", "look", "fonts")
    ):
        raise FeltwatchError(f"{out}: holds a set of another recipe or size; choose another folder")
    return data


def _shift_recipe(truth: Path) -> dict[str, Any]:
    """The recipe beside the truth, decks by their names; empty without one."""
    path = truth.with_name(truth.name.replace("frames", "recipe", 1).removesuffix("l.gz"))
    data: dict[str, Any] = {}
    if path.is_file():
        data = read_json(path)
    made = {key: data[key] for key in RECIPE_KEYS if key in data}
    made["deck"] = Path(data["deck"]).name if data.get("deck") else "usual"
    if made.get("camera_seed") is None:
        made["camera_seed"] = data.get("seed")
    return made
