"""Checkpoints of the networks that are trained here and no architecture of ultralytics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from settlement.errors import FeltwatchError


def read_state(path: Path, form: str, what: str) -> dict[str, Any]:
    """The checkpoint at `path`, whose key 'form' is `form`.

    Raises FeltwatchError when the file is missing, cannot be loaded, or is not `what` it should
    be.
    """
    if not path.is_file():
        raise FeltwatchError(f"{path}: no checkpoint; 'feltwatch model' trains and writes one")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # unpickling may raise anything
        raise FeltwatchError(f"{path}: not a checkpoint that can be loaded") from error
    if not isinstance(state, dict) or state.get("form") != form:
        raise FeltwatchError(f"{path}: not a {what}")
    return state


def save_state(state: dict[str, Any], path: Path) -> None:
    """Write a checkpoint whole or not at all."""
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.replace(path)
