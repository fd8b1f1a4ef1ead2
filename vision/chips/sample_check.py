"""What may go wrong with the sample of a chip, in words for the person who takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vision.chips.enrolment import Enrolled
from vision.chips.likeness import LIKE_FELT, Pair, felt_difference
from vision.chips.reading import ReadStack
from vision.geometry.table import ChipKind

CENTS = 100


def sample_warnings(
    name: str, sample: Enrolled, laid: int, read: ReadStack | None, chips: Mapping[str, ChipKind],
    found: Sequence[Pair],
) -> list[str]:  # fmt: skip
    """Why stacks of a chip may be read wrongly.

    `laid` chips were laid, `read` is the stack as it reads against `chips`, the table's with the
    new sample, and `found` the pairs of these.
    """
    return [
        *_of_count(sample, laid),
        *_of_reading(name, laid, read, chips[name].value_cents),
        *(alike_words(pair) for pair in found if pair.alike and name in (pair.one, pair.other)),
        *_of_felt(name, sample),
        *_of_face(name, sample),
    ]


def alike_words(pair: Pair) -> str:
    """What two chips that look alike mean."""
    return (
        f"{pair.one} and {pair.other} look alike: their sides differ by {pair.difference:.0f}; "
        "stacks of them may be confused"
    )


def _of_count(sample: Enrolled, laid: int) -> Iterator[str]:
    if sample.counted != laid:
        yield (
            f"{sample.counted} chips were counted and {laid} laid: check the number of chips, and "
            "that the stack stands clear of everything else, print included"
        )


def _of_reading(name: str, laid: int, read: ReadStack | None, value_cents: int) -> Iterator[str]:
    if read is None:
        yield f"with this sample the stack is not read as {name}, nor as any other chips"
    elif read.value_cents != laid * value_cents:
        yield f"the stack reads as {_sum(read)} in place of {laid} of {name}"


def _of_felt(name: str, sample: Enrolled) -> Iterator[str]:
    apart = felt_difference(sample.side, sample.felt_rgb)
    if apart < LIKE_FELT:
        yield (
            f"{name} looks like the felt: it differs from it by {apart:.0f}; print under a stack "
            "may be read as one more chip of it"
        )


def _of_face(name: str, sample: Enrolled) -> Iterator[str]:
    if not sample.face_centred:
        yield (
            f"the far rim of the face of {name} is not clear: its height does not say how many "
            "chips there are; lay the stack before plain felt of another colour"
        )


def _sum(read: ReadStack) -> str:
    dollars = f"{read.value_cents / CENTS:,.2f}".removesuffix(".00")
    return f"${dollars} in {len(read.colours)} chips ({read.probability:.0%})"
