"""What was seen in a round, as it goes into bundles."""

from __future__ import annotations

from typing import Any

from vision.rounds.observed import ObservedRound


def detections_of(observed: ObservedRound) -> list[dict[str, Any]]:
    """One object for each thing that was seen in the round's views, corners in px of the view."""
    return [
        {
            "seat": picture.seat,
            "what": picture.what,
            "at_s": picture.at_s,
            "label": seen.label,
            "score": round(seen.score, 4),
            "xyxy": [round(v, 1) for v in seen.xyxy],
        }
        for picture in observed.pictures
        for seen in picture.seen
    ]
