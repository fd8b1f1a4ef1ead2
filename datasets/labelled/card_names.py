"""Names of cards as other datasets write them: `10h`, `ace of spades`, `H-7`."""

from __future__ import annotations

import re

from settlement.record import JOKER, RANKS, SUITS

_RANK_WORDS = {
    "ace": "A", "king": "K", "queen": "Q", "jack": "J", "ten": "T", "nine": "9", "eight": "8",
    "seven": "7", "six": "6", "five": "5", "four": "4", "three": "3", "two": "2", "10": "T",
    "1": "A",
} | {rank.lower(): rank for rank in RANKS}  # fmt: skip
_SUIT_WORDS = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}
_SUIT_WORDS |= {word.removesuffix("s"): suit for word, suit in _SUIT_WORDS.items()}
_SUIT_WORDS |= {suit.lower(): suit for suit in SUITS}
_SIGNS = str.maketrans("♣♦♥♠", "cdhs")
_SHORT = re.compile(r"(10|[2-9tjqka])([cdhs])|([cdhs])(10|[2-9tjqka])")
_SPLIT = re.compile(r"[\W_]+")


def card_named(name: str) -> str | None:
    """The card of a name in any usual form, None where it names none.

    >>> [card_named(n) for n in ("10h", "Qs", "ace of spades", "king_hearts", "H-7", "JOKER")]
    ['TH', 'QS', 'AS', 'KH', '7H', 'JOKER']
    >>> card_named("chip") is None
    True
    """
    low = name.strip().lower().translate(_SIGNS)
    if "joker" in _SPLIT.split(low):
        return JOKER
    short = _SHORT.fullmatch(_SPLIT.sub("", low))
    if short is not None:
        rank, suit = (short[1], short[2]) if short[1] else (short[4], short[3])
        return _RANK_WORDS[rank] + _SUIT_WORDS[suit]
    words = [word for word in _SPLIT.split(low) if word and word != "of"]
    if len(words) != 2:
        return None
    for rank, suit in (words, words[::-1]):
        if rank in _RANK_WORDS and suit in _SUIT_WORDS:
            return _RANK_WORDS[rank] + _SUIT_WORDS[suit]
    return None
