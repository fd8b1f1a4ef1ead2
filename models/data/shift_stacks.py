"""Crops of chip stacks out of simulated recordings, cut where the detector's boxes put them.

A rendered crop knows where its stack stands; the product only knows the box that the
detector found, with that detector's own error, in a picture that went through the codec.
Crops cut as the product cuts them teach the stack reader, and tell how far the box's
height is to be trusted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from datasets.simulate.shift import Wishes, simulate
from datasets.training.shift_labels import SeenBox, boxes_in_view
from datasets.training.shift_moments import choose_moments
from datasets.training.shift_views import DEALER, moment_pictures, shift_name, truth_lines
from datasets.training.stack_strips import (
    BASE_OFF_CHIPS,
    MARK,
    LevelSet,
    joined,
    level_labels,
    save_levels,
)
from models.metrics import overlaps
from settlement.errors import FeltwatchError
from vision.chips.base_fit import fit_base, gradients
from vision.chips.network_input.count_crop import MOST_COUNTED, FoundStack
from vision.chips.network_input.level_windows import level_windows
from vision.chips.network_input.patch import cut_patch, silhouette
from vision.chips.reading import BASE_SLIPS_MM, COUNT_OFFS_MM, COVER_MM, TOP_TRUST, stack_reach
from vision.detect.detections import ByteArray, Detections
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, ChipKind, FloatArray, Place, load_table

HEIGHTS = "-heights"
LEAST_VISIBLE = 0.4
LEAST_OVERLAP = 0.5

GAMES = (
    "emperors_challenge_exposed", "emperors_challenge_exposed", "pai_gow_poker",
    "emperors_challenge_exposed", "imperial_pai_gow_draw",
)  # fmt: skip
CODINGS = ((22, "superfast"), (25, "veryfast"), (28, "superfast"), (31, "ultrafast"))
"""What the filmed shifts go through in turn: games, and quality with preset of the coder."""

HELD_EVERY = 4
"""Each fourth shift is kept for the held-out score."""

CAMERA_SEEDS = 500
"""A shift's camera seed is its own seed and this."""


@dataclass(frozen=True, slots=True, eq=False)
class StackCut:
    """One stack as found: crops uint8 (offsets, 64, 64, 3) about the box's base, its count,
    the height of its box and of one chip in mm on the felt, the share of it that is seen, and
    its levels where it is not too high for them."""

    crops: ByteArray
    count: int
    height_mm: float
    per_chip_mm: float
    visible: float
    levels: LevelSet | None = None


def film_stacks(
    out: Path,
    shifts: int,
    detector: SizedDetector,
    *,
    seed: int = 7000,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Film short shifts and cut their stacks into `out/train` and `out/val`; how many crops.

    Two rounds each, one picture a second, every table, camera and coding another; the
    recordings are not kept. Shifts that are cut already are passed over. Raises
    FeltwatchError where `out` was begun with another seed.
    """
    note = out / "recipe.json"
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")).get("seed") != seed:
        raise FeltwatchError(f"{out}: was begun with another seed; choose another folder")
    out.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"seed": seed, "shifts": shifts}) + "\n", encoding="utf-8")
    for n in range(shifts):
        split = out / ("val" if n % HELD_EVERY == HELD_EVERY - 1 else "train")
        if not (split / f"s{n}-labels.npy").is_file():
            with TemporaryDirectory(prefix="feltwatch-shift-") as place:
                _film(Path(place), n, seed + n)
                video, table, truth = (
                    Path(place) / f for f in ("video.mp4", "table.toml", "frames.jsonl.gz")
                )
                cut_stacks(video, table, truth, split, detector, shift=f"s{n}")
        if progress:
            progress((n + 1) / shifts)
    return sum(len(np.load(path)) for path in out.glob("*/*-labels.npy"))


def _film(place: Path, number: int, seed: int) -> None:
    quality, preset = CODINGS[number % len(CODINGS)]
    wishes = Wishes(
        seed=seed, rounds=2, game=GAMES[number % len(GAMES)], pace=0.15, fps=1,
        camera_seed=seed + CAMERA_SEEDS, crf=quality, preset=preset,
    )  # fmt: skip
    simulate(place, wishes, frames_truth=True)


def cut_stacks(
    video: Path,
    table_file: Path,
    truth: Path,
    out: Path,
    detector: SizedDetector,
    *,
    shift: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Cut the found stacks of a recording into `out` for the stack reader; how many stacks.

    `truth` is the recording's `frames.jsonl.gz`. Written are `SHIFT.npy`, three crops of each
    stack at `vision.chips.reading.COUNT_OFFS_MM`, `SHIFT-labels.npy` with places in COUNT_NAMES and
    `SHIFT-heights.npy` float32 (n, 3): box height mm, mm of one chip, visible share; and
    `SHIFT-levels.npz`, their levels with the colours (`datasets.training.stack_strips`). Raises
    FeltwatchError for a missing or foreign file, and where no stack is found.
    """
    table = load_table(table_file)
    if table.camera is None:
        raise FeltwatchError(f"{table_file}: has no [camera]; stacks cannot be cut without it")
    calibration = Calibration.fit(table.camera)
    places = {DEALER: table.dealer.place} | {seat.seat: seat.place for seat in table.seats}
    moments = choose_moments(truth_lines(truth), calibration, places)
    resting = [moment for moment in moments if moment.kind == "rest"]
    cuts: list[StackCut] = []
    for done, (frame, objects, moment) in enumerate(moment_pictures(video, truth, resting), 1):
        place = places[moment.seat]
        seen = boxes_in_view(objects, calibration, place, detector.size)
        if any(one.colours for one in seen):
            found = detector.find([calibration.warp_view(frame, place, detector.size)])[0]
            cuts += stacks_in_view(
                frame, calibration, place, seen, found, detector.size, table.chips
            )
        if progress:
            progress(done / len(resting))
    if not cuts:
        raise FeltwatchError(f"{video}: no stack that its truth knows was found in it")
    _write(out, shift_name(shift or truth.resolve().parent.name), cuts)
    return len(cuts)


def stacks_in_view(
    frame: ByteArray,
    calibration: Calibration,
    place: Place,
    seen: Iterable[SeenBox],
    found: Detections,
    size: int,
    palette: Mapping[str, ChipKind],
) -> list[StackCut]:
    """The stacks of a view that the detector found, cut as `vision.chips.reading` cuts them.

    `seen` is what the truth tells of the view, `found` the detector's boxes, both px of a
    view of `size` px, `palette` the table's chips. A stack is found by the box that overlaps
    its own most.
    """
    chips = found.of("chip")
    if not len(chips):
        return []
    out = []
    mm = VIEW_MM / size
    seen, foot = list(seen), np.asarray(calibration.foot_mm)
    standing = [(_stands(one, calibration, place, mm), one.colours) for one in seen if one.colours]
    for one in seen:
        if not one.colours or not one.labelled or one.box.visible < LEAST_VISIBLE:
            continue
        shared = overlaps(chips.xyxy, np.asarray([one.box.xyxy], np.float32))[:, 0]
        best = int(shared.argmax())
        if shared[best] < LEAST_OVERLAP:
            continue
        u0, v0, u1, v1 = (float(v) * mm - VIEW_MM / 2 for v in chips.xyxy[best])
        stack = FoundStack.of((u0, v0, u1, v1), calibration, place)
        crops = np.stack([stack.crop(frame, calibration, off) for off in COUNT_OFFS_MM])
        levels = None
        if len(one.colours) <= MOST_COUNTED:
            own = _stands(one, calibration, place, mm)
            nearer = [
                silhouette(calibration, (float(at[0]), float(at[1])), len(colours), COVER_MM)
                for at, colours in standing
                if np.hypot(*(at - foot)) < np.hypot(*(own - foot)) - COVER_MM
            ]
            levels = _levels(frame, calibration, stack, own, one.colours, nearer, palette)
        step, visible = stack.axes.per_chip_mm, float(one.box.visible)
        out.append(StackCut(crops, len(one.colours), stack.height, step, visible, levels))
    return out


def _stands(one: SeenBox, calibration: Calibration, place: Place, mm: float) -> FloatArray:
    """Where on the felt, (2,) mm, a stack stands by its true box in a view of `mm` to the px.

    The box's middle is known exactly, how far it reaches up from the number of chips.
    """
    x0, y0, x1, y1 = (float(v) * mm - VIEW_MM / 2 for v in one.box.xyxy)
    told = FoundStack.of((x0, y0, x1, y1), calibration, place)
    high = len(one.colours or ()) * told.axes.per_chip_mm
    base: FloatArray = told.base + told.axes.up * (told.height - high) / 2
    return base


def _levels(
    frame: ByteArray, calibration: Calibration, found: FoundStack, stands: FloatArray,
    colours: tuple[str, ...], nearer: Sequence[FloatArray], palette: Mapping[str, ChipKind],
) -> LevelSet | None:  # fmt: skip
    """The levels of a stack, for its number of chips and for one more and less, from the bases
    that are fitted for these; None where none lies clearly on a level. `stands` is its true
    base, `nearer` are the outlines of what may hide it."""
    names, n, axes = list(palette), len(colours), found.axes
    path = tuple(names.index(c) for c in colours)
    most = min(n + 1, MOST_COUNTED)
    center, reach = stack_reach(found, most)
    patch = cut_patch(frame, calibration, center, reach, nearer)
    grads = gradients(patch.image)
    windows, labels = [], []
    for count in range(max(1, n - 1), most + 1):
        start = found.base + axes.up * (found.height - count * axes.per_chip_mm) * TOP_TRUST
        base = fit_base(patch, grads, start, axes, count)
        for slip in BASE_SLIPS_MM:
            own = base + axes.up * slip
            off = float((own - stands) @ axes.up) / axes.per_chip_mm - BASE_OFF_CHIPS[0]
            told, clear = level_labels(path, count, off)
            seen = level_windows(
                patch, calibration.foot_mm, calibration.height_mm, own, count, axes.up
            )
            windows.append(seen[clear])
            labels.append(told[clear])
    rgb = np.array([kind.rgb for kind in palette.values()], np.int16)
    told_all = np.concatenate(labels)
    if not len(told_all):
        return None
    palettes = np.broadcast_to(rgb, (len(told_all), *rgb.shape))
    return LevelSet(np.concatenate(windows), told_all, palettes)


def read_heights(folder: Path) -> npt.NDArray[np.float32]:
    """The heights of all stacks of a folder, (n, 3), in the order of its crop files."""
    files = sorted(folder.glob(f"*{HEIGHTS}.npy"))
    if not files:
        raise FeltwatchError(f"{folder}: no stacks of recordings (*{HEIGHTS}.npy)")
    return np.concatenate([np.load(path) for path in files])


def _write(out: Path, name: str, cuts: list[StackCut]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    places = [min(cut.count, MOST_COUNTED + 1) - 1 for cut in cuts]
    np.save(
        out / f"{name}{HEIGHTS}.npy",
        np.asarray([(c.height_mm, c.per_chip_mm, c.visible) for c in cuts], np.float32),
    )
    levels = [cut.levels for cut in cuts if cut.levels is not None]
    if levels:
        save_levels(out / f"{name}{MARK}.npz", joined(levels))
    np.save(out / f"{name}.npy", np.concatenate([cut.crops for cut in cuts]))
    # Written last: crops without labels are not read.
    np.save(out / f"{name}-labels.npy", np.repeat(np.asarray(places, np.int16), len(COUNT_OFFS_MM)))
