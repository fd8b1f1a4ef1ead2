"""The named limits of a live source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveLimits:
    """How long a live source waits, how much it holds and when it says what; times in s."""

    open_s: float = 10.0
    """For the first answer of a camera."""
    stalled_s: float = 2.0
    """Without an image for so long, the source is stalled."""
    give_up_s: float = 8.0
    """Without an image for so long, the connection is dropped and made again; while packets
    are left out on purpose until the next key frame, this time does not run ..."""
    key_give_up_s: float = 60.0
    """... but this does, for a camera that sends none."""
    frozen_s: float = 10.0
    """The same image for so long is frozen."""
    freeze_check_s: float = 1.0
    """Interval of the checks for a frozen image, at key frames ..."""
    key_wait_s: float = 5.0
    """... or at any, when none has come for so long."""
    backoff_first_s: float = 0.5
    """Before the first new attempt; each further one waits twice as long ..."""
    backoff_most_s: float = 20.0
    """... up to this."""
    backoff_jitter: float = 0.3
    """Waits differ by up to this share, so that cameras do not all come back at once."""
    settled_s: float = 10.0
    """A connection that has held for so long starts the waits again."""
    slot: int = 12
    """Sampled images that wait for the reader; when full, they are thinned out evenly ..."""
    slot_s: float = 6.0
    """... and none waits until it is older than this."""
    skip_lag_s: float = 1.0
    """Behind the stream for so long, images that no other needs are not decoded."""
    key_lag_s: float = 3.0
    """Behind for so long, only key frames are decoded until the stream is caught up with."""
    slow_window_s: float = 10.0
    """Over how long it is judged whether this machine keeps up."""
    slow_share: float = 0.25
    """More of the sampled images dropped than this, and the machine is too slow."""

    def wait_s(self, attempt: int, luck: float) -> float:
        """The wait before new attempt 0, 1, ...; `luck` is from 0 to 1.

        >>> [LiveLimits().wait_s(n, 0.5) for n in (0, 1, 2, 9)]
        [0.5, 1.0, 2.0, 20.0]
        """
        base = min(self.backoff_first_s * 2.0 ** min(attempt, 30), self.backoff_most_s)
        return base * (1 + self.backoff_jitter * (2 * luck - 1))
