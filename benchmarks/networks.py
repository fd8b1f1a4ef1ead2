"""How long the networks take on this machine, by back end and precision, in interleaved rounds.

A machine's other work and its clock hit what runs at that moment. So every contestant runs in
every round, in turning order; the results are medians over the rounds, and ratios are the median
of the rounds' own ratios. CPU time is reported beside wall time: it is steadier on a busy machine.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from models.data.trial import trial_pictures
from models.evaluate.samples import read_val_set
from models.networks.backends import OnnxRuntimeDetector
from vision.cards.photo import read_picture
from vision.chips.network_input.side_strip import COLUMNS, ROWS
from vision.chips.side_palette import Palette
from vision.chips.side_posterior import Posterior, read_posterior
from vision.chips.side_runtime import StripReader
from vision.detect.detections import ByteArray
from vision.detect.openvino_runtime import (
    DEFAULT_THRESHOLD,
    OpenVinoDetector,
    OpenVinoReader,
    detector_part,
)
from vision.geometry.letterbox import fit_square
from vision.geometry.table import ChipKind
from vision.networks import Networks, load_networks

SEAT_CROPS = 14
"""Crops of a full seat: seven cards' indices, each read both ways up."""

STACKS = 8
"""Chip stacks of a full view."""

ULTRALYTICS = "ultralytics predict"
OURS = "openvino"
SEATS_AT_ONCE = 8
VIEWS_IN_MEMORY = 8
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024

Run = Callable[[], object]


@dataclass
class Timed:
    """Wall and processor time in ms of one contestant, a round each; `per` views or calls."""

    run: Run
    per: int
    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def once(self) -> None:
        """Run one round."""
        wall, cpu = time.perf_counter(), time.process_time()
        self.run()
        self.wall_ms.append(1e3 * (time.perf_counter() - wall) / self.per)
        self.cpu_ms.append(1e3 * (time.process_time() - cpu) / self.per)

    def as_dict(self) -> dict[str, float]:
        """Medians, and the least wall time of a round."""
        return {
            "ms": round(float(np.median(self.wall_ms)), 2),
            "least_ms": round(min(self.wall_ms), 2),
            "cpu_ms": round(float(np.median(self.cpu_ms)), 2),
        }


def interleave(contestants: dict[str, Timed], rounds: int, done: Callable[[float], None]) -> None:
    """Run each contestant once a round, whoever comes first changing; one round before to warm."""
    names = list(contestants)
    for name in names:
        contestants[name].run()
    for at in range(rounds):
        turn = at % len(names)
        for name in names[turn:] + names[:turn]:
            contestants[name].once()
        done((at + 1) / rounds)


def bench_model(
    weights: Path,
    data: Path | None = None,
    *,
    views: int = 48,
    rounds: int = 7,
    checkpoint: Path | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Measure a folder of weights on held-out images of `data`, or on rendered views.

    `checkpoint` is the detector's `.pt`, run by ultralytics too. Back ends whose library is
    not installed are left out and named under `not_measured`. Raises FeltwatchError for
    weights or data that cannot be read.
    """
    networks = load_networks(weights, threads)
    detector = networks.detector
    images = _views(data, detector.size, views)
    contestants, missing = _finders(weights, networks.card, images, checkpoint, threads)
    finders = set(contestants)
    contestants |= _readers(networks, images)
    interleave(contestants, rounds, progress or (lambda _: None))
    finding = {n: t for n, t in contestants.items() if n in finders}
    return {
        "views": len(images),
        "view_px": detector.size,
        "rounds": rounds,
        "boxes_a_view": round(
            sum(len(one) for one in detector.find(images)) / max(1, len(images)), 1
        ),
        "detector": {name: timed.as_dict() for name, timed in finding.items()},
        "ratio": _ratios(finding),
        "reader": contestants["reader crops"].as_dict() | {"crops": SEAT_CROPS},
        "reader_both_indices": contestants["reader crops twice"].as_dict()
        | {"crops": 2 * SEAT_CROPS},
        "comparer": None
        if networks.comparer is None
        else contestants["comparer crops"].as_dict() | {"crops": SEAT_CROPS},
        "stacks": contestants["stacks"].as_dict() | {"stacks": STACKS},
        "peak_mib": _peak_memory(weights),
        "threads": _threads(detector, networks.reader),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": _versions(),
        "not_measured": missing,
    }


def _views(data: Path | None, size: int, count: int) -> list[ByteArray]:
    if data is None:
        return list(trial_pictures(count, size)[0])
    chosen = read_val_set(data, "val").some(count).pictures
    return [fit_square(read_picture(one.path), size)[0] for one in chosen]


def _finders(
    weights: Path,
    card: Mapping[str, Any],
    images: Sequence[ByteArray],
    checkpoint: Path | None,
    threads: int | None,
) -> tuple[dict[str, Timed], dict[str, str]]:
    own = card["models"]["detector"]
    path, names = weights / own["file"], tuple(own["classes"])
    threshold = float(own.get("threshold", DEFAULT_THRESHOLD))
    found: dict[str, Timed] = {}

    def add(name: str, run: Callable[[Sequence[ByteArray]], object]) -> None:
        found[name] = Timed(lambda: run(images), len(images))

    runs = weights / detector_part(card)["file"]
    add(OURS, OpenVinoDetector(runs, names, threshold, threads).find)
    plain = OpenVinoDetector(path, names, threshold, threads)
    if runs != path:
        add(f"{OURS} without int8", plain.find)
    add(f"{OURS} f32", OpenVinoDetector(path, names, threshold, threads, "f32").find)
    missing: dict[str, str] = {}
    if find_spec("onnxruntime"):
        add("onnxruntime f32", OnnxRuntimeDetector(path, names, threshold, threads).find)
    else:
        missing["onnxruntime f32"] = "onnxruntime is not installed"
    if not find_spec("ultralytics"):
        missing[ULTRALYTICS] = "ultralytics is not installed"
        return found, missing
    if find_spec("onnxruntime"):
        run = _predict(path, plain.size, threshold)
        try:
            run(images[:1])
        except ValueError:
            missing[f"{ULTRALYTICS}, the same onnx"] = "exported before its notes were ultralytics'"
        else:
            add(f"{ULTRALYTICS}, the same onnx", run)
    else:  # ultralytics would try to install it by itself
        missing[f"{ULTRALYTICS}, the same onnx"] = "onnxruntime is not installed"
    if checkpoint is not None:
        add(f"{ULTRALYTICS}, pt", _predict(checkpoint, plain.size, threshold))
    return found, missing


def _predict(path: Path, size: int, threshold: float) -> Callable[[Sequence[ByteArray]], object]:
    """Plain ultralytics `predict`, as its documentation has it, view by view."""
    yolo = import_module("ultralytics").YOLO
    # It sets its own level when it is imported, and prints what it loads on stdout.
    logging.getLogger("ultralytics").setLevel(logging.ERROR)
    model = yolo(str(path), task="detect", verbose=False)

    def run(images: Sequence[ByteArray]) -> object:
        return [
            model.predict(view, imgsz=size, conf=threshold, device="cpu", verbose=False)
            for view in images
        ]

    return run


def _readers(networks: Networks, images: Sequence[ByteArray]) -> dict[str, Timed]:
    reader, stacks = networks.reader, networks.strips
    # What a crop shows does not matter to the time it takes.
    side = 64
    cut = [view[:side, k : k + side] for view in images for k in range(0, view.shape[1], side)]
    seat = np.stack([cut[k % len(cut)] for k in range(2 * SEAT_CROPS)])

    def times(read: Callable[[ByteArray], object], crops: ByteArray) -> Timed:
        return Timed(lambda: [read(crops) for _ in range(SEATS_AT_ONCE)], SEATS_AT_ONCE)

    comparer = networks.comparer
    return {
        **(
            {}
            if comparer is None
            else {"comparer crops": times(comparer.features, seat[:SEAT_CROPS])}
        ),
        "reader crops": times(reader.read, seat[:SEAT_CROPS]),
        "reader crops twice": times(reader.read, seat),
        "stacks": times(lambda strips: _read_stacks(stacks, strips), _strips()),
    }


def _strips() -> ByteArray:
    """Strips of noise: what they show hardly matters to the time they take."""
    return np.random.default_rng(1).integers(0, 256, (STACKS, ROWS, COLUMNS, 4), np.uint8)


def _read_stacks(reader: StripReader, strips: ByteArray) -> list[Posterior]:
    """What a view's stacks cost: the network and the chain over each strip's rows."""
    chips = {f"chip {k}": ChipKind(value_cents=100 * 2**k, rgb=(40 * k, 90, 200)) for k in range(6)}
    palette = Palette.of(chips)
    given = reader.read(strips, [3.0] * len(strips), [0.6] * len(strips), palette)
    return [read_posterior(one, palette.values, reader.temperature) for one in given]


def _ratios(finding: dict[str, Timed]) -> dict[str, dict[str, float]]:
    """How often quicker the detector that runs is than each other contestant."""
    ours, out = finding[OURS], {}
    for name, timed in finding.items():
        if name != OURS:
            pairs = zip(timed.wall_ms, ours.wall_ms, strict=True)
            cpu = zip(timed.cpu_ms, ours.cpu_ms, strict=True)
            out[f"{name} / {OURS}"] = {
                "wall": round(float(np.median([a / b for a, b in pairs])), 2),
                "cpu": round(float(np.median([a / max(b, 1e-6) for a, b in cpu])), 2),
            }
    return out


def _threads(detector: object, reader: object) -> dict[str, Any]:
    out: dict[str, Any] = {"processors": os.cpu_count()}
    for name, network in (("detector", detector), ("reader", reader)):
        if isinstance(network, (OpenVinoDetector, OpenVinoReader)):
            out[name] = network.settings()
    return out


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    out = {}
    for name in ("openvino", "onnxruntime", "ultralytics", "torch"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out


def _peak_memory(weights: Path) -> int | None:
    """Peak of memory in MiB of a fresh process that loads the networks and finds and reads."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, weights))
    process.start()
    there.close()
    try:
        return int(here.recv())
    except EOFError:  # where it cannot start, as from a prompt, nothing is sent
        return None
    finally:
        process.join()


def _work(pipe: Any, weights: Path) -> None:
    networks = load_networks(weights)
    detector, reader, stacks = networks.detector, networks.reader, networks.strips
    detector.find([np.zeros((detector.size, detector.size, 3), np.uint8)] * VIEWS_IN_MEMORY)
    crops = np.zeros((SEAT_CROPS, 64, 64, 3), np.uint8)
    reader.read(crops)
    _read_stacks(stacks, _strips())
    pipe.send(round(_peak_bytes() / 2**20))


def _peak_bytes() -> int:
    """Peak of memory of this process; on Linux of its own image, not of what started it."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT
