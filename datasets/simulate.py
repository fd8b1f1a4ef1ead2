"""A simulated shift on disk: the recording, its table file and its truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import tomli_w
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream

from datasets.camera import play_area, synthetic_camera, table_camera
from datasets.deck import draw_deck, load_deck
from datasets.faults import FaultPlan
from datasets.film import Film, Look
from datasets.play import plan_shift
from datasets.scene import ShiftPlan
from settlement.errors import FeltwatchError
from settlement.rules import TableRules, WagerLimit
from vision.layout import FELT, standard_table
from vision.table import TableFile

CODECS = {"h264": "libx264", "hevc": "libx265"}
MARK_NOISE_PX = 0.4
"""How far off a person points at a mark of the felt."""


def default_rules() -> TableRules:
    """Emperor's Challenge Exposed, Nevada, with the pay tables of its example layout."""
    return TableRules(
        game="emperors_challenge_exposed",
        paytables={
            "pai_gow_insurance": "PT-FLT-EC-PGI-05",
            "ace_high_pai_gow_insurance": "PT-FLT-AHPG-05",
            "emperors_treasure": "PT-FLT-EC-ET-02",
            "envy": "E02",
        },
        limits={
            "main": WagerLimit(min_cents=1000, max_cents=50000),
            "pai_gow_insurance": WagerLimit(min_cents=100, max_cents=10000),
            "ace_high_pai_gow_insurance": WagerLimit(min_cents=100, max_cents=10000),
            "emperors_treasure": WagerLimit(min_cents=100, max_cents=10000),
        },
    )


def write_table(table: TableFile, path: Path) -> None:
    """Write a table file that `vision.table.load_table` reads back equal."""
    path.write_text(
        tomli_w.dumps(table.model_dump(mode="json", exclude_none=True)), encoding="utf-8"
    )


def simulate(
    out: Path,
    *,
    seed: int,
    rounds: int,
    faults: FaultPlan,
    deck: Path | None = None,
    pace: float = 0.35,
    seats: int = 6,
    fps: int = 15,
    size: tuple[int, int] = (3840, 2160),
    camera_seed: int | None = None,
    codec: str = "h264",
    crf: int = 25,
    preset: str = "veryfast",
    progress: Callable[[float], None] | None = None,
) -> None:
    """Play and film a shift into `out`: `video.mp4`, `table.toml`, `truth.jsonl`, `recipe.json`.

    The same arguments give the same play and the same pictures before coding. Raises
    FeltwatchError when the folder cannot be written or the deck cannot be read.
    """
    rng = np.random.default_rng([seed if camera_seed is None else camera_seed, 77])
    cards = load_deck(deck) if deck else draw_deck()
    table = standard_table(default_rules(), seats=seats)
    camera = synthetic_camera(
        FELT,
        height_mm=float(rng.uniform(2500, 3400)),
        tilt_deg=float(rng.uniform(26, 42)),
        azimuth_deg=float(rng.uniform(-15, 15)),
        width_px=size[0],
        height_px=size[1],
        keep_mm=play_area(table),
        margin=0.05,
        jitter=0.5,
        seed=int(rng.integers(2**31)),
    )
    marks = table_camera(camera, table, noise_px=MARK_NOISE_PX, seed=int(rng.integers(2**31)))
    table = table.model_copy(update={"camera": marks})
    plan = plan_shift(table, seed=seed, rounds=rounds, faults=faults, pace=pace)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FeltwatchError(f"{out}: {error.strerror or error}") from error
    film = Film(table, camera, cards, Look.draw(rng), rng)
    partial = out / "video.partial.mp4"
    try:
        _encode(film, plan, partial, fps, codec, crf, preset, progress)
        partial.replace(out / "video.mp4")
        write_table(table, out / "table.toml")
        truth = "".join(record.to_json() + "\n" for record in plan.rounds)
        (out / "truth.jsonl").write_text(truth, encoding="utf-8")
        recipe = {
            "seed": seed, "rounds": rounds, "faults": repr(faults), "pace": pace, "seats": seats,
            "deck": cards.name, "camera_seed": camera_seed, "fps": fps, "size": size,
            "codec": codec, "crf": crf, "preset": preset, "duration_s": round(plan.duration_s, 3),
        }  # fmt: skip
        (out / "recipe.json").write_text(json.dumps(recipe, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise FeltwatchError(f"{out}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def _encode(
    film: Film, plan: ShiftPlan, path: Path, fps: int, codec: str, crf: int, preset: str,
    progress: Callable[[float], None] | None,
) -> None:  # fmt: skip
    if codec not in CODECS:
        raise FeltwatchError(f"codec {codec!r} is not known: 'h264' or 'hevc'")
    with av.open(str(path), "w") as container:
        stream = container.add_stream(CODECS[codec], rate=fps)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = film.camera.width_px, film.camera.height_px
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, fps)
        # OpenCV's planes are BT.601; say so, or players take a high picture for BT.709.
        stream.codec_context.colorspace = Colorspace.ITU601
        stream.codec_context.color_range = ColorRange.MPEG
        stream.options = {"crf": str(crf), "preset": preset, "g": str(2 * fps)}
        for number, (t, planes) in enumerate(film.frames(plan, fps)):
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts = number
            frame.time_base = Fraction(1, fps)
            container.mux(stream.encode(frame))
            if progress and number % fps == 0:
                progress(min(1.0, t / plan.duration_s))
        container.mux(stream.encode(None))
    if progress:
        progress(1.0)
