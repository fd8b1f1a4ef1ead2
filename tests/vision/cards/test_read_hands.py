from __future__ import annotations

import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from settlement.record import DECK_LABELS, JOKER
from settlement.rules import TableRules
from tests.vision.painted import NAMES, ColourReader, paint_index
from vision.cards.view import (
    CardRead,
    ViewIndex,
    backs_seen,
    card_shares,
    fuse_indices,
    join_cards,
    see_indices,
    split_hands,
)
from vision.detect.detections import Detections
from vision.geometry.calibration import VIEW_PX, Calibration
from vision.geometry.standard_layout import FELT, standard_table
from vision.geometry.table import VIEW_MM, Place
from vision.geometry.turned import axes

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))


def observation(
    label: str,
    u: float = 0.0,
    v: float = 0.0,
    *,
    share: float = 0.97,
    turned: bool = False,
    card: tuple[float, float] | None = None,
    second: str | None = None,
) -> ViewIndex:
    """An index at (u, v) whose card's middle is where a poker card's is, or at `card`."""
    shares = np.full(53, 0.0, np.float32)
    shares[DECK_LABELS.index(label)] = share
    if second:
        shares[DECK_LABELS.index(second)] = 1 - share
    off = np.array([25.5, 32.0]) * (-1 if turned else 1)
    at = np.array([u, v])
    return ViewIndex(
        at, 180.0 if turned else 0.0, 17.0, shares, 0.9, (u - 4, v - 9, u + 4, v + 9),
        card=at + off if card is None else np.array(card),
    )  # fmt: skip


def told(cards: list[CardRead]) -> list[tuple[str, int]]:
    return sorted((c.label, c.indices) for c in cards)


@pytest.mark.parametrize(
    ("observations", "cards"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([observation("AS")], [("AS", 1)], id="one index"),
        pytest.param(
            [observation("AS", 0, 0), observation("AS", 51, 64, turned=True)], [("AS", 2)],
            id="both corners"
        ),
        pytest.param(
            [observation("AS", 0, 0), observation("AS", 56, 70, turned=True)], [("AS", 2)],
            id="both corners of a deck with its indices further out",
        ),
        pytest.param(
            [observation("AS", 0, 0), observation("KD", 18, 0), observation("KD", 69, 64,
            turned=True)], [("AS", 1), ("KD", 2)], id="a row of two",
        ),
        pytest.param(
            [observation("AS", 0, 0), observation("AS", 300, 0)], [("AS", 1), ("AS", 1)],
            id="the same card far away is a second one",
        ),
        pytest.param(
            [observation("9H", 0, 0, share=0.9), observation("6H", 51, 64, turned=True, share=0.6)],
            [("9H", 2)], id="corners that disagree are one card",
        ),
        pytest.param(
            [observation("9H", 0, 0), observation("6H", 5, 3)], [("6H", 1), ("9H", 1)],
            id="two upright indices are never one card's",
        ),
        pytest.param(
            [observation("AC", 0, 0), observation("9H", 20, 0),
             observation(JOKER, 49, 60, turned=True)],
            [("9H", 1), ("AC", 1), (JOKER, 1)],
            id="a word on the card above is none of the card below",
        ),
        pytest.param(
            [observation("AC", 0, 0), observation("9H", 20, 0, share=0.6),
             observation("6H", 51, 64, turned=True, share=0.6)], [("9H", 1), ("AC", 2)],
            id="a card that may lie above, unsure, hides nothing",
        ),
        pytest.param(
            [observation(JOKER, 0, 0), observation(JOKER, 50, 38, turned=True)], [(JOKER, 2)],
            id="a joker's long words",
        ),
    ],
)  # fmt: skip
def test_indices_are_joined_to_cards(
    observations: list[ViewIndex], cards: list[tuple[str, int]]
) -> None:
    assert told(join_cards(observations)) == cards
    assert told(join_cards(observations[::-1])) == cards


def test_a_mark_on_another_card_does_not_lie_apart() -> None:
    """A court figure that reads as a joker lies on its card, an eighth card's mark beside it."""
    king = [observation("KD", 0, 0), observation("KD", 51, 64, turned=True)]
    for u, v, apart in ((25, 32, False), (53, 30, False), (72, 64, True)):
        cards = join_cards([*king, observation(JOKER, u, v, turned=True)])
        assert [card.apart for card in cards if card.label == JOKER] == [apart]


def test_a_joined_card_lies_in_the_middle_and_is_as_sure_as_its_better_corner() -> None:
    (card,) = join_cards(
        [observation("AS", 0, 0, share=0.8), observation("AS", 53, 66, turned=True, share=0.95)]
    )
    assert card.share == pytest.approx(0.95)
    assert card.center_mm == pytest.approx((26.5, 33.0))


def test_a_card_whose_corners_disagree_is_never_quite_sure() -> None:
    observations = [
        observation("9H", share=0.99),
        observation("6H", 51, 64, turned=True, share=0.97),
    ]
    (card,) = join_cards(observations)
    assert card.share < 0.93
    assert card.indices == 2


def test_a_card_with_an_index_in_each_corner_is_one_card() -> None:
    corners = [
        observation("4H", 0, 0), observation("4H", 51, 0), observation("4H", 0, 64, turned=True),
        observation("4H", 51, 64, turned=True),
    ]  # fmt: skip
    (card,) = join_cards(corners)
    assert (card.label, card.indices) == ("4H", 4)
    assert card.center_mm == pytest.approx((25.5, 32.0), abs=1)
    (card,) = join_cards(corners[:2])
    assert card.center_mm == pytest.approx((25.5, 32.0), abs=2)
    # One card above another of its name is a second one.
    assert len(join_cards([observation("4H", 0, 0), observation("4H", 0, 98)])) == 2


def test_seven_cards_in_overlapping_rows() -> None:
    low = [observation("KS", -60, 0), observation("KD", -20, 2)]
    high = [observation(c, -80 + 20 * k, 100) for k, c in enumerate(("9C", "9D", "4H", "4S", "2C"))]
    last = observation("2C", -80 + 80 + 51, 164, turned=True)
    second = observation("KD", -20 + 51, 66, turned=True)
    cards = join_cards([*low, *high, last, second])
    assert sorted(c.label for c in cards) == sorted(["KS", "KD", "9C", "9D", "4H", "4S", "2C"])


@pytest.mark.parametrize(
    ("seen_in", "of", "kept"), [(1, 1, True), (1, 3, True), (1, 4, False), (2, 6, True)]
)
def test_an_index_must_be_seen_in_a_third_of_the_pictures(
    seen_in: int, of: int, kept: bool
) -> None:
    steady = observation("KD", 50, 0)
    readings = [[steady, observation("AS")] if k < seen_in else [steady] for k in range(of)]
    assert [s.label for s in fuse_indices(readings)][:2] == (["KD", "AS"] if kept else ["KD"])


def test_fused_shares_are_the_mean_of_logarithms() -> None:
    readings = [
        [observation("9H", 0.0, 0.0, share=0.9, second="6H")],
        [observation("9H", 1.0, 2.0, share=0.4, second="6H")],
        [observation("9H", 2.0, 1.0, share=0.9, second="6H")],
    ]
    (fused,) = fuse_indices(readings)
    assert fused.label == "9H"
    nine, six = (float(fused.shares[DECK_LABELS.index(c)]) for c in ("9H", "6H"))
    assert nine == pytest.approx((0.9 * 0.4 * 0.9) ** (1 / 3), rel=1e-3)
    assert six == pytest.approx((0.1 * 0.6 * 0.1) ** (1 / 3), rel=1e-3)
    assert fused.center == pytest.approx(np.array([1.0, 1.0]))
    assert fused.shares.sum() <= 1.0 + 1e-6


def test_one_wrong_picture_of_three_is_outvoted() -> None:
    readings = [
        [observation("9H", share=0.95)],
        [observation("6H", share=0.7)],
        [observation("9H", share=0.95)],
    ]
    (fused,) = fuse_indices(readings)
    assert fused.label == "9H"
    assert float(fused.shares.max()) < 0.6


def test_neighbours_in_a_row_are_not_fused() -> None:
    readings = [[observation("9H", 0, 0), observation("8H", 15, 0)]] * 3
    assert [s.label for s in fuse_indices(readings)] == ["9H", "8H"]


@pytest.mark.parametrize("seat", [None, 1, 4])
def test_cards_go_to_the_nearer_box(seat: int | None) -> None:
    part = TABLE.dealer if seat is None else TABLE.seat(seat)
    place = part.place

    def card(label: str, box: str, off: float) -> CardRead:
        polygon = part.low if box == "low" else part.high
        u, v = place.to_local(np.array([polygon.center_mm]))[0]
        return CardRead(label, 0.9, (float(u) + off, float(v) + off / 4), 1)

    low = [card("AS", "low", -30), card("AD", "low", 25)]
    high = [card(c, "high", o) for c, o in zip(("2C", "3C", "4C"), (-60, 0, 60), strict=True)]
    got = split_hands([high[0], low[0], high[1], low[1], high[2]], part.low, part.high, place)
    assert got == (low, high)


def test_indices_are_read_at_any_turn() -> None:
    place = TABLE.seat(2).place
    camera = synthetic_camera(FELT, height_mm=3000, tilt_deg=20, width_px=3840, height_px=2160)
    calibration = Calibration.fit(table_camera(camera, TABLE))
    frame = np.full((2160, 3840, 3), 120, np.uint8)
    near = place.to_felt(np.array([[0.0, 0.0], [0.0, -10.0]]))
    tip = calibration.felt_to_image(near)
    up = np.degrees(np.arctan2(*(tip[1] - tip[0]))[()])
    wanted = [
        ("KD", -60.0, 20.0, 0), ("4C", 40.0, 100.0, 180), ("9S", 90.0, -30.0, 0),
        ("7H", -90.0, 100.0, 90), ("2D", -20.0, -60.0, 225),
    ]  # fmt: skip
    boxes = []
    for label, u, v, turn in wanted:
        ((x, y),) = calibration.felt_to_image(place.to_felt(np.array([[u, v]])))
        height = 20.0 * calibration.pixels_per_mm(place.center_mm)
        paint_index(frame, label, (float(x), float(y)), 180 - up + turn, height)
        right, down = (np.abs(axis) for axis in axes(turn))
        half = (0.46 * 20 * right + 20 * down) / 2 * VIEW_PX / VIEW_MM
        middle = (np.array([u, v]) + VIEW_MM / 2) * VIEW_PX / VIEW_MM
        boxes.append([*(middle - half), *(middle + half)])
    empty = np.array([[300.0, 500, 308, 516]])
    xyxy = np.vstack([boxes, empty]).astype(np.float32)
    found = Detections(xyxy, np.full(6, 0.9, np.float32), np.zeros(6, np.int64), NAMES)
    seen = see_indices(frame, calibration, place, found, VIEW_PX, ColourReader())
    observations = seen.indices
    assert seen.plain is None
    assert [s.label for s in observations] == [label for label, *_ in wanted]
    assert [s.turn_deg for s in observations[:3]] == [0.0, 180.0, 0.0]
    for own, (_, u, v, turn) in zip(observations, wanted, strict=True):
        assert own.center == pytest.approx(np.array([u, v]), abs=0.1)
        assert own.turn_deg == pytest.approx(turn, abs=4.0)
        right, down = axes(turn)
        card = np.array([u, v]) + 25.5 * right + 32 * down
        assert own.card == pytest.approx(card, abs=0.1 if turn % 180 == 0 else 3.0)
        assert own.share > 0.6


class Unsure:
    """A reader that takes everything for no index, with this share for a joker."""

    def __init__(self, joker: float) -> None:
        self.joker = joker

    def read(self, crops: np.ndarray) -> np.ndarray:
        shares = np.full((len(crops), 54), 0.001, np.float32)
        shares[:, DECK_LABELS.index(JOKER)] = self.joker
        shares[:, 53] = 1 - 0.052 - self.joker
        return shares


def test_a_joker_is_told_by_both_and_other_things_by_their_reader() -> None:
    place = Place(center_mm=(1000.0, 600.0))
    camera = synthetic_camera(FELT, width_px=1280, height_px=720)
    calibration = Calibration.fit(table_camera(camera, TABLE))
    frame = np.zeros((720, 1280, 3), np.uint8)
    found = Detections(
        np.array([[100, 100, 112, 160], [300, 100, 312, 130], [0, 0, 90, 90]], np.float32),
        np.array([0.8, 0.9, 0.9], np.float32), np.array([1, 0, 2]), NAMES,
    )  # fmt: skip
    (joker,) = see_indices(frame, calibration, place, found, VIEW_PX, Unsure(0.3)).indices
    assert joker.label == JOKER
    assert float(joker.shares.max()) == pytest.approx(1.5 / (1 + 4 * 0.3), abs=0.001)
    # Pips that the detector takes for its word are none where the reader says so.
    assert see_indices(frame, calibration, place, found, VIEW_PX, Unsure(0.01)).indices == ()
    assert backs_seen(found) == 1
    assert (
        see_indices(frame, calibration, place, found.of("back"), VIEW_PX, Unsure(0.3)).indices == ()
    )


def shares_of(card: str, share: float) -> np.ndarray:
    """What a reader gives, (54,), with the rest told to be no index."""
    shares = np.zeros(54, np.float32)
    shares[53] = 1 - share
    shares[DECK_LABELS.index(card)] = share
    return shares


def test_a_joker_found_as_an_index_is_a_joker_with_its_readers_share() -> None:
    told = card_shares(shares_of(JOKER, 0.9), False)
    assert told is not None
    assert DECK_LABELS[int(told.argmax())] == JOKER
    assert float(told.max()) == pytest.approx(0.9)
    assert card_shares(shares_of(JOKER, 0.3), False) is None


def test_what_is_found_as_a_joker_is_likelier_one_but_the_reader_may_say_otherwise() -> None:
    # Five times likelier: odds of 0.6 to 0.4 become 3 to 0.4.
    told = card_shares(shares_of(JOKER, 0.6), True)
    assert told is not None
    assert float(told[DECK_LABELS.index(JOKER)]) == pytest.approx(3.0 / 3.4)
    # A club's pips, a figure or a letter of the felt: none, and no joker.
    assert card_shares(shares_of(JOKER, 0.05), True) is None
    king = card_shares(shares_of("KD", 0.8), True)
    assert king is not None
    assert DECK_LABELS[int(king.argmax())] == "KD"
    assert float(king.max()) == pytest.approx(0.8)
