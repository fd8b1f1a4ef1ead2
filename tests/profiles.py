"""How many examples hypothesis draws: few in `make test`, all of them in `make test-all`.

HYPOTHESIS_PROFILE is `quick` (as long as nothing else is said) or `thorough`.
"""

from __future__ import annotations

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
QUICK_SHARE = 8

# A machine that does other work says nothing about the time of one example: no deadline.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=200)


def examples(thorough: int) -> int:
    """Return how many examples a test that needs its own number draws in this profile."""
    return thorough if PROFILE == "thorough" else max(10, thorough // QUICK_SHARE)
