"""Cards with an index in each corner, some of which read as other cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.card_rounds import PlayedRound, place_views, read_moments
from datasets.render.cards.deck import draw_deck
from datasets.render.cards.deck_style import random_style
from datasets.training.asset_pool import Stage
from models.weights.folder import default_weights
from settlement.record import DECK_LABELS
from vision.cards.view import CardRead, ViewIndex, fuse_indices, join_cards
from vision.networks import load_networks

ACROSS, DOWN = 51.0, 64.0
"""From an upper left index to the others of its card, mm."""


def index(
    label: str, u: float, v: float, *, turned: bool = False, share: float = 0.97
) -> ViewIndex:
    """An index at (u, v), the rest of its probability at no card."""
    shares = np.zeros(53, np.float32)
    shares[DECK_LABELS.index(label)] = share
    at = np.array([u, v])
    card = at + np.array([25.5, 32.0]) * (-1 if turned else 1)
    box = (u - 4, v - 9, u + 4, v + 9)
    return ViewIndex(at, 180.0 if turned else 0.0, 17.0, shares, 0.9, box, card=card)


def fan(names: Sequence[str], *, tilt_deg: float = 0.0, pitch: float = 18.0) -> list[ViewIndex]:
    """The left corners of cards in a row, upper and lower, as each pair of names reads, and the
    right ones of the last."""
    a = np.radians(tilt_deg)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    corners = [
        (name, at, k)
        for n, both in enumerate(names)
        for k, (name, at) in enumerate(
            zip(both.split(), ((pitch * n, 0.0), (pitch * n, DOWN)), strict=True)
        )
    ]
    last = names[-1].split()[0]
    x = pitch * (len(names) - 1) + ACROSS
    corners += [(last, (x, 0.0), 0), (last, (x, DOWN), 1)]
    return [index(name, *(turn @ np.array(at)), turned=bool(k)) for name, at, k in corners]


def shown(cards: Sequence[CardRead]) -> list[tuple[str, int]]:
    return sorted((card.label, card.indices) for card in cards)


SIX = [
    index("6S", 0, 0),
    index("6S", ACROSS, 0),
    index("6S", 0, DOWN, turned=True),
]


def test_a_fourth_corner_that_reads_as_another_card_is_no_card() -> None:
    (card,) = join_cards([*SIX, index("5S", ACROSS, DOWN, turned=True)])
    assert (card.label, card.indices) == ("6S", 4)
    # With two opposite corners as well, but not with one edge: the next card may begin there.
    (card,) = join_cards([SIX[1], SIX[2], index("5S", ACROSS, DOWN, turned=True)])
    assert (card.label, card.indices) == ("6S", 3)
    assert shown(join_cards([SIX[0], SIX[2], index("5S", ACROSS, 0)])) == [("5S", 1), ("6S", 2)]


def test_opposite_corners_of_two_names_are_one_card() -> None:
    seen = [
        index("JC", 0, 0), index("JC", ACROSS, DOWN, turned=True),
        index("JS", ACROSS, 0), index("JS", 0, DOWN, turned=True),
    ]  # fmt: skip
    (card,) = join_cards(seen)
    assert card.indices == 4
    assert card.share < 0.93


def test_a_card_that_shows_two_corners_above_another_is_one_of_its_own() -> None:
    other = [index("5S", ACROSS, 0), index("5S", ACROSS, DOWN, turned=True)]
    assert shown(join_cards([SIX[0], SIX[2], *other])) == [("5S", 2), ("6S", 2)]


@pytest.mark.parametrize("tilt_deg", [-12.0, -5.0, 0.0, 5.0, 12.0])
def test_two_corners_of_one_edge_of_several_names_are_one_card(tilt_deg: float) -> None:
    cards = join_cards(fan(["KC KS", "9H 9H", "2D 2D", "2C 2S", "7H 7H"], tilt_deg=tilt_deg))
    assert [card.indices for card in cards if card.label[0] == "K"] == [2]
    assert [card.indices for card in cards if card.label in ("2C", "2S")] == [2]
    assert len(cards) == 5
    # Neither is ever sure.
    assert all(card.share < 0.93 for card in cards if card.label[1] in "CS")


def test_neighbours_that_show_one_corner_each_stay_two_cards() -> None:
    cards = join_cards([*fan(["KC KC", "9H 9H", "2D 2D"])[1:], index("JS", -18.0, 0.0)])
    assert shown(cards) == [("2D", 4), ("9H", 2), ("JS", 1), ("KC", 1)]


def test_a_narrow_card_askew_is_known_by_how_another_one_lies() -> None:
    """The lower right index, half under the next card, reads as another card."""
    seen = [
        index("QC", -60, 18), index("2C", -3, 73, turned=True),
        index("AC", 0, 8), index("AC", 58, 64, turned=True),
    ]  # fmt: skip
    assert shown(join_cards(seen[:2])) == [("2C", 1), ("QC", 1)]
    cards = join_cards(seen)
    assert sorted(card.indices for card in cards) == [2, 2]


@pytest.mark.render
@pytest.mark.parametrize(
    ("number", "place", "moments", "misread"),
    [(34, 2, 1, {}), (50, 0, 3, {}), (59, 1, 1, {"8C": "8S"}), (59, 1, 3, {"8C": "8S"})],
)
def test_drawn_cards_with_an_index_in_each_corner(
    number: int, place: int, moments: int, misread: dict[str, str]
) -> None:
    """Hands in which one corner or two of a card read as another card, with up to 0.95; the reader
    takes an eight of clubs for that of spades."""
    networks = load_networks(default_weights())
    style = random_style(np.random.default_rng([7711, 4, number // 2]), [])
    deck = draw_deck(replace(style, all_corners=True))
    rng = np.random.default_rng([7712, 4, number])
    played = PlayedRound.draw(rng)
    stage, views = Stage.draw(rng, [deck]), int(rng.integers(2**31))
    images = place_views(
        deck, stage, played.hand(place), place + 1, (views, place), networks.detector.size
    )
    read = read_moments(images[:moments], networks.detector, networks.reader)
    cards = join_cards(fuse_indices([one.indices for one in read]))
    wanted = [misread.get(label, label) for label in played.hand(place)]
    assert sorted(card.label for card in cards) == sorted(wanted)
    assert all(card.share < 0.93 for card in cards if card.label in misread.values())
