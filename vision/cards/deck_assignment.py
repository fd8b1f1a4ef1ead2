"""The 53 cards of a deck, assigned jointly to all cards that a round shows.

Each physical card has its own probabilities of the 53 names, and a deck has each name once: what a
card is depends on what the others are. Probabilities under that are balanced in turn (Sinkhorn)
and calibrated on decks never seen (`vision.cards.deck_weights`): a deck that is read badly gives
twins and names that fit no other card, and so doubt. A sure reading is not renamed by others. Two
cards of one name both stand where each was read so again and again and no name that is left fits
either; else the less sure one is undecided and says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from settlement.record import DECK_LABELS, JOKER
from vision.cards.deck_weights import WEIGHTS
from vision.cards.view import CardRead
from vision.detect.detections import Floats
from vision.geometry.table import FloatArray

LEAST_PROBABILITY = 1e-5
"""The least probability of a card: no single reading excludes a card."""

TWIN_NATS = 9.0
"""How unlikely a second card of one name is in a round."""

SURE = 0.9
"""From this probability on a reading is sure, and a card decided, given all others."""

FEWEST, WHOLE = 14, 49
"""Cards of two hands and of seven: how much their number counts for is fitted between these."""

BALANCED = 30
"""Rounds of balancing. Of 9,386 cards of tune rounds 8,518 are right with 10, 8,544 with 30, 8,554
with 100."""

MOST_NAMES, LEAST_NAMED = 6, 0.01
"""Names reported for an undecided card, and the least probability of one."""

HAND_CARDS = 7
STRAY_SHARE = 0.8
"""A card over those of a hand that is read with less is a mark that looks like an index."""

UNREAD_JOKER = 0.97
"""Least probability of a joker of which no mark was read: there may be no seventh card. Of fifteen
jokers stated with less than 0.999 in 434 rounds of three tune names ("feltwatch catalogue judge
2026-11-30 w" and "y", "... 2026-12-01 z") 13 are true and have 0.982 and more; two, of hands of six
cards, have 0.937 and 0.945."""

SURE_APART = 0.97
"""A joker by one mark that lies on no other card is an eighth card from this probability on. Of 125
tune shifts ("feltwatch judge 2026-11-29 o ways", "p ways" and "q ways") two hands of eight cards
show one with 0.995; print beside the hands of one seat reads so with 0.94 at most."""

NOT_FOUND = "no index of the card was found"
_DEALERS = {None: "the dealer's hand", 0: "the dealer's eighth card"}

TWIN_ODDS, LEAST_DECIDED = 5.5, 0.85
"""Least log odds of a twin's name against the likeliest that is left over, and least share of the
round's cards that are decided. On tune rounds of 34 decks (`benchmarks/deck_doubt.py`), read by two
readers, 44 of 48 pairs of true twins pass, and of 71 false ones four: jokers that read as jacks."""

LEAST_TWIN = 0.97
"""A second card of a name stands from this share on. In 28 tune rounds with a card twice, of four
decks of `models/faces/judge-15.json`, the less sure one is read with 0.983 and more, in the two
false DECK findings of that judge with 0.903 and 0.954."""

KNOWN_DECK, ENOUGH_CARDS = 0.75, 14
"""The least share of a round's cards that are decided in a deck that can be read, and from how many
cards on that is asked. Of 34 tune decks four have rounds under it, with 3 to 74% decided."""

HARDLY_KNOWN = 0.2
"""With a smaller share than this decided none is. Of two tune decks with the suit left of the rank
(one of `models/faces/judge-14.json`) 6 and 13% are decided, 24 of these 40 wrongly; of three with
the suit to the right 68 to 99%, 1.4% of them wrongly."""

MOST_UNSEEN = 0.25
"""So often, and seldomer in a whole round, the like suit of a card that lies twice is not dealt by
chance, where six hands and more lie (chosen on no set). With few hands it mostly is not dealt."""

AS_MANY = 0.97
"""A reading that decides less than this share of the other's cards names none of that. Of 261 tune
rounds of 78 decks, read with samples, it names 11 cards rightly and none wrongly; with 0.9 19 and
2, with any share 24 and 4."""

SAME_PLACE_MM = 12.0
"""Cards of two readings of one image whose middles lie so near are one card."""

AGAIN_SHARE = 0.9
LEAST_AGAIN = 2
MOST_OTHERS = 0.2
"""A reading survives when it was read with this share at two moments or more, and otherwise
at not more than so many of them."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What the assignment makes of a card: its name, probability, and why it is undecided.

    `mark`: it is one too many in its hand, and its name is another's.
    """

    label: str
    share: float
    why: str | None = None
    mark: bool = False


_SAME_COLOUR = {
    label: label[0] + label[1].translate(str.maketrans("SCHD", "CSDH"))
    for label in DECK_LABELS if label != JOKER
}  # fmt: skip
"""Of each card the one of its rank and colour."""


def decide_deck(
    hands: Mapping[int | None, Sequence[CardRead]],
    other: Mapping[int | None, Sequence[CardRead]] | None = None,
) -> dict[int, Decided]:
    """What every card of a round is, by id, given all the others.

    `hands` are by seat, None the dealer's, 0 a card that the dealer set aside. What the others
    leave over names a hand's unread card (`vision.cards.unread_card`), which changes none of them.

    `other` are the same hands by another reading, with samples of the deck or without. Where that
    knows the deck, two cards of one name stand only where it reads both so too. Where most of the
    deck lies (`MOST_UNSEEN`), the suit of the same colour must be seen as well: a club that looks
    like a spade leaves its own name over. Where it decides about as many cards (`AS_MANY`), what it
    decides names those that are undecided.
    """
    if other is None:
        return _decide(hands, set())
    by_other = _decide(other, set())
    if unknown_deck(by_other.values()) is not None:
        return _decide(hands, set())
    same = {
        id(card): again
        for seat, own in hands.items() for card in own
        if (again := _same_card(card, other.get(seat, ()))) is not None
    }  # fmt: skip
    every = [card for own in hands.values() for card in own]
    seen = {card.label for card in every}
    denied = {id(c) for c in every if id(c) in same and same[id(c)].label != c.label}
    if 1 - len(seen) / len(DECK_LABELS) <= MOST_UNSEEN:
        denied |= {id(c) for c in every if _SAME_COLOUR.get(c.label, c.label) not in seen}
    out = _decide(hands, denied)
    taken = {one.label for one in out.values() if one.why is None}
    if sum(one.why is None for one in by_other.values()) < AS_MANY * len(taken):
        return out
    for key, again in same.items():
        named = by_other[id(again)]
        if named.why is None and named.label not in taken and out[key].why and not out[key].mark:
            out[key] = named
            taken.add(named.label)
    return out


def count_decided(hands: Mapping[int | None, Sequence[CardRead]]) -> int:
    """How many cards of a round are decided by one reading."""
    return sum(card.why is None for card in _decide(hands, set()).values())


def _same_card(card: CardRead, cards: Sequence[CardRead]) -> CardRead | None:
    """Which of the cards of another reading of a place this one is; None where none lies there."""

    def off(other: CardRead) -> float:
        return math.dist(card.center_mm, other.center_mm)

    near = [c for c in cards if card.indices and c.indices and off(c) < SAME_PLACE_MM]
    return min(near, key=off, default=None)


def _decide(hands: Mapping[int | None, Sequence[CardRead]], denied: Set[int]) -> dict[int, Decided]:
    """`decide_deck` by one reading; a card of `denied`, by id, is no second one of its name."""
    unread = [card for own in hands.values() for card in own if not card.indices]
    hands = {seat: [card for card in own if card.indices] for seat, own in hands.items()}
    every = [card for own in hands.values() for card in own]
    over = {id(card) for own in hands.values() for card in surplus(own, every)}
    twice = {
        id(card) for card in every
        if id(card) in over and any(c.label == card.label and c is not card for c in every)
    }  # fmt: skip
    places = [(seat, card) for seat, own in hands.items() for card in own if id(card) not in twice]
    if not places:
        return {}
    cards = [card for _, card in places]
    logs = np.log(np.stack([alone(card) for card in cards]))
    among = [
        n for n, card in enumerate(cards)
        if id(card) not in over | denied and survives(card)
    ]  # fmt: skip
    twins = _twins(logs, cards, among)
    once = [n for n in range(len(cards)) if n not in twins]
    names, shares = _named(logs[once])
    out = {id(cards[n]): Decided(cards[n].label, cards[n].share) for n in twins}
    for n, name, share in zip(once, names, shares, strict=True):
        card, label = cards[n], DECK_LABELS[name]
        sure = share >= SURE and may_be_called(card, label)
        why = None if sure else _why(places, n, label, float(share))
        out[id(card)] = Decided(label, float(share), why)
    out |= {
        id(card): Decided(card.label, card.share, "its name is another card's", mark=True)
        for card in every if id(card) in twice
    }  # fmt: skip
    out |= _unread(logs, unread, {card.label for card in every})
    unknown = unknown_deck(out.values())
    if unknown is not None:
        shown = [one for one in out.values() if not one.mark]
        trusted = sum(one.why is None for one in shown) >= HARDLY_KNOWN * len(shown)
        out = {key: one if one.mark or (one.why is None and trusted) else replace(one, why=unknown)
               for key, one in out.items()}  # fmt: skip
    return out


def unknown_deck(cards: Collection[Decided]) -> str | None:
    """Why most of what a round shows is not known: its deck is none that can be read; else None."""
    cards = [card for card in cards if not card.mark]
    sure = sum(card.why is None for card in cards)
    if len(cards) < ENOUGH_CARDS or sure >= KNOWN_DECK * len(cards):
        return None
    return (
        f"only {sure} of the round's {len(cards)} cards are read with confidence: "
        "the deck is not known"
    )


def may_be_called(card: CardRead, label: str) -> bool:
    """Whether a card is named so by the others: a sure reading is not renamed."""
    return label == card.label or card.share < SURE


def _why(places: Sequence[tuple[int | None, CardRead]], n: int, label: str, share: float) -> str:
    """Why a card is undecided that is likeliest `label`, given the others."""
    card = places[n][1]
    rivals = [own for k, own in enumerate(places) if k != n and own[1].label == card.label]
    if rivals:
        seat, other = max(rivals, key=lambda own: own[1].share)
        where = _DEALERS.get(seat, f"seat {seat}")
        more = "more certainly" if other.share > card.share else "too"
        return f"read as {card.label}, which {where} shows {more}"
    if label != card.label:
        return f"read as {card.label}, likelier {label} given the other cards"
    return f"read as {label} with a probability of {share:.2f} only, given the other cards"


def _named(logs: Floats) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """The name (n,) of each card given all others, and its probability (n,)."""
    names = given_others(logs)
    return names.argmax(axis=1), calibrated(names.max(axis=1), len(logs))


def given_others(logs: Floats) -> Floats:
    """Probabilities (n, 53) of cards' names, balanced so that each name is one card's.

    `logs` (n, 53) are log probabilities of each card alone. Not calibrated yet: `calibrated`.
    """
    shares: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    for _ in range(BALANCED):
        shares /= np.maximum(shares.sum(axis=0), 1.0)
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def name_odds(
    shares: ArrayLike, cards: ArrayLike, weights: Sequence[float] = WEIGHTS
) -> FloatArray:
    """Log odds (n,) that names of such probabilities (n,) are right, by the cards of their rounds.

    A name's log odds, these by the number of cards, that number and one are weighed.
    """
    share = np.clip(shares, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    odds, many = np.log(share / (1 - share)), np.maximum(cards, FEWEST) / WHOLE
    out: FloatArray = odds * (weights[0] + weights[1] * many) + weights[2] * many + weights[3]
    return out


def calibrated(shares: ArrayLike, cards: int) -> FloatArray:
    """How often names of such probabilities (n,) are right in a round that shows `cards` cards."""
    out: FloatArray = 1 / (1 + np.exp(-name_odds(shares, cards)))
    return out


def _twins(logs: Floats, cards: Sequence[CardRead], among: Sequence[int]) -> set[int]:
    """Which cards of `among` stand as second ones of a name.

    What no name that is left over fits is no misread card; a J with the joker left over may be its.
    """
    own = [DECK_LABELS.index(card.label) for card in cards]
    _, shares = _named(logs)
    if float(np.mean(shares >= SURE)) < LEAST_DECIDED:
        return set()
    taken = {name for name, card in zip(own, cards, strict=True) if card.share >= SURE}
    left = [k for k in range(logs.shape[1]) if k not in taken]
    joker_left = DECK_LABELS.index(JOKER) in left
    odds = {n: logs[n, own[n]] - float(logs[n, left].max(initial=-np.inf)) for n in among}
    out = set()
    for name in set(own):
        twins = sorted((n for n in among if own[n] == name), key=lambda n: -cards[n].share)
        for n in twins[1:]:
            both = min(odds[n], odds[twins[0]])
            if (
                both >= TWIN_ODDS
                and cards[n].share >= LEAST_TWIN
                and not (joker_left and DECK_LABELS[name].startswith("J"))
            ):
                out.add(n)
    return out


def _unread(logs: Floats, cards: Sequence[CardRead], known: Set[str]) -> dict[int, Decided]:
    """What unread cards are beside those of `logs` (n, 53), by id; none has a name of `known`."""
    if not cards:
        return {}
    logs = np.vstack([logs, np.log(np.stack([alone(card) for card in cards]))])
    out = {}
    for n, card in enumerate(cards, len(logs) - len(cards)):
        totals = np.empty(logs.shape[1])
        for name in range(logs.shape[1]):
            only = logs.copy()
            only[n] = -1e3
            only[n, name] = logs[n, name]
            totals[name] = _best(only)[0]
        odds = np.exp(totals - totals.max())
        place, share = int(odds.argmax()), float(odds.max() / odds.sum())
        label = DECK_LABELS[place]
        sure = share >= (UNREAD_JOKER if label == JOKER else SURE) and label not in known
        out[id(card)] = Decided(label, share, None if sure else NOT_FOUND)
    return out


def surplus(
    cards: Sequence[CardRead], every: Sequence[CardRead], most: int = HAND_CARDS
) -> list[CardRead]:
    """The cards over `most` that are likeliest no card: most are marks that look
    like an index. Those come first whose name a surer one of `every` card has, then jokers."""

    def known(card: CardRead) -> bool:
        return any(c.label == card.label and c.share > card.share for c in every)

    order = sorted(cards, key=lambda c: (not known(c), not is_lone_joker(c), c.share))
    return order[: max(0, len(cards) - most)]


def marks(cards: Sequence[CardRead], most: int = HAND_CARDS) -> list[CardRead]:
    """Those of the `surplus` of a place with `most` cards that are, as read, no cards."""
    over = surplus(cards, cards, most)
    return [card for card in over if card.share < STRAY_SHARE or is_lone_joker(card)]


def is_lone_joker(card: CardRead) -> bool:
    """Whether a card is a joker by one mark alone: over seven cards that is another's figure.

    On 60 rounds of decks never seen (`feltwatch bench cards`, tune decks, seed 5) 3 of 420 hands
    showed such a mark beside seven cards, with probabilities up to 0.99; an eighth card is rarer.
    One that matches the table's own joker is that joker, and one that is read with confidence and
    lies on no other card (`SURE_APART`) is no other's figure.
    """
    is_sure = card.matched or (card.apart and card.share >= SURE_APART)
    return card.label == JOKER and card.indices == 1 and not is_sure


def survives(card: CardRead) -> bool:
    """Whether a card was read alike at several moments, and so at the several sizes of crop
    that they are read at."""
    if card.share < AGAIN_SHARE:
        return False
    again = sum(label == card.label and share >= AGAIN_SHARE for label, share in card.moments)
    others = sum(label != card.label for label, _ in card.moments)
    return again >= LEAST_AGAIN and others <= MOST_OTHERS * len(card.moments)


def may_be(
    card: CardRead, hands: Mapping[int | None, Sequence[CardRead]]
) -> tuple[tuple[str, float], ...]:
    """What an undecided card may be, with probabilities, the likeliest first.

    The names of sure cards of the round are as unlikely as a second card of one name is.
    """
    shares = _given_sure(card, hands)
    order = np.argsort(-shares)[:MOST_NAMES]
    return tuple(
        (DECK_LABELS[k], round(float(shares[k]), 4)) for k in order if shares[k] >= LEAST_NAMED
    )


def may_be_instead(
    card: CardRead, hands: Mapping[int | None, Sequence[CardRead]], decided: Decided
) -> tuple[tuple[str, float], ...]:
    """What a decided card may be: its name, and the likeliest others, which share all the rest."""
    shares = _given_sure(card, hands)
    shares[DECK_LABELS.index(decided.label)] = 0.0
    order = np.argsort(-shares)[:MOST_NAMES]
    rest = (1 - decided.share) / float(shares[order].sum())
    others = tuple((DECK_LABELS[k], round(float(shares[k]) * rest, 6)) for k in order)
    return ((decided.label, round(decided.share, 6)), *others)


def _given_sure(card: CardRead, hands: Mapping[int | None, Sequence[CardRead]]) -> Floats:
    """Probabilities (53,) of a card's names, given the names of the round's sure cards."""
    sure = {c.label for own in hands.values() for c in own if c is not card and c.share >= SURE}
    shares = alone(card)
    for label in sure:
        shares[DECK_LABELS.index(label)] *= np.exp(-TWIN_NATS)
    return np.asarray(shares / shares.sum())


def alone(card: CardRead) -> Floats:
    """Probabilities (53,) of a card's names, none quite excluded."""
    shares = np.zeros(len(DECK_LABELS)) if card.shares is None else card.shares.astype(float)
    shares = np.maximum(shares, LEAST_PROBABILITY)
    place = DECK_LABELS.index(card.label)
    rest = max(float(shares.sum() - shares[place]), 1e-12)
    # The share of the card counts; the others keep their proportion.
    least = LEAST_PROBABILITY * len(DECK_LABELS)
    shares *= max(1 - card.share, least) / rest
    shares[place] = min(card.share, 1 - least)
    out: Floats = (shares / shares.sum()).astype(np.float64)
    return out


def _best(logs: Floats) -> tuple[float, np.ndarray]:
    """The greatest sum and each card's name (n,), names once for nothing and twice at a cost."""
    both = np.hstack([logs, logs - TWIN_NATS])
    rows, columns = linear_sum_assignment(-both)
    names = np.empty(len(logs), np.int64)
    names[rows] = columns % logs.shape[1]
    return float(both[rows, columns].sum()), names
