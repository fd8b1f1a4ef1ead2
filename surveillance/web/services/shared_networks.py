"""The networks that the pages read images with, loaded when the first one is read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vision.networks import Networks


class SharedNetworks:
    """Networks that several threads use, one at a time."""

    def __init__(self, weights: Path | None = None) -> None:
        """`weights` is a folder of networks, the shipped ones where none is given."""
        self._weights = weights
        self._lock = threading.Lock()

    @contextmanager
    def use(self) -> Iterator[Networks]:
        """Have them for oneself. Raises ModelError where they cannot be loaded."""
        with self._lock:
            yield self._networks

    @cached_property
    def _networks(self) -> Networks:
        # Imported here: it brings the networks' runtime along, which most pages do without.
        from models.weights.folder import default_weights
        from vision.networks import load_networks

        return load_networks(self._weights or default_weights())
