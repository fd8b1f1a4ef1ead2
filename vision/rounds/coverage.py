"""How much of the time a table was watched: seconds seen, skipped, and hidden at each place."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Coverage:
    """Seconds of the stream; a place is hidden while something moves over it."""

    seen_s: float = 0.0
    skipped_s: float = 0.0
    """No frame, or only damaged ones, came in that time."""
    hidden_s: dict[str, float] = field(default_factory=dict)
    """By place: 'dealer', 'house' and the numbers of the seats."""

    def take(self, seconds: float, hidden: list[str]) -> None:
        """Count the time up to a frame that was looked at, with what is hidden in it.

        >>> coverage = Coverage()
        >>> coverage.take(0.2, ["dealer"]); coverage.take(0.2, [])
        >>> coverage.seen_s, coverage.hidden_s
        (0.4, {'dealer': 0.2})
        """
        self.seen_s += seconds
        for place in hidden:
            self.hidden_s[place] = self.hidden_s.get(place, 0.0) + seconds

    def rounded(self) -> dict[str, float | dict[str, float]]:
        """The same as it is printed, to tenths of a second."""
        hidden = {place: round(own, 1) for place, own in sorted(self.hidden_s.items())}
        return {
            "seen_s": round(self.seen_s, 1),
            "skipped_s": round(self.skipped_s, 1),
            "hidden_s": hidden,
        }
