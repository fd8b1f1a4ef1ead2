"""How fast the renderer is on this machine: films with encoding, and training views."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from datasets.render.camera import play_area, synthetic_camera
from datasets.render.cards.deck import draw_deck
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.filming.recording import write_video
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import default_rules
from datasets.training.training_set import TrainingSet, render_training_set
from vision.geometry.standard_layout import FELT, standard_table

DISTORTION = (-0.09, 0.0)
"""A dome's usual barrel, so that the lens is part of what is measured."""


def bench_simulate(
    seconds: float = 20.0, *, size: tuple[int, int] = (3840, 2160), fps: int = 15,
    codec: str = "h264", crf: int = 25, preset: str = "veryfast", seed: int = 3,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Film and encode `seconds` of play; the first image's set-up is reported separately.

    Returns `film_s_per_s` (seconds of film for a second of the clock), `cpu_s_per_film_s`,
    `setup_s`, `frames`, `bytes_per_film_s` and what was measured.
    """
    rng = np.random.default_rng([seed, 77])
    table = standard_table(default_rules(), seats=6)
    camera = synthetic_camera(
        FELT, height_mm=3000, tilt_deg=33, azimuth_deg=8, width_px=size[0], height_px=size[1],
        keep_mm=play_area(table), margin=0.05, jitter=0.5, seed=seed, distortion=DISTORTION,
    )  # fmt: skip
    plan = plan_shift(
        table, seed=seed, rounds=1 + int(seconds // 25), faults=FaultPlan(), pace=0.35
    )
    plan = replace(plan, duration_s=min(seconds, plan.duration_s))
    began = time.perf_counter()
    film = Film(table, camera, draw_deck(), Look.draw(rng), rng)
    ready, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.mp4"
        write_video(
            film, plan, path, fps=fps, codec=codec, crf=crf, preset=preset, progress=progress
        )
        done = time.perf_counter()
        written = path.stat().st_size
    return {
        "film_s_per_s": plan.duration_s / (done - ready),
        "cpu_s_per_film_s": (time.process_time() - cpu) / plan.duration_s,
        "setup_s": ready - began,
        "film_s": plan.duration_s,
        "frames": round(plan.duration_s * fps),
        "bytes_per_film_s": written / plan.duration_s,
        "size": list(size), "fps": fps, "codec": codec, "preset": preset,
        "cores": os.cpu_count(),
    }  # fmt: skip


def bench_views(
    views: int = 300, *, size: int = 640, workers: int = 2, fonts: tuple[str, ...] = (),
    seed: int = 3,
) -> dict[str, Any]:  # fmt: skip
    """Render training views with labels and crops into a folder that is thrown away.

    Returns `views_per_s`, with starting the processes and drawing the first decks.
    """
    shard = max(1, -(-views // max(2, workers)))
    spec = TrainingSet(views=views, seed=seed, size=size, fonts=fonts, shard_views=shard)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        render_training_set(spec, Path(folder), workers=workers)
        made = sum(1 for _ in (Path(folder) / "images").rglob("*.jpg"))
    took = time.perf_counter() - began
    return {"views_per_s": made / took, "views": made, "size": size, "workers": workers}
