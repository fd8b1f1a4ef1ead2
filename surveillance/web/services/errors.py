"""What a service cannot do; the routers say it in HTTP."""

from __future__ import annotations

from settlement.errors import FeltwatchError


class NotThereError(FeltwatchError):
    """What was asked for is not there."""


class RefusedError(FeltwatchError):
    """What was sent cannot be taken; the message says what would be right."""


class ContradictedError(FeltwatchError):
    """What was sent contradicts what is known; the message says what."""
