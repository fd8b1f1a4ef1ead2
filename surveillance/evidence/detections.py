"""What was detected in a round, as it goes into bundles."""

from __future__ import annotations

from surveillance.alerts.judged_round import Detection
from vision.rounds.observed import ObservedRound


def detections_of(observed: ObservedRound) -> tuple[Detection, ...]:
    """Return one detection for each thing in the first camera's views, corners in their px."""
    return tuple(
        Detection(
            seat=picture.seat,
            what=picture.what,
            at_s=picture.at_s,
            label=seen.label,
            score=round(seen.score, 4),
            xyxy=(round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)),
        )
        for picture in observed.pictures
        if not picture.camera
        for seen in picture.seen
        for x0, y0, x1, y1 in (seen.xyxy,)
    )
