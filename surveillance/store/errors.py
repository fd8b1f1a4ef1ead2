"""Errors of the store; each is a FeltwatchError reported in one line."""

from __future__ import annotations

from settlement.errors import FeltwatchError


class StoreError(FeltwatchError):
    """The database cannot be opened, read or written; the message names it, password blanked."""


class StoreDownError(StoreError):
    """The database does not answer or cannot write just now; the same may work later."""


class NotStoredError(FeltwatchError):
    """There is no row of that number or name."""


class TakenError(FeltwatchError):
    """The name is in use already."""


class CursorError(FeltwatchError):
    """The cursor of a list was not given out by this store."""
