"""Chips as people lay them: exact change, stacks with the largest value at the bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from settlement.errors import FeltwatchError
from vision.geometry.standard_layout import PAY_OFFSETS_MM
from vision.geometry.table import ChipKind, Point

STACK_CHIPS = 20
"""The tallest stack that a player or dealer builds."""

PAY_STACK_CHIPS = 10
"""A pay of more chips is cut into two stacks, as dealers prove a pay."""

Colours = tuple[str, ...]


def by_value(chips: Mapping[str, ChipKind]) -> list[tuple[str, int]]:
    """Colour and value in cents, the largest value first; one colour for each value."""
    seen: dict[int, str] = {}
    for colour, kind in chips.items():
        seen.setdefault(kind.value_cents, colour)
    return [(seen[value], value) for value in sorted(seen, reverse=True)]


@lru_cache(maxsize=4096)
def _change(cents: int, values: tuple[int, ...]) -> tuple[int, ...] | None:
    """How many chips of each value, largest first: the greedy count, fewer where it fails."""
    if cents == 0:
        return (0,) * len(values)
    if not values:
        return None
    most = cents // values[0]
    # Six counts back are enough for any set of casino values; the bound keeps this total.
    for count in range(most, max(-1, most - 6), -1):
        rest = _change(cents - count * values[0], values[1:])
        if rest is not None:
            return (count, *rest)
    return None


def make_change(cents: int, chips: Mapping[str, ChipKind]) -> Colours:
    """The chips of an exact amount, few and large, from the bottom up.

    Raises FeltwatchError when the table's chips cannot make the amount.
    """
    kinds = by_value(chips)
    counts = _change(cents, tuple(value for _, value in kinds)) if cents >= 0 else None
    if counts is None:
        named = ", ".join(f"{colour} {value}" for colour, value in kinds)
        raise FeltwatchError(
            f"chips: {cents} cents cannot be laid with the table's chips ({named}); "
            "add a smaller value or choose other stakes"
        )
    return tuple(
        colour for (colour, _), count in zip(kinds, counts, strict=True) for _ in range(count)
    )


def value_cents(colours: Sequence[str], chips: Mapping[str, ChipKind]) -> int:
    """What the chips are worth, in cents."""
    return sum(chips[colour].value_cents for colour in colours)


def pay_places(wager: str) -> tuple[Point, ...]:
    """Where a wager's pay is laid, from its spot's centre in the seat's frame, mm."""
    return PAY_OFFSETS_MM.get(wager, ((0.0, -43.0),))


def ordered(colours: Sequence[str], chips: Mapping[str, ChipKind]) -> Colours:
    """The chips from the bottom up, the largest value first.

    >>> from vision.geometry.standard_layout import CHIPS
    >>> ordered(("white", "black"), CHIPS)
    ('black', 'white')
    """
    return tuple(sorted(colours, key=lambda colour: -chips[colour].value_cents))


def in_stacks(
    colours: Sequence[str],
    chips: Mapping[str, ChipKind],
    places: int = 1,
    *,
    height: int = STACK_CHIPS,
    split: bool = False,
) -> tuple[Colours, ...]:
    """The chips in stacks, largest first and at the bottom.

    A stack has at most `height` while there are places; with too few the stacks are
    higher. With `split` they are shared evenly among the places.
    """
    own = ordered(colours, chips)
    tall = max(1 if split else height, -(-len(own) // places))
    return tuple(own[start : start + tall] for start in range(0, len(own), tall))


def pay_stacks(colours: Sequence[str], chips: Mapping[str, ChipKind]) -> tuple[Colours, ...]:
    """A pay's chips as a dealer stacks them: one stack, or two when there are many."""
    return in_stacks(colours, chips, 2, height=PAY_STACK_CHIPS)


def small_change(
    colours: Sequence[str], cents: int, chips: Mapping[str, ChipKind]
) -> Colours | None:
    """The same sum in chips of which `cents` can be taken back; None where that fails.

    >>> from vision.geometry.standard_layout import CHIPS
    >>> small_change(("green",), 500, CHIPS)
    ('red', 'red', 'red', 'red', 'red')
    """
    whole = value_cents(colours, chips)
    try:
        kept, taken = make_change(whole - cents, chips), make_change(cents, chips)
    except FeltwatchError:
        return None
    return ordered((*kept, *taken), chips)


def tallest(stacks: Sequence[Colours]) -> int:
    """How many chips the tallest stack has; 0 without any."""
    return max((len(stack) for stack in stacks), default=0)
