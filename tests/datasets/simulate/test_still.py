"""Single frames of a table as they come out of a video coder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from datasets.render.scene import StackItem
from datasets.simulate.filming import still
from datasets.simulate.filming.encode import encode
from datasets.simulate.filming.film import Film
from datasets.simulate.filming.still import FEWEST_HEVC, coded_still
from datasets.simulate.shift import Scenery
from tests.datasets.simulate.small_film import WISHES


@pytest.fixture(scope="module")
def scenery() -> Scenery:
    return Scenery(WISHES)


@pytest.mark.parametrize(("codec", "coded"), [("h264", 1), ("hevc", FEWEST_HEVC)])
def test_what_is_laid_is_in_the_frame_and_hevc_gets_enough_frames(
    scenery: Scenery, codec: str, coded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def counted(path: Any, frames: Iterator[Any], *more: Any) -> None:
        kept = list(frames)
        given.append(len(kept))
        encode(path, kept, *more)

    monkeypatch.setattr(still, "encode", counted)
    film: Film = scenery.film
    x, y = scenery.table.seat(1).spots["main"].center_mm
    item = StackItem("s", (x, y), ("red",) * 8)
    bare = coded_still(film, [], frames=1, codec=codec)
    laid = coded_still(film, [item], frames=1, codec=codec)
    assert given == [coded, coded]
    assert bare.shape == laid.shape == (720, 1280, 3)
    changed = np.abs(bare.astype(int) - laid).max(axis=2) > 60
    assert 20 < changed.sum() < 0.01 * changed.size
    gone = coded_still(film, [], [item], frames=1, codec=codec)
    assert (np.abs(bare.astype(int) - gone).max(axis=2) > 60).sum() < 20
