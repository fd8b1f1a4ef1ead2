"""The table's own joker, enrolled from a rendered view and found in others."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from datasets.render.cards.deck import Deck, Face, draw_deck
from datasets.render.cards.deck_style import DeckStyle
from datasets.render.scene import CardItem, Item
from datasets.training.asset_pool import Stage
from datasets.training.view_items import hand_items
from datasets.training.views import LabelledView, render_table_view
from models.evaluate.predictions import flat_view
from settlement.record import DECK_LABELS, JOKER
from vision.cards.joker_enrolment import enrol_joker, laid_card
from vision.cards.joker_match import (
    Sample,
    find_joker,
    samples_of,
    with_joker,
)
from vision.cards.view import ViewIndex
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM

HAND = ["AS", "KD", JOKER, "9C", "8H", "4D", "QS"]
OTHERS = [card for card in HAND if card != JOKER]


def with_face(marked: bool) -> Deck:
    """The built-in deck with a joker that shows nothing, or a mark that no network saw: rings
    above a bar."""
    own = draw_deck()
    face = np.full_like(own.faces[JOKER].bgra, 255)
    face[..., 3] = own.faces[JOKER].bgra[..., 3]
    for part in (face, face[::-1, ::-1]) if marked else ():
        art = np.ascontiguousarray(part)
        cv2.circle(art, (42, 48), 20, (160, 40, 20, 255), 7)
        cv2.rectangle(art, (26, 84), (62, 96), (30, 30, 160, 255), -1)
        cv2.circle(art, (190, 264), 60, (40, 140, 40, 255), 12)
        part[:] = art
    faces = {label: own.faces[label] for label in DECK_LABELS}
    faces[JOKER] = Face(face, own.faces[JOKER].indices)
    return replace(own, faces=faces)


@pytest.fixture(scope="module")
def deck() -> Deck:
    return with_face(True)


@pytest.fixture(scope="module")
def stage(deck: Deck) -> Stage:
    return Stage.draw(np.random.default_rng(8), [deck])


def view_of(deck: Deck, stage: Stage, laid: list[Item], seed: int, size: int = 640) -> LabelledView:
    return render_table_view(np.random.default_rng(seed), deck, stage, size, laid)


def alone(deck: Deck, stage: Stage, card: str, turn: float = 9.0, seed: int = 3) -> ByteArray:
    laid: list[Item] = [CardItem("j", card, (4.0, -3.0), turn, True)]
    return view_of(deck, stage, laid, seed, 800).image


def fanned(deck: Deck, stage: Stage, cards: list[str], seed: int, turn: float = 0.0) -> ByteArray:
    rng = np.random.default_rng(seed)
    laid = [
        *hand_items(rng, cards[:2], (0.0, -50.0), 40.0, turn, True, "l"),
        *hand_items(rng, cards[2:], (0.0, 50.0), 20.0, turn, True, "h"),
    ]
    return view_of(deck, stage, laid, seed).image


@pytest.fixture(scope="module")
def samples(deck: Deck, stage: Stage) -> tuple[Sample, ...]:
    image = alone(deck, stage, JOKER)
    joker = laid_card(image, flat_view(image)[1], (0.0, 0.0))
    assert joker is not None
    kept = enrol_joker(image, joker)
    assert kept is not None
    return samples_of(kept)


def read(label: str, at: tuple[float, float], share: float = 0.99) -> ViewIndex:
    shares = np.full(len(DECK_LABELS), (1 - share) / 60, np.float32)
    shares[DECK_LABELS.index(label)] = share
    center = np.array(at)
    card = center + np.array([25.0, 32.0])
    return ViewIndex(center, 0.0, 17.0, shares, 0.8, (0, 0, 9, 9), card=card)


@pytest.mark.parametrize(
    ("turn", "bridge"), [(-70.0, False), (0.0, True), (35.0, True), (100.0, False)]
)
def test_the_outline_of_a_laid_card(deck: Deck, stage: Stage, turn: float, bridge: bool) -> None:
    own = draw_deck(DeckStyle(size_mm=(57.0, 89.0))) if bridge else deck
    image = alone(own, stage, JOKER, turn)
    joker = laid_card(image, flat_view(image)[1], (0.0, 0.0))
    assert joker is not None
    # Views are up to 5% larger or smaller than they say.
    wide, tall = joker.size_mm
    assert wide / tall == pytest.approx(57 / 89 if bridge else 63 / 88, rel=0.03)
    corners = joker.corners
    middle = (corners.mean(axis=0) + 0.5) * VIEW_MM / 800 - VIEW_MM / 2
    assert math.dist(middle, (4.0, -3.0)) < 8.0
    along = corners[1] - corners[0]
    off = math.degrees(math.atan2(along[1], along[0])) - turn
    assert abs((off + 90) % 180 - 90) < 2.5


def test_no_card_no_outline(deck: Deck, stage: Stage) -> None:
    bare = view_of(deck, stage, [], 3, 800).image
    assert laid_card(bare, flat_view(bare)[1], (0.0, 0.0)) is None
    fan = fanned(deck, stage, HAND, 3)
    assert laid_card(fan, flat_view(fan)[1], (0.0, 50.0)) is None


def test_a_card_without_a_mark_is_refused(stage: Stage) -> None:
    image = alone(with_face(False), stage, JOKER)
    joker = laid_card(image, flat_view(image)[1], (0.0, 0.0))
    assert joker is not None
    assert enrol_joker(image, joker) is None


def test_both_ends_are_kept_and_their_marks_found(samples: tuple[Sample, ...]) -> None:
    assert len(samples) == 2
    for sample in samples:
        x0, y0, x1, y1 = sample.mark
        # Rings and bar reach from 4 to 16 mm below the card's edge.
        assert (y0, y1) == (pytest.approx(3, abs=3), pytest.approx(32, abs=4))
        assert x1 - x0 >= 16


@pytest.mark.parametrize("seed", [11, 12, 13])
@pytest.mark.parametrize("turn", [0.0, 180.0, 6.0])
def test_the_joker_is_found_in_a_fanned_hand(
    deck: Deck, stage: Stage, samples: tuple[Sample, ...], seed: int, turn: float
) -> None:
    image = fanned(deck, stage, HAND, seed, turn)
    best = find_joker(image, samples)[0]
    assert best.probability > 0.9
    assert abs((best.turn_deg - turn + 180) % 360 - 180) < 12
    without = fanned(deck, stage, [c.replace(JOKER, "2C") for c in HAND], seed, turn)
    assert find_joker(without, samples)[0].probability < 0.1


def test_an_unread_card_is_the_joker(deck: Deck, stage: Stage, samples: tuple[Sample, ...]) -> None:
    image = fanned(deck, stage, HAND, 11)
    others = [read(card, (60.0 + 12 * n, 60.0)) for n, card in enumerate(OTHERS)]
    found = with_joker(others, image, samples)
    assert len(found) == 7
    assert (found[-1].label, found[-1].turn_deg) == (JOKER, 0.0)
    assert found[-1].share > 0.9
    # A weak reading of the mark as some other card gives way; a sure one stays.
    mark = (float(found[-1].center[0]), float(found[-1].center[1]))
    weak = with_joker([*others, read("7C", mark, 0.5)], image, samples)
    assert sorted(i.label for i in weak) == sorted([*(i.label for i in others), JOKER])
    kept = with_joker([*others[:-1], read("7C", mark)], image, samples)
    assert JOKER not in [i.label for i in kept]


def test_a_whole_hand_is_not_searched(
    deck: Deck, stage: Stage, samples: tuple[Sample, ...]
) -> None:
    image = fanned(deck, stage, HAND, 11)
    whole = [read(card, (-80.0 + 26 * n, 60.0)) for n, card in enumerate([*OTHERS, "2C"])]
    assert with_joker(whole, image, samples) == tuple(whole)
    assert with_joker([], image, samples) == ()
    assert with_joker(whole[:3], image, ()) == tuple(whole[:3])
