"""A film written to a video file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from datasets.render.scene import ShiftPlan
from datasets.simulate.filming.encode import encode
from datasets.simulate.filming.film import Film
from datasets.simulate.filming.incidents import Planes


def write_video(
    film: Film, plan: ShiftPlan, path: Path, *, fps: int = 15, codec: str = "h264",
    crf: int = 25, preset: str = "veryfast", progress: Callable[[float], None] | None = None,
) -> None:  # fmt: skip
    """Film a plan into `path`, a container by its name; a key frame every two seconds.

    Raises FeltwatchError for a codec that is not known.
    """

    def frames() -> Iterator[tuple[int, Planes]]:
        for number, (t, planes) in enumerate(film.frames(plan, fps)):
            yield number, planes
            if progress and number % fps == 0:
                progress(min(1.0, t / plan.duration_s))

    size = film.camera.width_px, film.camera.height_px
    encode(path, frames(), size, fps, codec, crf, preset)
    if progress:
        progress(1.0)
