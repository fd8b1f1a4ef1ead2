"""Views an audit keeps for labelling: those it was least sure of, and those behind alerts.

They go without anything drawn over them into `candidates/`, with one line each in
`candidates.jsonl`; `feltwatch dataset harvest` makes labelled pictures of them.
"""

from __future__ import annotations

import hashlib
import heapq
from pathlib import Path

import cv2
import numpy as np

from datasets.labelled.harvest import CANDIDATES, VIEWS, Candidate, CandidateBox
from settlement.record import RoundRecord
from surveillance.alerts.model import Alert
from surveillance.evidence import images
from surveillance.staging import Staging
from vision.rounds.observed import ObservedRound, ViewPicture

JPEG_QUALITY = 95
"""As pictures to train on, finer than evidence."""

UNDECIDED = 0.5
"""A view of a seat where something could not be decided counts as this much less sure."""


def model_sha256(folder: Path) -> str:
    """The SHA-256 of the networks in a folder of weights, or of a detector's own file."""
    digest = hashlib.sha256()
    for path in [folder] if folder.is_file() else sorted(folder.glob("*.onnx")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Candidates:
    """Keeps at most `limit` views by sureness and as many behind alerts; see `take`.

    Pictures are written at once and taken away again when surer ones fall out, so that
    memory and disk do not grow with the recording.
    """

    def __init__(self, staging: Staging, limit: int, video: str, table: str, model: str) -> None:
        """`video`, `table` and `model` stand in every line."""
        self._staging = staging
        self._limit = limit
        self._video, self._table, self._model = video, table, model
        self._lines: dict[str, Candidate] = {}
        # The surest first, so that it is the one to fall out; the name makes order certain.
        self._unsure: list[tuple[float, str]] = []
        self._alerted: list[tuple[float, str]] = []

    def take(self, observed: ObservedRound, alerts: tuple[Alert, ...]) -> None:
        """Look at the first camera's views of a round that was judged."""
        for picture in observed.pictures:
            # Nothing was looked for in the image of a reach.
            if picture.camera or picture.what == "reach":
                continue
            name = images.file_name(observed.record.round_id, picture)
            line = self._line(name, observed.record, picture, alerts)
            held = self._keep(self._unsure, line)
            if line.alerts:
                held = self._keep(self._alerted, line) or held
            if held:
                self._lines[name] = line
                self._staging.write_bytes(f"{VIEWS}/{name}", _jpeg(picture.image))
            self._drop()

    def _keep(self, heap: list[tuple[float, str]], line: Candidate) -> bool:
        item = (-line.sureness, line.file)
        if len(heap) < self._limit:
            heapq.heappush(heap, item)
            return True
        return heapq.heappushpop(heap, item) != item

    def _drop(self) -> None:
        held = {name for _, name in (*self._unsure, *self._alerted)}
        for name in [n for n in self._lines if n not in held]:
            del self._lines[name]
            (self._staging.path / VIEWS / name).unlink(missing_ok=True)

    def _line(
        self, name: str, record: RoundRecord, picture: ViewPicture, alerts: tuple[Alert, ...]
    ) -> Candidate:
        undecided = tuple(u.what for u in record.undecided if u.seat == picture.seat)
        least = min((seen.score for seen in picture.seen), default=1.0)
        shown = f"evidence/{name}"
        height, width = picture.image.shape[:2]
        return Candidate(
            file=name,
            width=width,
            height=height,
            video=self._video,
            table=self._table,
            round_id=record.round_id,
            seat=picture.seat,
            what=picture.what,
            at_s=picture.at_s,
            model=self._model,
            sureness=round(min(1.0, max(0.0, least)) * (UNDECIDED if undecided else 1.0), 4),
            undecided=undecided,
            alerts=tuple(a.alert_id for a in alerts if shown in a.pictures),
            boxes=tuple(
                CandidateBox(
                    label=seen.label,
                    score=round(min(1.0, max(0.0, seen.score)), 4),
                    xyxy=tuple(round(float(v), 2) for v in seen.xyxy),
                )
                for seen in picture.seen
            ),
        )

    def write(self) -> None:
        """Write the lines, the least sure first."""
        lines = sorted(self._lines.values(), key=lambda c: (c.sureness, c.file))
        self._staging.write_text(CANDIDATES, "".join(c.model_dump_json() + "\n" for c in lines))


def _jpeg(image: np.ndarray) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise ValueError("the picture could not be encoded")
    return bytes(data.tobytes())
