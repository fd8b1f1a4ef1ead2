"""A hand that lacks a card, told from one of which a card is not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from settlement.compare.comparison import compare
from settlement.record import RoundRecord
from settlement.settle import settle
from tests.vision.rounds.readings import TABLE, Play, dealer_cards, hand, reading
from vision.cards.view import ViewIndex, join_cards
from vision.detect.detections import ByteArray
from vision.geometry.table import CARD_MM, VIEW_MM
from vision.rounds.compile_round import compile_round
from vision.rounds.region_change import kept_picture
from vision.rounds.six_cards import rows_of_corners, rows_of_middles, widest_step

SIZE = 400
STAKES = {"main": ["red red"]}
SEVEN = hand(TABLE.seat(1), "8S 7S", "JC JD 6H 5S 2D")


def without(place: int) -> tuple[ViewIndex, ...]:
    return tuple(card for k, card in enumerate(SEVEN) if k != place)


def picture(cards: Sequence[ViewIndex]) -> ByteArray:
    """Felt with these cards on it, the later ones on top."""
    image = np.full((SIZE, SIZE, 3), (40, 110, 30), np.uint8)
    for card in cards:
        (x0, y0), (x1, y1) = (
            np.round((card.card + np.array(CARD_MM) / 2 * sign) * SIZE / VIEW_MM + SIZE / 2)
            for sign in (-1, 1)
        )
        cv2.rectangle(image, (int(x0), int(y0)), (int(x1), int(y1)), (230, 230, 230), -1)
    return image


def played(
    read: Sequence[ViewIndex], lie: Sequence[ViewIndex], *, bare: bool = True
) -> tuple[RoundRecord, list[str]]:
    """A round in which seat 1 shows the cards that `lie` there; `read` are those with a name."""
    play = Play()
    play.see(1, reading(), picture=picture([]))
    play.see(1, reading(stakes=STAKES), picture=picture([]))
    play.see(1, reading(stakes=STAKES, backs=2), picture=picture([]))
    play.see(None, reading(cards=dealer_cards()))
    for _ in range(2):
        play.see(1, reading(stakes=STAKES, cards=tuple(read)), picture=picture(lie))
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    own.tracks[1].bare = kept_picture(picture([])) if bare else b""
    record = compile_round(TABLE, 1, own, play.now_s, cut_short=False)
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    return record, [f.message for f in found if f.code.value == "DECK"]


@pytest.mark.parametrize("place", [0, 1, 2, 6])
def test_six_cards_alone_are_a_finding(place: int) -> None:
    """The row stays regular: those that are left lie at the usual steps."""
    record, found = played(without(place), without(place))
    assert [doubt.what for doubt in record.undecided if doubt.seat == 1] == []
    (message,) = found
    assert "6 cards" in message


@pytest.mark.parametrize("place", range(7))
def test_a_card_that_lies_there_unread_is_a_doubt(place: int) -> None:
    record, found = played(without(place), SEVEN)
    assert found == []
    assert any(doubt.seat == 1 for doubt in record.undecided)


def test_without_the_bare_felt_it_is_not_known() -> None:
    record, found = played(without(6), without(6), bare=False)
    assert found == []
    assert any(doubt.seat == 1 for doubt in record.undecided)


def test_the_widest_step_is_one_row_s_own() -> None:
    low, high = [0.0, 44.0], [22.0 * k for k in (0, 1, 3, 4)]
    assert widest_step([low]) == 1.0
    assert widest_step([low, high]) == pytest.approx(2.0)


def test_a_card_that_lies_turned_on_top_leaves_the_corners_at_usual_steps() -> None:
    """Its middle lies aside; of the others the lower corners are seen, of it both."""
    row = hand(TABLE.seat(1), "", "2C 3C 4C 5C")
    lower = [
        replace(one, center=np.array([16.0 * k, 90.0]), card=np.array([16.0 * k - 20.0, 60.0]),
                turn_deg=180.0)
        for k, one in enumerate(row)
    ]  # fmt: skip
    top = replace(lower[0], card=lower[0].card - (8.0, 0.0))
    seen = [top, replace(top, center=np.array([-50.0, 20.0]), turn_deg=0.0), *lower[1:]]
    (corners,) = rows_of_corners(seen)
    assert widest_step([corners]) == pytest.approx(1.0)
    (middles,) = rows_of_middles(join_cards(seen))
    assert widest_step([middles]) == pytest.approx(1.5)
