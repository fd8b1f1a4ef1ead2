"""How reliably `feltwatch cards enrol` takes a table's joker and refuses its other cards.

Of each deck, folders of faces and drawn ones, jokers and other cards are laid alone, each in
another light and by another camera.

    python -m benchmarks.joker_enrolment --faces decks --drawn 24 --seed 4711
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.card_rounds import card_decks, lone_card
from datasets.render.cards.deck import Deck
from models.evaluate.predictions import flat_view
from models.intervals import wilson
from models.weights.folder import default_weights
from settlement.record import DECK_LABELS, JOKER
from vision.cards.joker_enrolment import (
    NO_CARD,
    NO_MARK,
    OTHER_CARD,
    NotEnrolledError,
    joker_at,
)
from vision.networks import Networks, load_networks

JOKERS, OTHERS = 4, 16
"""Cards of a deck that are laid."""

OTHER = [label for label in DECK_LABELS if label != JOKER]


def outcome(rng: np.random.Generator, deck: Deck, card: str, networks: Networks) -> str:
    """What becomes of a card that is pointed at: taken, or why it is refused."""
    image = lone_card(rng, deck, card)
    _, calibration = flat_view(image)
    try:
        joker_at(image, calibration, (0.0, 0.0), networks.detector, networks.reader)
    except NotEnrolledError as error:
        words = {NO_CARD: "no card found", NO_MARK: "no mark", OTHER_CARD.format(card): "by name"}
        return words.get(str(error), "by another name")
    return "taken"


def bench_joker_enrolment(folders: Sequence[Path], drawn: int, seed: int) -> dict[str, Any]:
    """Counts of outcomes for jokers and for other cards; shares of those that were found."""
    networks = load_networks(default_weights(), 1)
    counts = {"jokers": Counter[str](), "others": Counter[str]()}
    decks = list(card_decks(folders, drawn, seed))
    for number, (_, deck, known) in enumerate(decks):
        rng = np.random.default_rng([seed, 5, number])
        others = [str(card) for card in rng.choice(OTHER, OTHERS, replace=False)]
        for card in (*[JOKER] * JOKERS, *others):
            # What a folder lacks is drawn, and stands for no deck of its own.
            if card in known:
                kind = "jokers" if card == JOKER else "others"
                counts[kind][outcome(rng, deck, card, networks)] += 1
    refused = {
        kind: wilson(own["by name"] + own["by another name"], own.total() - own["no card found"])
        for kind, own in counts.items()
    }
    return {"seed": seed, "decks": len(decks), "outcomes": counts, "refused as a card": refused}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--faces", type=Path, help="A folder with a folder of faces per deck.")
    parser.add_argument("--drawn", type=int, default=24, help="Decks that are drawn.")
    parser.add_argument("--seed", type=int, default=4711)
    options = parser.parse_args()
    folders = (
        [] if options.faces is None else sorted(p for p in options.faces.iterdir() if p.is_dir())
    )
    print(json.dumps(bench_joker_enrolment(folders, options.drawn, options.seed), indent=1))


if __name__ == "__main__":
    main()
