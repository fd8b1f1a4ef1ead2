"""Table views: rounds of seven hands, their readings kept, and the cards joined of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.card_rounds import (
    SEATS,
    PlayedRound,
    RoundTally,
    card_decks,
    place_views,
    read_moments,
)
from benchmarks.joining_rules.remembered import Remembered
from benchmarks.joining_rules.rules import Rule, without
from datasets.training.asset_pool import Stage
from vision.cards.view import ViewIndex, fuse_indices, join_cards

Moments = list[list[ViewIndex]]


@dataclass(frozen=True)
class KeptRound:
    """A round that was read: its readings by the reading rule that was off and by seat."""

    played: PlayedRound
    known: frozenset[str]
    read: dict[str | None, dict[int | None, Moments]]


class Rounds:
    """Rounds of given decks, which take turns."""

    def __init__(
        self, folders: Sequence[Path], drawn: int, seed: int, networks: Remembered
    ) -> None:
        self.decks = list(card_decks(folders, drawn, seed))
        self._seed, self._networks = seed, networks

    def keep(self, number: int, rules: Sequence[Rule]) -> KeptRound:
        """A round rendered and read, and read again without each of some rules."""
        _, deck, known = self.decks[number % len(self.decks)]
        rng = np.random.default_rng([self._seed, number])
        played = PlayedRound.draw(rng)
        stage = Stage.draw(rng, [deck])
        views = int(rng.integers(2**31))
        own = self._networks
        readings: dict[str | None, dict[int | None, Moments]] = {}
        for k, seat in enumerate(SEATS):
            shown = place_views(deck, stage, played.hand(k), seat, (views, k), own.size)
            for rule in (None, *rules):
                with without(rule):
                    read = [list(one.indices) for one in read_moments(shown, own, own)]
                readings.setdefault(rule.name if rule else None, {})[seat] = read
            own.forget()
        return KeptRound(played, known, readings)


def count_rounds(kept: Sequence[KeptRound], rule: Rule | None) -> dict[str, int]:
    """Cards right, wrong, undecided and invented without a rule, and findings on the deck."""
    tally = RoundTally()
    for one in kept:
        readings = one.read.get(rule.name if rule else None, one.read[None])
        hands = {}
        for seat, moments in readings.items():
            with without(rule):
                hands[seat] = join_cards(fuse_indices(moments))
        with without(rule):
            tally.add(one.played, hands, one.known)
    n: Mapping[str, int] = tally.n
    wrong = n["wrong"] - n["invented"]
    return {
        "cards": n["cards"], "right": n["right"], "wrong": wrong,
        "undecided": n["cards"] - n["right"] - wrong, "invented": n["invented"],
        "false DECK": n["false DECK"], "rounds": n["rounds"] - n["faulty decks"],
        "faults found": n["faulty decks found"], "faults": n["faulty decks"],
    }  # fmt: skip
