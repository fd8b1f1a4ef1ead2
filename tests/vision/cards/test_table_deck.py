"""Crops compared with the table's own deck."""

from __future__ import annotations

import base64
from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.card_rounds import Table
from datasets.render.cards.deck import draw_deck
from datasets.render.cards.deck_style import random_style
from datasets.simulate.house_tables import table_for
from datasets.training.asset_pool import Stage
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.cards.table_deck import (
    DeckReader,
    DeckSamples,
    compared,
    needed,
    reader_for,
    table_deck,
)
from vision.detect.detections import ByteArray, Floats
from vision.networks import load_networks

JOKERS = DECK_LABELS.index(JOKER)


def shares(card: int, share: float, second: int | None = None) -> Floats:
    out = np.full((1, 54), 1e-4, np.float32)
    out[0, card] = share
    if second is not None:
        out[0, second] = 0.99 - share
    return out / out.sum()


def like(card: int, other: int | None = None) -> Floats:
    out = np.full((1, 53), -0.02, np.float32)
    out[0, card] = 0.9
    if other is not None:
        out[0, other] = 0.2
    return out


def test_likeness_decides_what_the_reader_takes_for_another_card() -> None:
    torn = compared(shares(10, 0.6, second=20), like(20, 10))
    assert int(torn.argmax()) == 20
    assert torn.sum() == pytest.approx(1)
    sure = compared(shares(10, 0.99), like(10))
    assert sure[0, 10] > 0.97


def test_what_is_like_no_card_is_none() -> None:
    nothing = np.full((1, 53), 0.05, np.float32)
    assert int(compared(shares(53, 0.9), nothing).argmax()) == 53
    assert compared(shares(10, 0.6, second=53), nothing)[0, 53] > 0.5


def test_a_card_without_a_sample_is_known_by_the_reader_alone() -> None:
    likeness = np.full((1, 53), -0.02, np.float32)
    likeness[0, JOKERS] = np.nan
    out = compared(shares(JOKERS, 0.97), likeness)
    assert int(out.argmax()) == JOKERS
    other = like(10)
    other[0, JOKERS] = np.nan
    assert int(compared(shares(10, 0.9, second=JOKERS), other).argmax()) == 10


def test_samples_come_back_from_the_table_file() -> None:
    rng = np.random.default_rng(4)
    crops = np.asarray(
        [cv2.GaussianBlur(rng.integers(0, 255, (64, 64, 3)).astype(np.uint8), (0, 0), 3)
         for _ in DECK_LABELS], np.uint8,
    )  # fmt: skip
    crops[JOKERS] = 0
    data = DeckSamples(crops).as_table_data()
    table = table_for("imperial_pai_gow_draw").model_copy(update=data)
    again = table_deck(table)
    assert again is not None
    assert again.there.sum() == 52
    assert not again.there[JOKERS]
    assert np.abs(again.crops.astype(int) - crops).mean() < 4
    assert len(data["deck_jpeg"]) < 200_000


@pytest.mark.parametrize("broken", ["no image", base64.b64encode(b"no image").decode(), "small"])
def test_broken_samples_in_a_table_file_are_named(broken: str) -> None:
    _, small = cv2.imencode(".jpg", np.zeros((64, 64, 3), np.uint8))
    text = base64.b64encode(small.tobytes()).decode() if broken == "small" else broken
    table = table_for("imperial_pai_gow_draw")
    with pytest.raises(ValueError, match="JPEG image as base64, 576 px wide and 384 px high"):
        type(table).model_validate(table.model_dump() | {"deck_jpeg": text})


class Lost:
    """A reader that knows nothing of this deck."""

    def read(self, crops: ByteArray) -> Floats:
        return np.full((len(crops), 54), 1 / 54, np.float32)


class ByColour:
    """Compares crops by the mean colours of their quarters."""

    def features(self, crops: ByteArray) -> Floats:
        quarters = crops.reshape(len(crops), 2, 32, 2, 32, 3).mean(axis=(2, 4))
        return np.asarray(quarters.reshape(len(crops), -1), np.float32)


def coloured() -> ByteArray:
    rng = np.random.default_rng(6)
    quarters = rng.integers(20, 250, (53, 2, 1, 2, 1, 3)).astype(np.uint8)
    return np.asarray(np.broadcast_to(quarters, (53, 2, 32, 2, 32, 3)).reshape(53, 64, 64, 3))


def test_a_crop_is_the_card_whose_sample_it_is_like() -> None:
    crops = coloured()
    reader = DeckReader(Lost(), ByColour(), DeckSamples(crops))
    dimmer = np.asarray(crops * 0.97, np.uint8)
    assert reader.read(dimmer).argmax(axis=1).tolist() == list(range(53))
    likeness = reader.likeness(dimmer)
    assert likeness.shape == (53, 53)
    assert likeness[7, 7] > 0.95


def test_a_card_without_a_sample_is_like_none() -> None:
    crops = coloured()
    missing = crops.copy()
    missing[12] = 0
    reader = DeckReader(Lost(), ByColour(), DeckSamples(missing))
    assert np.isnan(reader.likeness(crops)[:, 12]).all()
    assert not np.isnan(reader.likeness(crops)[:, 13]).any()


def test_a_table_without_samples_is_read_by_the_reader_alone() -> None:
    table = table_for("imperial_pai_gow_draw")
    reader = Lost()
    assert reader_for(table, reader, None) is reader
    own = table.model_copy(update=DeckSamples(coloured()).as_table_data())
    with pytest.raises(FeltwatchError, match="weights have no network that compares"):
        reader_for(own, reader, None)
    assert isinstance(reader_for(own, reader, ByColour()), DeckReader)


@pytest.mark.render
def test_a_drawn_deck_knows_its_own_samples() -> None:
    networks = load_networks(default_weights())
    rng = np.random.default_rng(7)
    deck = draw_deck(random_style(rng, []))
    table = Table("drawn", deck, frozenset(), Stage.draw(rng, [deck]), 11)
    taken = table.enrolled(networks.detector, networks.reader)
    assert taken is not None
    assert len(taken.at_mm) >= 52
    there = taken.samples.there
    assert networks.comparer is not None
    own = DeckReader(networks.reader, networks.comparer, taken.samples)
    read = own.read(taken.samples.crops[there])
    assert [DECK_LABELS[k] for k in read.argmax(axis=1)] == [
        label for label, own in zip(DECK_LABELS, there, strict=True) if own
    ]
    assert np.median(read.max(axis=1)) > 0.9


@pytest.mark.render
def test_a_deck_that_the_reader_reads_otherwise_is_known_by_its_named_rows() -> None:
    networks = load_networks(default_weights())
    rng = np.random.default_rng(8)
    drawn = draw_deck(random_style(rng, []))
    # Each rank is shown by the figure of another one, in no order.
    shown = dict(zip("A23456789TJQK", "6K2TA94J873Q5", strict=True))
    faces = {
        label: drawn.faces[label if label == JOKER else shown[label[0]] + label[1]]
        for label in DECK_LABELS
    }
    deck = replace(drawn, faces=faces)
    table = Table("otherwise", deck, frozenset(), Stage.draw(rng, [deck]), 11)
    taken = table.enrolled(networks.detector, networks.reader)
    assert taken is not None
    assert taken.is_named
    there = taken.samples.there
    assert there.sum() >= 50
    own = DeckReader(networks.reader, needed(networks.comparer), taken.samples)
    read = own.read(taken.samples.crops[there])
    labels = [label for label, own in zip(DECK_LABELS, there, strict=True) if own]
    right = [DECK_LABELS[k] == label for k, label in zip(read.argmax(axis=1), labels, strict=True)]
    assert np.mean(right) > 0.9
