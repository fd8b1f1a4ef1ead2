"""Intervals of shares."""

from __future__ import annotations


def wilson(right: int, seen: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95% interval of a share, by Wilson's score (1927); (0, 1) when nothing was seen.

    >>> low, high = wilson(98, 100)
    >>> round(low, 4), round(high, 4)
    (0.93, 0.9945)
    """
    if seen == 0:
        return 0.0, 1.0
    share = right / seen
    spread = z * ((share * (1 - share) + z * z / (4 * seen)) / seen) ** 0.5
    low = (share + z * z / (2 * seen) - spread) / (1 + z * z / seen)
    high = (share + z * z / (2 * seen) + spread) / (1 + z * z / seen)
    return max(0.0, low), min(1.0, high)
