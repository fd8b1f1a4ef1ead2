"""How often fuzzed input is tried: a few times in CI, FELTWATCH_FUZZ times on demand."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("FELTWATCH_FUZZ", "4"))

fuzzed = settings(
    max_examples=EXAMPLES * 10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""For hypothesis: forms are many and each is quick to try."""
