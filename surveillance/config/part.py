"""Common base of the parts of a site file."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

CameraName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=40)
]
EnvName = Annotated[str, StringConstraints(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")]
OptionalPath = Annotated[Path | None, BeforeValidator(lambda given: given or None)]


def path_from(folder: Path, path: Path) -> Path:
    """A path of the file, taken from its folder; `~` is the home of this user."""
    with contextlib.suppress(RuntimeError):  # ~name of nobody
        path = path.expanduser()
    return folder / path


def numbered(kind: str, number: int, name: object = None) -> str:
    """A part of a list in an error, `number` from 0; people count from 1.

    >>> numbered("camera", 0, "pit1-t3"), numbered("webhook", 1)
    ('camera 1 (pit1-t3)', 'webhook 2')
    """
    return f"{kind} {number + 1} ({name})" if name else f"{kind} {number + 1}"


class Part(BaseModel):
    """A part of the file: it forbids keys that are not known."""

    # Inputs may hold a password by mistake: errors never quote them.
    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, hide_input_in_errors=True
    )
