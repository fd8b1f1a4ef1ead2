"""Common base of the parts of a site file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

CameraName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=40)
]
EnvName = Annotated[str, StringConstraints(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")]
OptionalPath = Annotated[Path | None, BeforeValidator(lambda given: given or None)]


class Part(BaseModel):
    """A part of the file: it forbids keys that are not known."""

    # Inputs may hold a password by mistake: errors never quote them.
    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, hide_input_in_errors=True
    )
