"""What every form that is read, stored or sent has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Form(BaseModel):
    """A form that takes no keys but its own, and does not change once it is read.

    >>> class Seat(Form):
    ...     seat: int
    >>> Seat.model_validate({"seat": 3, "chair": 4}).seat
    Traceback (most recent call last):
    ...
    pydantic_core._pydantic_core.ValidationError: 1 validation error for Seat
    chair
      Extra inputs are not permitted ...
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
