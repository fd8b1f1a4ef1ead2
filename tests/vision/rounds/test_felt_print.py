"""Print of the felt that the detector takes for chips, told from chips by the bare felt."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.painted import NAMES
from tests.vision.rounds.readings import TABLE, reading
from vision.detect.detections import ByteArray, Detections
from vision.geometry.table import VIEW_MM
from vision.rounds.felt.felt_print import without_print
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import Episode

SIZE = 320
SEAT = TABLE.seat(1)


def spot_px() -> tuple[int, int]:
    u, v = SEAT.place.to_local(np.array([SEAT.spots["main"].center_mm]))[0]
    return round((u / VIEW_MM + 0.5) * SIZE), round((v / VIEW_MM + 0.5) * SIZE)


def felt() -> ByteArray:
    """Green with a word printed on the spot."""
    image = np.full((SIZE, SIZE, 3), (40, 110, 30), np.uint8)
    x, y = spot_px()
    cv2.putText(image, "BET", (x - 20, y + 6), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (90, 190, 200), 2)
    return image


def rest(image: ByteArray) -> Episode:
    """A rest whose views show a faint chip on the main spot."""
    x, y = spot_px()
    box = np.array([[x - 22, y - 14, x + 22, y + 14]], np.float32)
    found = Detections(
        box, np.array([0.4], np.float32), np.array([NAMES.index("chip")], np.int64), NAMES
    )
    seen = replace(reading(unread=("main",)), found=found)
    return Episode(0.0, [seen] * 3, picture=kept_picture(image))


def with_chip() -> ByteArray:
    image = felt()
    cv2.circle(image, spot_px(), 13, (60, 40, 200), -1)
    return image


@pytest.mark.parametrize("brighter", [0, 12])
def test_what_looks_as_on_the_bare_felt_is_print(brighter: int) -> None:
    image = felt() + np.uint8(brighter)
    (episode,) = without_print([rest(image)], kept_picture(felt()), SEAT)
    assert [r.unread for r in episode.readings] == [frozenset()] * 3


def test_a_chip_stays_unread() -> None:
    (episode,) = without_print([rest(with_chip())], kept_picture(felt()), SEAT)
    assert [r.unread for r in episode.readings] == [{"main"}] * 3


def test_without_a_bare_felt_or_a_box_it_stays_unread() -> None:
    (episode,) = without_print([rest(felt())], b"", SEAT)
    assert episode.readings[0].unread == {"main"}
    lost = rest(felt())
    lost.readings[:] = [replace(r, found=Detections.empty(NAMES)) for r in lost.readings]
    (episode,) = without_print([lost], kept_picture(felt()), SEAT)
    assert episode.readings[0].unread == {"main"}
