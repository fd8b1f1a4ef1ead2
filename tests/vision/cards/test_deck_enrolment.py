"""A deck that lies spread in rows: which index is which card's, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import ArrayLike

from datasets.simulate.house_tables import table_for
from models.evaluate.predictions import flat_view
from settlement.record import DECK_LABELS, JOKER
from vision.cards.deck_enrolment import (
    LOOKS,
    EnrolledDeck,
    LaidIndex,
    deck_of,
    laid_indices,
    once_each,
    views_of_felt,
)
from vision.cards.laid_rows import DeckNotEnrolledError, declared_rows
from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.table import VIEW_MM

RANKS, SUITS = "A23456789TJQK", "SHDC"
ROWS = [[rank + suit for rank in RANKS] for suit in SUITS]


def index(label: str | None, at: ArrayLike, share: float = 0.9, way: int = 0) -> LaidIndex:
    """A find that reads as a card, or as none, one way up; its crops are of its label's number."""
    shares = np.full((2, 54), 1e-4, np.float32)
    shares[:, 53] = 1.0
    number = 53 if label is None else DECK_LABELS.index(label)
    shares[way] = (1 - share) / 53
    shares[way, number] = share
    crops = np.full((2, 64, 64, 3), 1, np.uint8)
    crops[way] += number
    return LaidIndex(np.array(at, float), 15.0, 0.9, crops, shares)


def spread(
    rows: Sequence[Sequence[str | None]], *, share: float = 0.9, turn_deg: float = 0.0,
    way: int = 0, seed: int = 1,
) -> list[LaidIndex]:  # fmt: skip
    """Rows of cards some mm out of line, the whole turned."""
    rng = np.random.default_rng(seed)
    a = np.radians(turn_deg)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return [
        index(label, turn @ (np.array([22.0 * n, 38.0 * k]) + rng.normal(0, 1.2, 2)), share, way)
        for k, row in enumerate(rows)
        for n, label in enumerate(row)
        if label is not None
    ]


def names(deck: EnrolledDeck) -> list[str]:
    """What each sample is of, by its crops."""
    return [
        "" if not crop.any() else (*DECK_LABELS, "NONE")[int(crop[0, 0, 0]) - 1]
        for crop in deck.samples.crops
    ]


WHOLE = [*ROWS[:3], [*ROWS[3], JOKER]]


@pytest.mark.parametrize("turn_deg", [0.0, 9.0, -12.0])
@pytest.mark.parametrize(
    "rows",
    [
        WHOLE,
        [row[::-1] for row in WHOLE],
        [WHOLE[2], WHOLE[0], WHOLE[3], WHOLE[1]],
        [[*row[1:13], row[0], *row[13:]] for row in WHOLE],
        [[JOKER, *ROWS[0]], *ROWS[1:]],
        # As a new deck comes out of its box.
        [ROWS[0], ROWS[2], ROWS[3][::-1], [*ROWS[1][::-1], JOKER]],
    ],
)
def test_every_card_is_known_by_its_place(rows: list[list[str]], turn_deg: float) -> None:
    deck = deck_of(spread(rows, turn_deg=turn_deg))
    assert names(deck) == list(DECK_LABELS)
    assert deck.warnings == ()
    assert len(deck.at_mm) == 53


def test_it_may_lie_upside_down_and_the_view_be_turned() -> None:
    upside = spread(WHOLE, turn_deg=180.0, way=1)
    assert names(deck_of(upside)) == list(DECK_LABELS)
    assert names(deck_of(spread(WHOLE, turn_deg=180.0), 180.0)) == list(DECK_LABELS)


def unknown(rows: Sequence[Sequence[str]], ranks: dict[str, str]) -> list[LaidIndex]:
    """A deck with other letters: what a rank of it reads as."""
    return spread([[ranks.get(c[0], c[0]) + c[1] if c != JOKER else c for c in r] for r in rows])


def test_other_letters_are_the_cards_of_their_places() -> None:
    read = unknown(WHOLE, {"A": "7", "J": "8", "Q": "J"})
    deck = deck_of(read)
    assert [DECK_LABELS[int(i.shares[0].argmax())] for i in read[:1]] == ["7S"]
    places = {label: tuple(at) for label, at in deck.at_mm.items()}
    at = {tuple(one.at_mm): n for n, one in enumerate(read)}
    order = [label for row in WHOLE for label in row]
    assert all(order[at[place]] == label for label, place in places.items())


def placed(deck: EnrolledDeck, read: Sequence[LaidIndex], rows: Sequence[Sequence[str]]) -> bool:
    """Whether each card was taken where it lies."""
    at = {tuple(one.at_mm): n for n, one in enumerate(read)}
    order = [label for row in rows for label in row]
    return all(order[at[tuple(place)]] == label for label, place in deck.at_mm.items())


@pytest.mark.parametrize("rows", [WHOLE, [row[::-1] for row in WHOLE]])
def test_letters_that_read_as_their_neighbours_do_not_shift_a_row(rows: list[list[str]]) -> None:
    # As Greek ones: the jack as a queen, the queen as a king, the king as no court card.
    read = unknown(rows, {"J": "Q", "Q": "K", "K": "7"})
    deck = deck_of(read)
    assert len(deck.at_mm) == 53
    assert placed(deck, read, rows)


@pytest.mark.parametrize("seed", range(6))
def test_rows_laid_unevenly_by_hand_are_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    read = []
    for k, row in enumerate(WHOLE):
        along = np.cumsum(22.0 * rng.uniform(0.72, 1.3, len(row)))
        read += [index(label, (x, 38.0 * k)) for x, label in zip(along, row, strict=True)]
    deck = deck_of(read)
    assert len(deck.at_mm) == 53
    assert placed(deck, read, WHOLE)


def test_what_lies_about_and_a_missing_card_do_not_shift_the_others() -> None:
    rows: list[list[str | None]] = [list(row) for row in WHOLE]
    rows[1][6] = None
    finds = spread(rows)
    rng = np.random.default_rng(5)
    finds += [
        index(None, (22.0 * n + 9, 38.0 * k + 14), 0.7) for n, k in rng.integers(0, 4, (9, 2))
    ]
    finds += [index("KS", (12 * 22 + 51.0, 65.0), way=1)]
    deck = deck_of(finds)
    assert names(deck) == ["" if label == "7H" else label for label in DECK_LABELS]
    assert deck.warnings == ("no index is found of 7H: without a sample",)


def test_a_joker_whose_mark_reads_as_nothing_is_taken_at_the_end_of_a_row() -> None:
    finds = [*spread(ROWS), index(None, (13 * 22.0, 3 * 38.0 + 5))]
    odd = finds[-1]
    odd.shares[0, DECK_LABELS.index(JOKER)] = 0.05
    assert names(deck_of(finds))[DECK_LABELS.index(JOKER)] == "NONE"
    deck = deck_of(finds[:-1])
    assert deck.warnings == ("no index is found of JOKER: without a sample",)
    assert names(deck)[DECK_LABELS.index(JOKER)] == ""


def test_the_end_of_a_row_is_the_jokers_place_whatever_it_reads_as() -> None:
    joker, number = (13 * 22.0, 3 * 38.0 + 2), DECK_LABELS.index(JOKER)
    finds = [*spread(ROWS), index("AS", joker, 0.95)]
    # A pip that reads as a joker lies elsewhere.
    finds.append(index(JOKER, (5 * 22.0 + 9, 38.0 + 16), 0.7))
    deck = deck_of(finds)
    assert names(deck)[number] == "AS"
    assert deck.at_mm[JOKER].tolist() == list(joker)
    without = deck_of([*finds[:-2], finds[-1]])
    assert JOKER not in without.at_mm
    apart = deck_of([*finds[:-2], index(JOKER, (5 * 22.0 + 9, 3 * 38.0 + 60), 0.95)])
    assert names(apart)[number] == JOKER


def test_two_cards_in_each_others_place_are_reported() -> None:
    rows = [list(row) for row in WHOLE]
    rows[0][3], rows[0][8] = rows[0][8], rows[0][3]
    deck = deck_of(spread(rows, share=0.99))
    assert deck.warnings == (
        "the card at the place of 4S reads as 9S", "the card at the place of 9S reads as 4S",
    )  # fmt: skip


def shuffled() -> list[LaidIndex]:
    cards = [str(c) for c in np.random.default_rng(2).permutation(DECK_LABELS[:52])]
    return spread([cards[13 * k : 13 * k + 13] for k in range(4)])


@pytest.mark.parametrize(
    ("finds", "message"),
    [
        ([], "no card is found on the felt"),
        (spread(WHOLE[:3]), "3 rows of cards are found, expected 4"),
        (shuffled(), "the rows do not read as suits in order|no index is found of"),
        (spread([row[:10] for row in ROWS]), "no index is found of 12 cards: JS, QS, KS"),
        (spread([ROWS[0], ROWS[0], ROWS[1], ROWS[1]]), "do not read as suits in order"),
    ],
)
def test_what_is_no_deck_in_order_is_refused(finds: list[LaidIndex], message: str) -> None:
    with pytest.raises(DeckNotEnrolledError, match=message):
        deck_of(finds)


def letters_never_seen(rows: Sequence[Sequence[str]], seed: int) -> list[LaidIndex]:
    """Rows that read as some other card of their suit, or as none, with all kinds of shares."""
    rng = np.random.default_rng(seed)
    finds = spread(rows)
    for one, label in zip(finds, (label for row in rows for label in row), strict=True):
        one.shares[0] = (1 - (share := rng.uniform(0.3, 0.99))) / 53
        is_read = label != JOKER and rng.random() < 0.7
        other = RANKS[rng.integers(13)] + label[1] if is_read else None
        one.shares[0, 53 if other is None else DECK_LABELS.index(other)] = share
    return finds


@pytest.mark.parametrize("seed", range(4))
def test_a_deck_whose_letters_are_not_known_lies_as_a_person_says(seed: int) -> None:
    rows = [ROWS[0], ROWS[2], ROWS[3][::-1], ROWS[1][::-1]]
    read = letters_never_seen(rows, seed)
    with pytest.raises(DeckNotEnrolledError, match="name the rows"):
        deck_of(read)
    deck = deck_of(read, declared=declared_rows("AS-KS AD-KD KC-AC KH-AH"))
    assert len(deck.at_mm) >= 51
    assert placed(deck, read, rows)
    # The whole lies the other way round, in a view that is turned too.
    upside = [
        replace(one, at_mm=-one.at_mm, shares=one.shares[::-1], crops=one.crops[::-1])
        for one in read
    ]
    turned = deck_of(upside, declared=declared_rows("as-ks, ad-kd, kc-ac, kh-ah"))
    assert turned.at_mm.keys() == deck.at_mm.keys()
    assert all((turned.at_mm[label] == -at).all() for label, at in deck.at_mm.items())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [{"AC"}, {"KH", "QH"}, {"AS", "2S"}, {"7D"}])
def test_a_row_without_its_end_lies_as_the_others_do(missing: set[str], seed: int) -> None:
    every = [label for row in WHOLE for label in row]
    read = letters_never_seen(WHOLE, seed)
    left = [one for one, label in zip(read, every, strict=True) if label not in missing]
    deck = deck_of(left, declared=declared_rows("AS-KS AH-KH AD-KD AC-KC"))
    assert placed(deck, read, WHOLE)
    assert set(deck.at_mm).isdisjoint(missing)


@pytest.mark.parametrize("seed", range(4))
def test_rows_need_not_begin_at_one_line(seed: int) -> None:
    read = letters_never_seen(ROWS, seed)
    off = np.random.default_rng(seed).uniform(-8, 8, 4)
    moved = [
        replace(one, at_mm=one.at_mm + np.array([off[n // 13], 0.0])) for n, one in enumerate(read)
    ]
    deck = deck_of(moved, declared=declared_rows("AS-KS AH-KH AD-KD AC-KC"))
    assert placed(deck, moved, ROWS)
    assert len(deck.at_mm) == 52


def test_rows_that_clearly_read_otherwise_are_not_taken_as_named() -> None:
    rows = [ROWS[0], ROWS[2][::-1], [*ROWS[3][1:], ROWS[3][0]], ROWS[1]]
    finds = spread([row[:] for row in rows])
    named = "AS-KS KD-AD 2C-AC AH-KH"
    assert placed(deck_of(finds, declared=declared_rows(named)), finds, rows)
    alike = spread(WHOLE)
    with pytest.raises(DeckNotEnrolledError, match="they read as AS-KS AH-KH AD-KD AC-KC"):
        deck_of(alike, declared=declared_rows("KS-AS AH-KH AD-KD AC-KC"))


@pytest.mark.parametrize(
    "text",
    ["AS-KS AH-KH AD-KD", "AS-KS AH-KH AD-KD AD-KD", "AS-QS AH-KH AD-KD AC-KC", "AS-KH x", "SHDC"],
)
def test_rows_are_named_by_their_first_and_last_cards(text: str) -> None:
    with pytest.raises(DeckNotEnrolledError, match="such as AS-KS AH-KH KD-AD KC-AC"):
        declared_rows(text)


def test_an_index_in_two_views_is_one() -> None:
    finds = spread(WHOLE)
    again = [index("2C", one.at_mm + 2.0, 0.5) for one in finds]
    again = [LaidIndex(o.at_mm, 15.0, 0.4, o.crops, o.shares) for o in again]
    assert {id(one) for one in once_each([*again, *finds])} == {id(one) for one in finds}


class FoundInOneView:
    """A detector that finds each red square of a view in a single one of the views that it is
    given, by turns, and a reader that reads nothing."""

    size, batch = 640, 1

    def __init__(self) -> None:
        self.looks = 0

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        del least
        (view,) = views
        number, marks = cv2.connectedComponents((view[..., 2] > 128).astype(np.uint8))
        boxes = []
        for k in range(1, number):
            rows, columns = np.nonzero(marks == k)
            box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            if k % len(LOOKS) == self.looks % len(LOOKS):
                boxes.append(box)
        self.looks += 1
        return [
            Detections(
                np.array(boxes, np.float32).reshape(-1, 4), np.ones(len(boxes), np.float32),
                np.zeros(len(boxes), np.int64), ("index",),
            )
        ]  # fmt: skip

    def read(self, crops: ByteArray) -> Floats:
        return np.full((len(crops), 54), 1 / 54, np.float32)


def test_what_one_view_does_not_show_another_one_may() -> None:
    image = np.zeros((800, 800, 3), np.uint8)
    at = [(x, y) for x in (200, 300, 400, 500, 600) for y in (300, 500)]
    for x, y in at:
        image[y - 12 : y + 12, x - 8 : x + 8, 2] = 255
    place, calibration = flat_view(image)
    network = FoundInOneView()
    found = laid_indices(image, calibration, place, network, network)
    assert network.looks == len(LOOKS)
    assert len(found) == len(at)
    wanted = (np.array(at) + 0.5) * VIEW_MM / 800 - VIEW_MM / 2
    for one in found:
        assert np.hypot(*(wanted - one.at_mm).T).min() < 1.0


HALF_CARD_MM = 54.0


def test_every_point_of_the_felt_lies_well_inside_a_view() -> None:
    table = table_for("imperial_pai_gow_draw")
    places = list(views_of_felt(table))
    rng = np.random.default_rng(3)
    felt = np.array([table.felt.width_mm, table.felt.height_mm])
    points = rng.uniform(HALF_CARD_MM, felt - HALF_CARD_MM, (500, 2))
    off = np.array([np.abs(place.to_local(points)).max(axis=1) for place in places])
    assert (off.min(axis=0) <= VIEW_MM / 2 - HALF_CARD_MM).all()


def test_the_lower_corners_of_a_row_are_no_row() -> None:
    """A deck with an index in each corner whose row of hearts is hardly found."""
    finds = spread(WHOLE, share=0.98)
    hearts = set(ROWS[1][::2])
    found = [
        one for row, own in zip(WHOLE, _parts(finds), strict=True)
        for label, one in zip(row, own, strict=True) if label not in hearts
    ]  # fmt: skip
    below = spread([[], [], [], ROWS[3]], share=0.98)
    lower = [
        replace(one, at_mm=one.at_mm + np.array([0.0, 64.0]), shares=one.shares[::-1])
        for one in below
    ]  # fmt: skip
    for declared in (None, ROWS):
        with pytest.raises(DeckNotEnrolledError, match="3 rows of cards are found"):
            deck_of([*found, *lower], declared=declared)


def _parts(finds: Sequence[LaidIndex]) -> list[list[LaidIndex]]:
    """Finds of whole rows, row by row."""
    out, own = [], list(finds)
    for row in WHOLE:
        out.append(own[: len(row)])
        own = own[len(row) :]
    return out
