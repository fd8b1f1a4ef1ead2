"""Evidence images: which are chosen and what is drawn."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from surveillance.evidence import images
from tests.surveillance.handmade import observed_round
from vision.rounds.observed import Seen, ViewPicture


@pytest.mark.parametrize(
    ("code", "seat", "expected"),
    [
        ("HOUSE_WAY", None, [(None, "cards")]),
        ("OVERPAID", 3, [(3, "bets"), (3, "cards"), (3, "settled"), (None, "cards")]),
        ("LIMIT", 3, [(3, "bets")]),
        ("LAMMER", 3, [(3, "bets")]),
        # No view of an envy look was kept: all of the seat's.
        ("ENVY_MISSED", 3, [(3, "bets"), (3, "cards"), (None, "cards")]),
        ("FOUL", 4, [(4, "bets"), (None, "cards")]),
        ("LIMIT", 5, []),
    ],
)
def test_views_of_an_alert(
    code: str, seat: int | None, expected: list[tuple[int | None, str]]
) -> None:
    chosen = images.choose(observed_round(), code, seat)
    assert [(p.seat, p.what) for p in chosen] == expected


def view(seen: tuple[Seen, ...], width: int = 800, height: int = 600) -> ViewPicture:
    return ViewPicture(3, "cards", "812.400", np.full((height, width, 3), 80, np.uint8), seen)


def test_boxes_are_drawn_where_they_are() -> None:
    image = images.draw("r", view((Seen("AS", 0.9, (100, 200, 140, 260)),)))
    assert image.shape == (600 + images.STRIP_PX, 800, 3)
    assert tuple(image[230, 100]) == images.CARD
    assert tuple(image[230, 140]) == images.CARD
    assert tuple(image[230, 120]) == (80, 80, 80)


def test_small_views_are_enlarged_with_their_boxes() -> None:
    image = images.draw("r", view((Seen("chip_red x3", 0.9, (10, 10, 20, 20)),), 96, 96))
    assert image.shape[1] == images.MIN_WIDTH_PX
    assert tuple(image[105, 70]) == images.CHIP


def test_the_view_itself_stays_untouched() -> None:
    picture = view((Seen("BACK", 0.9, (0, 0, 799, 599)), Seen("lammer_envy", 0.5, (1, 1, 9, 9))))
    picture.image.flags.writeable = False
    images.draw("r", picture)
    assert (picture.image == 80).all()


def test_the_legend_names_what_was_found() -> None:
    bare = images.draw("r", view(()))[600:]
    full = images.draw("r", view((Seen("AS", 0.9, (1, 1, 5, 5)),)))[600:]
    assert (full == np.array(images.CARD, np.uint8)).all(axis=2).any()
    assert not (bare == np.array(images.CARD, np.uint8)).all(axis=2).any()


def test_jpeg_can_be_read_again() -> None:
    image = images.draw("r", view(()))
    again = cv2.imdecode(np.frombuffer(images.jpeg(image), np.uint8), cv2.IMREAD_COLOR)
    assert again is not None
    assert again.shape == image.shape


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ("0", "00:00.0"),
        ("59.99", "00:59.9"),
        (3600, "1:00:00.0"),
        (None, "–"),
        ("-2.5", "-00:02.5"),
    ],
)
def test_clock(seconds: str | float | None, words: str) -> None:
    assert images.clock(seconds) == words


def test_file_names_are_plain() -> None:
    picture = ViewPicture(None, "cards", "1.5", np.zeros((1, 1, 3), np.uint8), ())
    assert images.file_name("t/1 ../x", picture) == "t_1_._x-dealer-cards-1.5.jpg"
