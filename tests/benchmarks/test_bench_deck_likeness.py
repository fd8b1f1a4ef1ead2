"""The fit of how much likeness to a table's own deck counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import deck_likeness
from benchmarks.deck_likeness import Crops, figures, fit, labelled, main
from datasets.render.boxes import Box
from datasets.render.scene import CardItem
from datasets.training.views import LabelledView
from settlement.record import DECK_LABELS
from tests.vision.cards.test_deck_enrolment import index
from vision.cards.table_deck import compared

NONE = len(DECK_LABELS)


def crops(rng: np.random.Generator, likeness_says: float, count: int = 600) -> Crops:
    """Crops of which the reader knows half, and likeness as much as `likeness_says`."""
    truth = rng.integers(0, NONE + 1, count)
    shares = rng.dirichlet(np.full(NONE + 1, 0.5), count)
    known = rng.random(count) < 0.5
    shares[known, truth[known]] += 3
    shares /= shares.sum(axis=1, keepdims=True)
    like = rng.normal(0, 0.15, (count, NONE))
    cards = truth < NONE
    like[cards, truth[cards]] += likeness_says
    return Crops(shares.astype(np.float32), like.astype(np.float32), truth)


def test_likeness_counts_for_as_much_as_it_says() -> None:
    rng = np.random.default_rng(1)
    telling = {f"deck {k}": crops(rng, 0.7) for k in range(4)}
    weights = fit(list(telling.values()))
    assert weights[1] > 5
    out = figures(telling)
    for one in out.values():
        assert one["with likeness"]["log loss"] < 0.6 * one["reader"]["log loss"]
        assert one["with likeness"]["sure"] > one["reader"]["sure"]
    silent = fit([crops(rng, 0.0) for _ in range(4)])
    assert abs(silent[1]) < 1
    assert compared(telling["deck 0"].shares, telling["deck 0"].likeness, weights).shape[1] == 54


def view_of(card: str, at: float) -> LabelledView:
    """A view of one index of a card, upright, its middle at `at` px."""
    half = np.array([[-6, -12], [6, -12], [6, 12], [-6, 12]], float)
    box = Box("index", (at - 6, at - 12, at + 6, at + 12), 1.0, card, half + at)
    return LabelledView(np.zeros((640, 640, 3), np.uint8), (box,))


def test_finds_are_what_the_renderer_says() -> None:
    laid = [CardItem("a", "QH", (26.0, 31.0), 0.0, face_up=True)]
    view = view_of("QH", 319.5)
    there, off = index("QD", (0.0, 0.0)), index(None, (80.0, 90.0))
    beside, sure = index("QH", (52.0, 1.0), 0.5), index("QH", (90.0, -90.0), 0.99)
    found = [(id(one), up, label) for one, up, label in
             labelled(view, laid, [there, off, beside, sure])]  # fmt: skip
    queen = DECK_LABELS.index("QH")
    # The other corner, and what reads as the card with confidence, may be its indices.
    assert found == [(id(there), 0, queen), (id(there), 1, NONE),
                     (id(off), 0, NONE), (id(off), 1, NONE)]  # fmt: skip


def test_without_a_deck_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "give --faces FOLDER or --drawn DECKS" in capsys.readouterr().err


@pytest.mark.slow
def test_a_drawn_deck_is_enrolled_and_its_crops_are_fitted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert deck_likeness.main(["--drawn", "2", "--rounds", "1"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert len(out["weights"]) == 4
    assert out["refused"] == []
    for one in out["decks"].values():
        assert one["reader"]["cards"] > 40
