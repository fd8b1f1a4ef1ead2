"""Errors of services; the routers map them to HTTP."""

from __future__ import annotations

from settlement.errors import FeltwatchError


class NotThereError(FeltwatchError):
    """The requested thing does not exist."""


class RefusedError(FeltwatchError):
    """The data sent is not valid; the message says what is accepted."""


class ContradictedError(FeltwatchError):
    """The data sent contradicts what is known; the message says where."""
