"""The error of commands whose training libraries are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from models.extras import INSTALL_TRAIN
from settlement.errors import FeltwatchError


@contextmanager
def train_extra() -> Iterator[None]:
    """Raise FeltwatchError naming what to install where a training library is missing."""
    try:
        yield
    except ImportError as error:
        raise FeltwatchError(
            f"training and export need libraries that are not installed "
            f"({error.name or error} is missing): {INSTALL_TRAIN}"
        ) from error
