"""The rules by which readings of indices become cards, and how each is switched off.

A rule is switched off by other values of the names that hold it: a limit that nothing reaches, a
function that does nothing. Names are looked up in the module that uses them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import card_rounds
from vision.cards import deck_assignment, grouping, one_card, outline, photo, view
from vision.cards.deck_assignment import HAND_CARDS
from vision.cards.outline import ReadIndex
from vision.cards.view import CardRead
from vision.detect import tiling
from vision.geometry.table import FloatArray
from vision.rounds import compile_round

FANS = "rendered fans"
RF100, PHONE = "rf100 after 17:00", "cardcounter, held out"
PHOTOGRAPHS = f"{RF100}; {PHONE}"
PAIRS = "half of rf100 after 17:00 and cardcounter, held out; rendered fans"
ROUNDS = "rounds of tune decks"

Switch = tuple[ModuleType, str, Any]

ARE_ONE = one_card.are_one


@dataclass(frozen=True)
class Rule:
    """One rule: its name, the set it was found on, and what stands in its place without it.

    `on` is "photographs", or "views" of a table. `reading`: it acts before
    crops are read, so that images are read again without it.
    """

    name: str
    found_on: str
    on: str
    switches: tuple[Switch, ...]
    reading: bool = False

    @property
    def file(self) -> str:
        """Where the rule stands."""
        return self.switches[0][0].__name__


@contextmanager
def without(rule: Rule | None) -> Iterator[None]:
    """Switch a rule off for a while; None switches nothing."""
    switches = () if rule is None else rule.switches
    before = [(module, name, getattr(module, name)) for module, name, _ in switches]
    try:
        for module, name, value in switches:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _least_sure_first(
    cards: Sequence[CardRead], every: Sequence[CardRead], most: int = HAND_CARDS
) -> list[CardRead]:
    """The surplus of a hand without a look at what the round's other cards are."""
    del every
    order = sorted(cards, key=lambda c: (not deck_assignment.is_lone_joker(c), c.share))
    return order[: max(0, len(cards) - most)]


def _one_name(indices: Sequence[ReadIndex]) -> FloatArray:
    """Log odds that indices are one card's when those of other names never are."""
    names = np.array([own.label for own in indices])
    return np.where(names[:, None] == names[None], ARE_ONE(indices), -50.0)


def _photo(name: str, found_on: str, *switches: Switch, reading: bool = False) -> Rule:
    return Rule(name, found_on, "photographs", switches, reading)


def _views(name: str, found_on: str, *switches: Switch, reading: bool = False) -> Rule:
    return Rule(name, found_on, "views", switches, reading)


_OPEN = (0.0, math.inf)

RULES: tuple[Rule, ...] = (
    # Boxes of overlapping views of a photograph.
    _photo("a box inside another is the same thing", PHONE, (tiling, "SAME_INSIDE", 2.0),
           reading=True),
    _photo("a cut box a third inside another is the same thing", PHONE,
           (tiling, "CLIPPED_INSIDE", 0.7), reading=True),
    # Readings of a photograph.
    _photo("looked at three ways", PHOTOGRAPHS, (photo, "STRETCHES", ((1.0, 1.0),))),
    _photo("one index per place", PHOTOGRAPHS, (photo, "_one_per_place", list)),
    _photo("nothing reads as a card: no index", PHOTOGRAPHS, (photo, "NONE_BELOW", 0.0)),
    _photo("found as a joker, it is likelier one", RF100, (photo, "JOKER_ODDS", 1.0)),
    _photo("found as a joker, it needs 0.97", RF100, (photo, "JOKER_SURE", 0.0)),
    _photo("found as an index, a joker needs 0.97", RF100, (photo, "JOKER_READ", 0.0)),
    _photo("found as an index, a joker counts 0.75 at most", RF100, (photo, "JOKER_SHARE", 1.0)),
    # Indices joined on photographs.
    _photo("an index read under 0.3 takes no part", PHOTOGRAPHS, (grouping, "LEAST_SHARE", 0.0)),
    _photo("indices of one card are not independent", PAIRS, (grouping, "LIKENESS", 0.0)),
    _photo("a lone index, or a second card of a name, needs 0.9", PHOTOGRAPHS,
           (grouping, "SURE", grouping.CARD_SHARE)),
    _photo("several indices need 0.8", FANS, (grouping, "CARD_SHARE", 0.0)),
    _photo("where indices lie says whether they are one card's", PAIRS,
           (one_card, "lie_as_one", lambda measures: np.zeros(len(measures)))),
    _photo("indices of other names may be one card's", PAIRS, (one_card, "are_one", _one_name)),
    _photo("on a whole card's face it may be a pip", FANS, (grouping, "MARK_NATS", 0.0)),
    _photo("the face of a card is drawn in", FANS, (grouping, "MARK_INSET", 0.0)),
    _photo("a joker is not far larger than the indices", RF100,
           (grouping, "_is_too_large", lambda *_: False)),
    _photo("cards are as large as the image's others", FANS,
           (grouping, "usual_size", lambda _: outline.CardSize())),
    # Table views: what an index is.
    _views("read at other turns where unsure upright", ROUNDS, (view, "SURE_UPRIGHT", 0.0),
           reading=True),
    _views("a turned card needs 0.9", ROUNDS, (view, "SURE_TURNED", 0.0), reading=True),
    _views("a turned card lies 20 degrees off", ROUNDS, (view, "LEAST_TURN_DEG", 0.0),
           reading=True),
    _views("crops of three sizes", ROUNDS, (view, "CROP_SCALES", (1.0,)), reading=True),
    _views("found as a joker, it is likelier one (views)", "table views of tune decks",
           (view, "JOKER_ODDS", 1.0), reading=True),
    _views("an unsure joker's word stands upright", "rendered shifts",
           (view, "UNSURE_WORD", 0.0), reading=True),
    _views("none with more than 0.6", "rendered shifts", (view, "NONE_LIMIT", 1.0), reading=True),
    _views("an index reads as a card with 0.2", "an eight-round shift", (view, "LEAST_SHARE", 0.0),
           reading=True),
    # Table views: indices joined.
    _views("seen in a third of the images", "rendered shifts", (view, "LEAST_SEEN", 0.0)),
    _views("a second card of a name has a price (views)", ROUNDS, (grouping, "TWIN_NATS", 0.0)),
    _views("an index in every corner", "a judged deck", (grouping, "SIDE_STEPS", (0,)),
           (grouping, "END_STEPS", (0,))),
    _views("two ends of other names are one card", "rendered shifts",
           (view, "_one_card", lambda *_: False)),
    _views("ends that disagree are never sure", "rendered shifts",
           (view, "MOST_OF_DISAGREED", 1.0)),
    # The deck.
    _views("the deck as one assignment", ROUNDS, (card_rounds, "decide_deck", lambda _: {})),
    _views("a sure reading is never renamed", ROUNDS,
           (deck_assignment, "may_be_called", lambda *_: True)),
    _views("twins read again and again both stand", ROUNDS,
           (deck_assignment, "survives", lambda _: False)),
    _views("again: at two moments", ROUNDS, (deck_assignment, "LEAST_AGAIN", 1)),
    _views("again: not another name at a fifth of them", ROUNDS,
           (deck_assignment, "MOST_OTHERS", 1.0)),
    _views("a twin fits no name that is left over", "rounds of 34 tune decks",
           (deck_assignment, "TWIN_ODDS", 0.0)),
    _views("twins where most cards are decided", "rounds of 34 tune decks",
           (deck_assignment, "LEAST_DECIDED", 0.0)),
    _views("a decided card's probability is calibrated", "rounds of 34 tune decks",
           (deck_assignment, "calibrated", lambda shares, _: shares)),
    _views("no reading excludes a card", ROUNDS, (deck_assignment, "LEAST_PROBABILITY", 1e-9)),
    _views("a deck that is not known", "rounds of 14 tune decks",
           (deck_assignment, "unknown_deck", lambda _: None)),
    _views("over seven: the least likely is a mark", ROUNDS,
           (deck_assignment, "surplus", lambda *_: [])),
    _views("over seven: names of other cards first", ROUNDS,
           (deck_assignment, "surplus", _least_sure_first)),
    _views("over seven: a lone joker first", "60 rounds of tune decks",
           (deck_assignment, "is_lone_joker", lambda _: False)),
    _views("over seven: only under 0.8", "rendered shifts",
           (deck_assignment, "STRAY_SHARE", math.inf)),
    _views("over seven: another card's name is a mark", ROUNDS,
           (compile_round, "_is_mark", lambda *_: False)),
)  # fmt: skip


def find_rules(words: Sequence[str]) -> list[Rule]:
    """The rules whose names hold one of some words, all where there are none."""
    return [r for r in RULES if not words or any(word in r.name for word in words)]
