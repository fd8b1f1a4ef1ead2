"""What the stacks of a stake or a pay come to, and whether that is sure."""

from __future__ import annotations

from collections.abc import Sequence

from vision.chips.reading import ReadStack

SURE_STACK = 0.9
"""Least share of a stack's number and colours together. Of 866 stacks of shifts that were not
trained on 78% reach it, and 1% of these are wrong."""


def value_of(stacks: Sequence[ReadStack]) -> int | None:
    """Cents of the stacks as they are best read; None when one is too high to count."""
    if not all(stack.colours for stack in stacks):
        return None
    return sum(stack.value_cents for stack in stacks)


def is_sure(stacks: Sequence[ReadStack]) -> bool:
    """Whether every stack's height and colours are read surely."""
    return all(s.count_share * s.colour_share >= SURE_STACK for s in stacks)
