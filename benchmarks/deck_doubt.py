"""Fit how sure a card is given the others of its round, on decks that the reader has not seen.

    python -m benchmarks.deck_doubt --faces decks/one --faces decks/two --drawn 10 --write

Rounds of every deck are rendered and read as by `feltwatch bench cards`, those of a faulty deck
left out. Each is taken whole and by parts, as if fewer seats played. The fit is checked on decks
that are left out in turn. `--write` puts the weights into vision/cards/deck_weights.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment, minimize

from benchmarks.card_rounds import SEATS, PlayedRound, SeenPlace, card_decks, place_views
from datasets.training.asset_pool import Stage
from models.weights.folder import default_weights
from settlement.record import DECK_LABELS
from vision.cards import deck_weights
from vision.cards.deck_assignment import SURE, alone, given_others, name_odds
from vision.cards.view import CardRead
from vision.geometry.table import FloatArray
from vision.networks import Networks, load_networks

PARTS = 8
"""Parts of the decks that are left out in turn."""

FEWEST_HANDS = 2
DECAY = 1.0


@dataclass(frozen=True)
class Named:
    """Cards of rounds, (n,) each: the probability of their names given the others, how many cards
    their rounds show, whether the names are right, and the number of their decks."""

    shares: FloatArray
    cards: npt.NDArray[np.intp]
    right: npt.NDArray[np.bool_]
    deck: npt.NDArray[np.intp]

    def where(self, chosen: npt.NDArray[np.bool_]) -> Named:
        """Those that are chosen (n,)."""
        return Named(*(getattr(self, one.name)[chosen] for one in fields(self)))

    @classmethod
    def joined(cls, every: Sequence[Named]) -> Named:
        """All of them."""
        return cls(*(np.concatenate([getattr(own, one.name) for own in every])
                     for one in fields(cls)))  # fmt: skip

    def odds(self, weights: Sequence[float]) -> FloatArray:
        """Log odds (n,) that each name is right."""
        return name_odds(self.shares, self.cards, weights)

    def fit(self) -> list[float]:
        """Weights (4,) of least log loss, in the order of `vision.cards.deck_weights`."""

        def loss(weights: FloatArray) -> float:
            odds = self.odds(list(weights))
            own = np.sum(np.logaddexp(0, odds) - self.right * odds)
            return float(own + DECAY * np.sum(weights[:3] ** 2) / 2)

        found = minimize(loss, np.array([1.0, 0.0, 0.0, 0.0]), method="BFGS").x
        return [round(float(weight), 4) for weight in found]


def true_names(cards: Sequence[CardRead], played: Sequence[str]) -> list[str | None]:
    """Which card of a hand each of `cards` is, by what they read as; None for one too many."""
    names = [DECK_LABELS.index(name) for name in played]
    logs = np.log(np.stack([alone(card) for card in cards]))[:, names]
    rows, columns = linear_sum_assignment(-np.maximum(logs, np.log(1e-3)))
    out: list[str | None] = [None] * len(cards)
    for row, column in zip(rows, columns, strict=True):
        out[int(row)] = played[int(column)]
    return out


def rounds_of(
    folders: Sequence[Path], drawn: int, rounds: int, seed: int, networks: Networks
) -> Iterator[tuple[int, list[tuple[list[CardRead], list[str | None]]]]]:
    """The number of the deck, and the read cards of each hand with their true names, by rounds."""
    decks = list(card_decks(folders, drawn, seed))
    for number in range(rounds):
        for place, (_, deck, _) in enumerate(decks):
            rng = np.random.default_rng([seed, place, number])
            played = PlayedRound.draw(rng)
            stage, views = Stage.draw(rng, [deck]), int(rng.integers(2**31))
            if played.fault:
                continue
            hands = []
            for k, seat in enumerate(SEATS):
                images = place_views(
                    deck, stage, played.hand(k), seat, (views, k), networks.detector.size
                )
                seen = SeenPlace.read(images, networks.detector, networks.reader)
                every = seen.hand(networks.detector, networks.reader, ()).cards
                cards = [card for card in every if card.indices]
                if cards:
                    hands.append((cards, true_names(cards, played.hand(k))))
            yield place, hands


def named(deck: int, hands: Sequence[tuple[list[CardRead], list[str | None]]]) -> Named:
    """The names of a round's cards, whole and by its last hands alone, the dealer's among them."""
    out = []
    for count in range(FEWEST_HANDS, len(hands) + 1):
        cards = [card for own, _ in hands[-count:] for card in own]
        truth = [name for _, own in hands[-count:] for name in own]
        shares = given_others(np.log(np.stack([alone(card) for card in cards])))
        names = [DECK_LABELS[k] for k in shares.argmax(axis=1)]
        right = np.array([name == true for name, true in zip(names, truth, strict=True)])
        number, many = np.full(len(cards), deck, np.intp), np.full(len(cards), len(cards), np.intp)
        out.append(Named(shares.max(axis=1), many, right, number))
    return Named.joined(out)


def figures(every: Named) -> dict[str, Any]:
    """Log loss and reliability on decks left out in turn, and names that are decided so."""
    odds = np.empty(len(every.right))
    for part in range(PARTS):
        out = every.deck % PARTS == part
        if out.any() and not out.all():
            odds[out] = every.where(out).odds(every.where(~out).fit())
    shares = 1 / (1 + np.exp(-odds))
    bounds = [0.0, 0.5, 0.8, SURE, 0.95, 0.98, 0.99, 1.01]
    bins = [(low, high, (shares >= low) & (shares < high))
            for low, high in pairwise(bounds)]  # fmt: skip
    return {
        "names": len(shares),
        "log loss": round(float(np.mean(np.logaddexp(0, odds) - every.right * odds)), 4),
        "decided": int(np.sum(shares >= SURE)),
        "decided wrongly": int(np.sum((shares >= SURE) & ~every.right)),
        "right by probability": [
            {"from": low, "to": min(high, 1.0), "names": int(own.sum()),
             "mean": round(float(shares[own].mean()), 4),
             "right": round(float(every.right[own].mean()), 4)}
            for low, high, own in bins if own.any()
        ],
    }  # fmt: skip


def write_weights(weights: Sequence[float], module: ModuleType = deck_weights) -> Path:
    """Put the weights into their module; returns its path."""
    path = Path(str(module.__file__))
    text = path.read_text(encoding="utf-8")
    head = text[: text.index("WEIGHTS = ")]
    path.write_text(f"{head}WEIGHTS = ({', '.join(map(str, weights))})\n", encoding="utf-8")
    return path


def given_decks(
    module: str, about: str | None, rounds: int, arguments: Sequence[str] | None
) -> argparse.Namespace:
    """The options of a fit on decks: `rounds` of each where none are given."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{module}", description=(about or "").split("\n")[0]
    )
    parser.add_argument("--faces", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--drawn", type=int, default=0, metavar="DECKS")
    parser.add_argument("--rounds", type=int, default=rounds, help="of each deck")
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--weights", type=Path, default=default_weights())
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    if not given.faces and not given.drawn:
        parser.error("no deck: give --faces FOLDER or --drawn DECKS")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    given = given_decks("deck_doubt", __doc__, 6, arguments)
    every: list[Named] = []
    networks = load_networks(given.weights, 1)
    for number, (deck, hands) in enumerate(
        rounds_of(given.faces, given.drawn, given.rounds, given.seed, networks)
    ):
        print(f"round {number + 1}: deck {deck}", file=sys.stderr)
        every.append(named(deck, hands))
    joined = Named.joined(every)
    weights = joined.fit()
    result = {
        "seed": given.seed, "rounds": len(every), **figures(joined), "weights": weights,
    }  # fmt: skip
    if given.write:
        result["written"] = str(write_weights(weights))
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
