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
            f"({error.name or error} is missing): {TRAIN_EXTRA}, which is about 7 GB with the "
            "libraries for graphics cards; for a CPU alone install torch's CPU build before it"
        ) from error
