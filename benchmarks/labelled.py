"""How long a dataset of many images takes to import, check, split and count, in what memory."""

from __future__ import annotations

import json
import multiprocessing
import platform
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets.labelled.checks.check import check
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Dataset
from datasets.labelled.split import split_dataset
from datasets.labelled.stats import dataset_stats, sample_sheet
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS

SIZE_PX = 640
BOXES = 14
SHIFT_PICTURES = 100
LEAST_SHIFTS = 10
SAMPLES = 10
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def bench_dataset(
    images: int = 10_000, apart: bool = True, boxes: int = BOXES, size_px: int = SIZE_PX
) -> dict[str, Any]:
    """Import, check, split and count a made-up COCO set of so many square images.

    Each image has so many `boxes`. Gives wall and CPU time in s of each step and the peak of
    memory in MiB, each step in a process of its own so that peaks do not mix (unless not
    `apart`), and what the process needs before it begins. Raises FeltwatchError where a step
    fails or is killed.
    """
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        measured = _measured if apart else _measured_here
        made = measured(_make, root / "coco", images, boxes, size_px)
        steps = {
            name: measured(step, root)
            for name, step in (
                ("import", _import),
                ("check", _check),
                ("split", _split),
                ("check_again", _check),
                ("stats", _stats),
            )
        }
        found = steps["check_again"].pop("result")
        size = sum(p.stat().st_size for p in (root / "coco" / "images").iterdir())
    for step in steps.values():
        step.pop("result", None)
    return {
        "pictures": images,
        "boxes": images * boxes,
        "size_px": size_px,
        "bytes_mean": round(size / images),
        "machine": f"{platform.machine()}, {multiprocessing.cpu_count()} processors",
        "make_s": made["wall_s"],
        "steps": steps,
        "findings": found,
    }


def _measured(step: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Run a step in a fresh process: its times, `peak_mib`, `begin_mib` and its `result`.

    Raises FeltwatchError where the step fails or its process is killed.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(there, step, arguments))
    process.start()
    there.close()
    result: dict[str, Any] | str | None
    try:
        result = here.recv()
    except EOFError:
        result = None
    finally:
        process.join()
    if isinstance(result, dict):
        return result
    name = step.__name__.strip("_")
    raise FeltwatchError(f"bench dataset: {name}: {result or _ending(process.exitcode or 0)}")


def _ending(code: int) -> str:
    """How a process ended that sent nothing; the code is negative for a signal."""
    if code >= 0:
        return f"its process ended with exit code {code}"
    hint = ", as when memory runs out" if -code == signal.SIGKILL else ""
    return f"its process was killed by {signal.Signals(-code).name}{hint}"


def _run(pipe: Any, step: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send(_measured_here(step, *arguments))
    except (FeltwatchError, OSError) as error:
        pipe.send(str(error))


def _measured_here(step: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    begin = _peak_mib()
    start, start_cpu = time.perf_counter(), time.process_time()
    result = step(*arguments)
    wall_s = round(time.perf_counter() - start, 2)
    cpu_s = round(time.process_time() - start_cpu, 2)
    return {
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "begin_mib": begin,
        "peak_mib": _peak_mib(),
        "result": result,
    }


def _peak_mib() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT / 2**20, 1)


def _make(folder: Path, images: int, boxes: int, size_px: int) -> None:
    """A COCO set of images that all differ, with boxes over them."""
    place = folder / "images"
    place.mkdir(parents=True)
    rng = np.random.default_rng(7)
    noise = rng.integers(0, 24, (size_px, size_px, 3), np.uint8)
    with (folder / "annotations.json").open("w", encoding="utf-8") as file:
        categories = [{"id": n + 1, "name": label} for n, label in enumerate(DECK_LABELS)]
        file.write(json.dumps({"categories": categories})[:-1] + ', "images": [')
        for n in range(images):
            coarse = rng.integers(30, 200, (9, 9, 3), np.uint8)
            image = cv2.resize(coarse, (size_px, size_px), interpolation=cv2.INTER_CUBIC)
            image = cv2.add(np.asarray(image, np.uint8), noise)
            name = f"{n:06d}.jpg"
            cv2.imwrite(str(place / name), image, [cv2.IMWRITE_JPEG_QUALITY, 70])
            own = {"id": n, "file_name": name, "width": size_px, "height": size_px}
            file.write(("," if n else "") + json.dumps(own))
        file.write('], "annotations": [')
        for n in range(images * boxes):
            x, y = rng.uniform(0, max(1, size_px - 60), 2)
            own_box = {
                "id": n,
                "image_id": n // boxes,
                "category_id": int(rng.integers(1, len(DECK_LABELS) + 1)),
                "bbox": [round(float(x), 2), round(float(y), 2), 40.5, 52.25],
            }
            file.write(("," if n else "") + json.dumps(own_box))
        file.write("]}")


def _import(root: Path) -> None:
    import_labels(root / "coco", root / "set")
    with Dataset.open(root / "set") as dataset, dataset.batch():
        # COCO has no shift; a split needs some.
        size = max(1, min(SHIFT_PICTURES, len(dataset) // LEAST_SHIFTS))
        for picture in dataset.pictures():
            number = int(picture.file[:6]) // size
            dataset.set_details(picture.id, by="import:bench", shift=f"shift {number}")


def _check(root: Path) -> list[dict[str, Any]]:
    with Dataset.open(root / "set") as dataset:
        found = check(dataset)
    return [{"code": str(f.code), "count": f.count} for f in found]


def _split(root: Path) -> None:
    with Dataset.open(root / "set") as dataset:
        split_dataset(dataset, ("shift",))


def _stats(root: Path) -> None:
    with Dataset.open(root / "set") as dataset:
        dataset_stats(dataset)
        for label in dataset.labels:
            for _ in sample_sheet(dataset, label, SAMPLES):
                pass
