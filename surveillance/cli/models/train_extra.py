"""What commands say where the libraries of training are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from settlement.errors import FeltwatchError

TRAIN_EXTRA = 'pip install "feltwatch[train]"'


@contextmanager
def train_extra() -> Iterator[None]:
    """Say in one line what to install where a training library is missing."""
    try:
        yield
    except ImportError as error:
        raise FeltwatchError(
            f"training and export need libraries that are not installed "
            f"({error.name or error} is missing): {TRAIN_EXTRA}"
        ) from error
