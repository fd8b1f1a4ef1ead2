"""Fit how much an index's likeness to the table's own deck counts, on decks that are given.

    python -m benchmarks.deck_likeness --faces decks/one --faces decks/two --drawn 10 --write

For each round the deck is enrolled where it lies spread, then hands are rendered, each by a camera
of its own, and whatever the detector finds there is read both ways up. What it is, one of the
deck's cards or none, the renderer says. The fit is checked on decks that are left out in turn.
`--write` puts the weights into vision/cards/likeness_weights.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.card_rounds import SEATS, PlayedRound, Table, card_decks, laid_cards
from benchmarks.deck_doubt import given_decks, write_weights
from datasets.render.cards.deck import Deck
from datasets.render.scene import CardItem, Item
from datasets.training.asset_pool import Stage
from datasets.training.index_patches import LEAST_SEEN
from datasets.training.views import LabelledView, render_table_view
from models.evaluate.predictions import flat_view
from settlement.record import DECK_LABELS
from vision.cards import likeness_weights
from vision.cards.deck_assignment import SURE
from vision.cards.deck_enrolment import LaidIndex, laid_indices
from vision.cards.table_deck import LEAST_SHARE, DeckReader, compared, needed
from vision.cards.view import NONE_PLACE
from vision.detect.detections import Floats
from vision.geometry.table import VIEW_MM, FloatArray
from vision.networks import Networks, load_networks

PARTS = 4
"""Parts of the decks that are left out in turn."""

UPRIGHT_COS = 0.9
"""An index is upright in a crop where it is turned by less than some 25 degrees."""

AGAIN = 0.3
"""A find whose middle lies so near that of an index, over its height, is that index."""

PER_DECK = 1500
"""Most crops of one deck: four-cornered decks show twice as many as others."""


@dataclass(frozen=True)
class Crops:
    """What crops of one deck read as, shares (n, 54), how like they are to its samples, (n, 53),
    and what they are, (n,)."""

    shares: Floats
    likeness: Floats
    truth: npt.NDArray[np.intp]

    def loss(self, weights: Sequence[float]) -> float:
        """Mean log loss."""
        own = compared(self.shares, self.likeness, weights)
        right = own[np.arange(len(own)), self.truth]
        return float(-np.mean(np.log(np.maximum(right, LEAST_SHARE))))

    def counted(self, shares: Floats) -> dict[str, int]:
        """Cards that are sure and right or wrong by `shares`, and sure cards that are none."""
        sure = shares[:, :NONE_PLACE].max(axis=1) >= SURE
        right = shares.argmax(axis=1) == self.truth
        card = self.truth < NONE_PLACE
        return {
            "cards": int(card.sum()), "sure": int((sure & right & card).sum()),
            "sure and wrong": int((sure & ~right & card).sum()),
            "none": int((~card).sum()), "sure cards that are none": int((sure & ~card).sum()),
        }  # fmt: skip


def labelled(
    view: LabelledView, laid: Sequence[Item], finds: Sequence[LaidIndex]
) -> Iterator[tuple[LaidIndex, int, int]]:
    """Finds with the way up (0 or 1) of a crop and what it shows; what is not clear is left out.

    The renderer names two corners of a card. What lies in the others, as in a deck with an index
    in all four, is not clear, nor is what reads with confidence as a card that lies there.
    """
    own = [DECK_LABELS.index(item.label) for item in laid if isinstance(item, CardItem)]
    mm = VIEW_MM / view.image.shape[0]
    indices = [
        _Index(box.card, (box.quad + 0.5) * mm - VIEW_MM / 2, box.visible)
        for box in (*view.boxes, *view.partly)
        if box.card is not None and box.quad is not None
    ]
    others = [at for one in indices for at in one.beside(laid)]
    for find in finds:
        near = min(indices, key=lambda one: one.off(find.at_mm), default=None)
        if near is None or near.off(find.at_mm) > 1.0:
            far = all(np.hypot(*(at - find.at_mm)) > find.height_mm for at in others)
            if far and float(find.shares[:, own].max()) < SURE:
                yield find, 0, NONE_PLACE
                yield find, 1, NONE_PLACE
        elif near.off(find.at_mm) <= AGAIN and near.visible >= LEAST_SEEN:
            down = near.quad[3] - near.quad[0]
            cosine = float(down[1] / max(np.hypot(*down), 1e-6))
            if abs(cosine) >= UPRIGHT_COS:
                up = int(cosine < 0)
                yield find, up, DECK_LABELS.index(near.card)
                yield find, 1 - up, NONE_PLACE


@dataclass(frozen=True)
class _Index:
    """An index as it was rendered: `quad` (4, 2) mm."""

    card: str
    quad: FloatArray
    visible: float

    def off(self, at: FloatArray) -> float:
        """How far a point lies from its middle, over its height."""
        sides = np.hypot(*(self.quad[[3, 1]] - self.quad[0]).T)
        return float(np.hypot(*(self.quad.mean(axis=0) - at)) / max(float(sides.max()), 1e-6))

    def beside(self, laid: Sequence[Item]) -> Iterator[FloatArray]:
        """Where it would lie in the card's other corner at this end."""
        for item in laid:
            if isinstance(item, CardItem) and item.label == self.card:
                a = np.radians(item.angle_deg)
                right = np.array([np.cos(a), np.sin(a)])
                middle = self.quad.mean(axis=0)
                yield middle - 2 * float((middle - item.center_mm) @ right) * right


def crops_of_deck(
    name: str, deck: Deck, rounds: int, seeds: Sequence[int], networks: Networks
) -> Crops | None:
    """Labelled crops of hands of one deck, of each round by its own samples.

    None where the deck is enrolled at no table.
    """
    comparer = needed(networks.comparer)
    parts: list[tuple[Floats, Floats, npt.NDArray[np.intp]]] = []
    for number in range(rounds):
        rng = np.random.default_rng([*seeds, number])
        played, stage = PlayedRound.draw(rng), Stage.draw(rng, [deck])
        table = Table(name, deck, frozenset(), stage, int(rng.integers(2**31)))
        spread = table.enrolled(networks.detector, networks.reader)
        if spread is None:
            continue
        crops, truth = [], []
        for k, seat in enumerate(SEATS):
            laid = laid_cards(rng, played.hand(k), seat is None)
            camera = np.random.default_rng((table.views, k))
            view = render_table_view(camera, deck, stage, networks.detector.size, laid, rng)
            place, calibration = flat_view(view.image)
            finds = laid_indices(view.image, calibration, place, networks.detector, networks.reader)
            for find, up, label in labelled(view, laid, finds):
                crops.append(find.crops[up])
                truth.append(label)
        every = np.stack(crops)
        own = DeckReader(networks.reader, comparer, spread.samples)
        parts.append((networks.reader.read(every), own.likeness(every), np.array(truth, np.intp)))
    if not parts:
        return None
    shares, likeness, truths = (np.concatenate(one) for one in zip(*parts, strict=True))
    order = np.random.default_rng([*seeds, rounds]).permutation(len(truths))[:PER_DECK]
    return Crops(shares[order], likeness[order], truths[order])


def fit(decks: Sequence[Crops]) -> list[float]:
    """Weights (4,) of least log loss, each deck counting alike, as `compared` takes them."""

    def loss(weights: FloatArray) -> float:
        return float(np.mean([own.loss(list(weights)) for own in decks]))

    start = np.array([0.6, 6.0, 0.7, 5.0])
    found = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 200}).x
    return [round(float(weight), 4) for weight in found]


def figures(decks: dict[str, Crops]) -> dict[str, Any]:
    """Log loss and sure cards by the reader alone and with likeness, on decks left out in turn."""
    names = sorted(decks)
    out: dict[str, Any] = {}
    for part in range(PARTS):
        held = names[part::PARTS]
        weights = fit([decks[name] for name in names if name not in held])
        for name in held:
            own = decks[name]
            alone, both = own.shares, compared(own.shares, own.likeness, weights)
            right = np.maximum(alone[np.arange(len(alone)), own.truth], LEAST_SHARE)
            out[name] = {
                "reader": {"log loss": round(float(-np.mean(np.log(right))), 4),
                           **own.counted(alone)},
                "with likeness": {"log loss": round(own.loss(weights), 4), **own.counted(both)},
            }  # fmt: skip
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    given = given_decks("deck_likeness", __doc__, 4, arguments)
    networks = load_networks(given.weights, 1)
    decks: dict[str, Crops] = {}
    refused = []
    for k, (name, deck, _) in enumerate(card_decks(given.faces, given.drawn, given.seed)):
        own = crops_of_deck(name, deck, given.rounds, (given.seed, k), networks)
        print(f"{name}: {'refused' if own is None else len(own.truth)}", file=sys.stderr)
        if own is None:
            refused.append(name)
        else:
            decks[name] = own
    if not decks:
        raise SystemExit("no deck could be enrolled")
    weights = fit(list(decks.values()))
    result = {
        "seed": given.seed, "refused": refused, "decks": figures(decks), "weights": weights,
    }  # fmt: skip
    if given.write:
        result["written"] = str(write_weights(weights, likeness_weights))
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
