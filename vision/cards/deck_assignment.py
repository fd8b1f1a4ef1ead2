"""The 53 cards of a deck, assigned jointly to all cards that a round shows.

Each physical card has its own probabilities of the 53 names; a deck has each name once, and a
second card of a name costs what it is unlikely to be true (`TWIN_NATS`). The assignment that is
likeliest as a whole decides what single readings leave open. A sure reading keeps its name: two
of one name both stand where each was read so again and again (`survives`), else the less sure
one is undecided and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from settlement.record import DECK_LABELS, JOKER
from vision.cards.view import CardRead
from vision.detect.detections import Floats

LEAST_PROBABILITY = 1e-5
"""The least probability of a card: no single reading excludes a card."""

TWIN_NATS = 9.0
"""How unlikely a second card of one name is in a round."""

SURE = 0.9
"""From this probability on a card is decided."""

MOST_NAMES, LEAST_NAMED = 6, 0.01
"""Names reported for an undecided card, and the least probability of one."""

HAND_CARDS = 7
STRAY_SHARE = 0.8
"""A card over those of a hand that is read with less is a mark that looks like an index."""

NOT_FOUND = "no index of the card was found"
_DEALERS = {None: "the dealer's hand", 0: "the dealer's eighth card"}

KNOWN_DECK, ENOUGH_CARDS = 0.75, 14
"""The least share of a round's cards that are sure in a deck that can be read, and from how many
cards on that is asked. Tune rounds rendered with 14 decks (`feltwatch bench cards`): at least
0.92 of the cards of eleven decks, 0.12 to 0.59 of three whose indices or suits are not known."""

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


def decide_deck(hands: Mapping[int | None, Sequence[CardRead]]) -> dict[int, Decided]:
    """The cards, by id, that the assignment over the whole round changes or leaves undecided.

    `hands` are by seat, None the dealer's, 0 a card that the dealer set
    aside. Cards not named stay as they were read. Where the deck is not known, all are left
    undecided: its sure readings are wrong as often as not. What the others leave over names a
    hand's unread card (`vision.cards.unread_card`), which changes none of them.
    """
    unread = [card for own in hands.values() for card in own if not card.indices]
    hands = {seat: [card for card in own if card.indices] for seat, own in hands.items()}
    every = [card for own in hands.values() for card in own]
    unknown = unknown_deck([*every, *unread])
    if unknown is not None:
        return {id(card): Decided(card.label, card.share, unknown) for card in [*every, *unread]}
    marks = {id(card) for own in hands.values() for card in surplus(own, every)}
    places = [
        (seat, card) for seat, own in hands.items() for card in own
        if card.share >= SURE or id(card) not in marks
    ]  # fmt: skip
    if not places:
        return {}
    logs = np.log(np.stack([_probabilities(card) for _, card in places]))
    own = logs.argmax(axis=1)
    total, given = _best(logs)
    out: dict[int, Decided] = {}
    for n, (_, card) in enumerate(places):
        rivals = [k for k in range(len(places)) if k != n and own[k] == own[n]]
        if not rivals and card.share >= SURE and given[n] == own[n]:
            continue
        label = DECK_LABELS[given[n]]
        share = _probability(logs, n, int(given[n]), total)
        if not rivals:
            # What reads as no card at all is not made one by what the others are.
            if label == card.label and share * _mass(card) >= SURE:
                out[id(card)] = Decided(label, share)
            elif label != card.label and card.share < SURE:
                out[id(card)] = _renamed(card, label, share, "another card")
            continue
        first = max((n, *rivals), key=lambda k: (logs[k, own[k]], -k))
        if first == n:
            continue
        if id(card) not in marks and survives(card) and survives(places[first][1]):
            continue
        seat = places[first][0]
        where = _DEALERS.get(seat, f"seat {seat}")
        out[id(card)] = _renamed(card, label, share, where)
    for card in every:
        if id(card) in marks and any(c.label == card.label and c is not card for c in every):
            out[id(card)] = Decided(card.label, card.share, "its name is another card's", mark=True)
    out.update(_unread(logs, unread, {card.label for card in every}))
    return out


def _unread(logs: Floats, cards: Sequence[CardRead], known: Set[str]) -> dict[int, Decided]:
    """What unread cards are beside those of `logs` (n, 53), by id; none has a name of `known`."""
    if not cards:
        return {}
    logs = np.vstack([logs, np.log(np.stack([_probabilities(card) for card in cards]))])
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
        sure = share >= SURE and label not in known
        out[id(card)] = Decided(label, share, None if sure else NOT_FOUND)
    return out


def unknown_deck(cards: Sequence[CardRead]) -> str | None:
    """Why no card of a round can be believed: its deck is none that can be read; else None."""
    sure = sum(card.share >= SURE and card.indices > 0 for card in cards)
    if len(cards) < ENOUGH_CARDS or sure >= KNOWN_DECK * len(cards):
        return None
    return (
        f"only {sure} of the round's {len(cards)} cards are read with confidence: "
        "the deck is not known"
    )


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
    One that matches the table's own joker is that joker.
    """
    return card.label == JOKER and card.indices == 1 and not card.matched


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
    sure = {c.label for own in hands.values() for c in own if c is not card and c.share >= SURE}
    shares = _probabilities(card)
    for label in sure:
        shares[DECK_LABELS.index(label)] *= np.exp(-TWIN_NATS)
    shares /= shares.sum()
    order = np.argsort(-shares)[:MOST_NAMES]
    return tuple(
        (DECK_LABELS[k], round(float(shares[k]), 4)) for k in order if shares[k] >= LEAST_NAMED
    )


def _renamed(card: CardRead, label: str, share: float, where: str) -> Decided:
    """A card whose name another one has: what else it is, where that is sure enough."""
    if label != card.label and share >= SURE and card.share < SURE:
        return Decided(label, share)
    return Decided(label, share, f"read as {card.label}, which {where} shows more certainly")


def _probabilities(card: CardRead) -> Floats:
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


def _mass(card: CardRead) -> float:
    """Probability that a card is any of the deck's."""
    return card.share if card.shares is None else min(1.0, float(card.shares.sum()))


def _best(logs: Floats) -> tuple[float, np.ndarray]:
    """The greatest sum and each card's name (n,), names once for nothing and twice at a cost."""
    both = np.hstack([logs, logs - TWIN_NATS])
    rows, columns = linear_sum_assignment(-both)
    names = np.empty(len(logs), np.int64)
    names[rows] = columns % logs.shape[1]
    return float(both[rows, columns].sum()), names


def _probability(logs: Floats, n: int, name: int, total: float) -> float:
    """Probability of a card's name: the best whole with it against the best with another."""
    without = logs.copy()
    without[n, name] = -1e3
    odds = total - _best(without)[0]
    return float(1 / (1 + np.exp(-min(odds, 50.0))))
