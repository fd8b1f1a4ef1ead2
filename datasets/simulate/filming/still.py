"""Single frames of a table as they come out of a video coder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import av
import numpy as np

from datasets.render.cards.deck import Picture
from datasets.render.scene import Item, ShiftPlan
from datasets.simulate.filming.encode import encode
from datasets.simulate.filming.film import Film
from datasets.simulate.filming.incidents import Planes

FEWEST_HEVC = 3
"""libx265 puts its frames in another order: with fewer, it gives decoding times out of nowhere
(seen in 8 of 25 films of two frames in 4K), which no container takes."""


def coded_still(
    film: Film, items: Sequence[Item], gone: Sequence[Item] = (), *, frames: int = 3,
    fps: int = 5, codec: str = "h264", crf: int = 25, preset: str = "veryfast",
) -> Picture:  # fmt: skip
    """The last of `frames` coded and decoded frames of `items` at rest, uint8 (h, w, 3) BGR.

    Of HEVC at least FEWEST_HEVC are coded. `gone` is what lay there in the still before. Raises
    FeltwatchError for a codec that is not known.
    """
    if codec == "hevc":
        frames = max(frames, FEWEST_HEVC)
    film.apply({item.key: item for item in items}, (*gone, *items))
    plan = ShiftPlan(frames / fps, (), (), ())

    def numbered() -> Iterator[tuple[int, Planes]]:
        for number, (_, planes) in enumerate(film.frames(plan, fps)):
            yield number, planes

    size = film.camera.width_px, film.camera.height_px
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "still.mp4"
        encode(path, numbered(), size, fps, codec, crf, preset)
        with av.open(str(path)) as container:
            *_, last = container.decode(video=0)
    return np.asarray(last.reformat(format="bgr24").to_ndarray(), np.uint8)
