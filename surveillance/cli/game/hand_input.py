"""Hands typed on the command line, or one a line from a file or standard input."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from settlement.cards import Card, CardError, labels, parse_cards
from settlement.errors import FeltwatchError
from settlement.input_file import reading


class WheelOption(StrEnum):
    """Rank of A-2-3-4-5 among straights."""

    SECOND = "second"
    LOWEST = "lowest"


def read_hands(
    arguments: Sequence[str], sizes: Collection[int], allowed: str
) -> Iterator[tuple[Card, ...]]:
    """The hands of a command's arguments, each as soon as its line is read.

    One argument names a file, or is - for standard input, both with a hand a line and blank
    lines passed over; what is no file is a hand. `sizes` are the numbers of cards that a
    hand may have, `allowed` says so in words: "a hand is seven cards". Raises FeltwatchError
    naming the line, the card and the reason.
    """
    found = False
    for place, text in _texts(arguments):
        yield _checked(text, place, sizes, allowed)
        found = True
    if not found:
        place = "standard input" if list(arguments) == ["-"] else " ".join(arguments)
        raise FeltwatchError(f"{place}: no hand; write one a line, cards apart by blanks")


def _texts(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    first = arguments[0]
    if first == "-" and len(arguments) == 1:
        yield from _lines(sys.stdin, "standard input")
    elif len(arguments) == 1 and Path(first).is_file():
        with reading(first), Path(first).open(encoding="utf-8-sig") as lines:
            yield from _lines(lines, first)
    elif len(arguments) == 1 and not _holds_a_card(first):
        raise FeltwatchError(f"{first or 'nothing'}: no such file, and no cards such as 'AS KD'")
    else:
        yield "the hand", " ".join(arguments)


def _holds_a_card(text: str) -> bool:
    """Whether a word is a card: then the others are meant as cards too, and one may be wrong."""
    return any(_is_card(word) for word in text.replace(",", " ").split())


def _is_card(word: str) -> bool:
    try:
        return bool(parse_cards([word]))
    except CardError:
        return False


def _lines(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield f"{name}, line {number}", line
    except UnicodeDecodeError as error:
        raise FeltwatchError(f"{name}, after line {number}: not text ({error.reason})") from error


def _checked(text: str, place: str, sizes: Collection[int], allowed: str) -> tuple[Card, ...]:
    try:
        cards = parse_cards(text)
    except CardError as error:
        raise FeltwatchError(f"{place}: {error}") from error
    for number, card in enumerate(cards):
        if card in cards[:number]:
            raise FeltwatchError(f"{place}: {card} is there twice")
    if len(cards) not in sizes:
        count = "1 card" if len(cards) == 1 else f"{len(cards)} cards"
        raise FeltwatchError(f"{place}: {count} ({' '.join(labels(cards))}); {allowed}")
    return cards
