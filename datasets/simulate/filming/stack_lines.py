"""The lines of `stacks.jsonl`: every stack that lay as a stake or payout, and how it is seen."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator

from settlement.form import Form
from settlement.input_file import file_fault, reading
from settlement.record import Cents, Seconds, Share

Role = Literal["stake", "paid"]


class StackView(Form):
    """How one camera sees a stack while no arm is over the felt."""

    px_per_chip: Annotated[float, Field(ge=0)] = Field(
        description="Height of one chip in px of the frame, at the stack's place."
    )
    hidden: Share = Field(
        description="The least fraction of the silhouette that nearer stacks cover, over all "
        "moments in which it lay."
    )
    foot_hidden: bool = Field(
        description="In every moment more than half of the lowest chip's near side is covered."
    )
    chips_covered: Annotated[int, Field(ge=0)] = Field(
        0, description="Chips of whose near side higher ones of the same stack cover most."
    )


class StackLine(Form):
    """One stack of one wager, from when it was laid to when it was taken up.

    `laying` counts how often chips were laid for the wager: a stake that is moved or a payout that
    is corrected is laid again, and the last laying is what the round's record holds.
    """

    round_id: str
    seat: int | None = Field(None, description="None: the dealer's own wager 'house'.")
    wager: str
    role: Role
    key: str = Field(description="As in frames.jsonl.gz.")
    laying: int = Field(ge=1)
    cents: Cents
    chips: int = Field(ge=1)
    colours: int = Field(ge=1, description="Number of different colours.")
    lean_mm: float = Field(ge=0, description="From the lowest chip's centre to the highest's.")
    untidy: Share = Field(description="Fraction of chips pushed out of line.")
    t0_s: Seconds
    t1_s: Seconds
    cameras: dict[str, StackView] = Field(description="By name; '' is the first camera.")

    @field_validator("cameras")
    @classmethod
    def _first(cls, cameras: dict[str, StackView]) -> dict[str, StackView]:
        if "" not in cameras:
            raise ValueError("the first camera, named '', is missing")
        return cameras


def parse_stacks(lines: Iterable[str], name: str) -> list[StackLine]:
    """Read lines of JSON, blank ones passed over; raises FeltwatchError naming the line."""
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(StackLine.model_validate_json(line))
        except ValidationError as error:
            raise file_fault(f"{name}, line {number}", error) from error
    return found


def read_stacks(path: Path) -> list[StackLine]:
    """The lines of a `stacks.jsonl`; raises FeltwatchError naming the file and line."""
    with reading(path), path.open(encoding="utf-8-sig") as handle:
        return parse_stacks(handle, str(path))
