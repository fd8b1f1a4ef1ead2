"""Harvest an audit: the views with the least confidence become images with first labels.

An audit run with `--candidates N` leaves `candidates.jsonl`, one line a view, and the views
themselves in `candidates/`, both without anything drawn over them. A person's verdicts on
its alerts may lie beside them in `verdicts.jsonl`, lines of `{alert_id, verdict, by}` with
the verdict `right` or `wrong`; views of a seat that was overruled come first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from datasets.labelled.manifest import Dataset, NewPicture
from datasets.labelled.pictures import inspect, put_file
from datasets.labelled.records import Box, checked_file
from datasets.labelled.store import MANIFEST, PICTURES
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import reading
from settlement.record import DECK_LABELS

CANDIDATES = "candidates.jsonl"
VIEWS = "candidates"
VERDICTS = "verdicts.jsonl"
FIRST_LABELS = (*DECK_LABELS, "BACK", "chip_stack", "lammer_envy", "lammer_dealer")
STACK = "chip_stack"


class CandidateBox(Form):
    """One thing the audit saw."""

    label: str = Field(description="A card, BACK, chip_ with its chips, or lammer_ with its word.")
    score: float = Field(ge=0, le=1, description="How sure it was.")
    xyxy: tuple[float, float, float, float] = Field(description="Corners in px of the view.")


class Candidate(Form):
    """One view that an audit kept because it was not sure of it, or raised an alert on it."""

    file: str = Field(description="The view's image, relative to `candidates`.")
    width: int = Field(gt=0, description="Width in px.")
    height: int = Field(gt=0, description="Height in px.")
    video: str = Field(description="Name of the recording.")
    table: str = Field(description="Name of the table in its table file.")
    round_id: str = Field(description="The round, as in rounds.jsonl.")
    seat: int | None = Field(description="The seat, null for the dealer.")
    what: str = Field(description="Moment of the round: bets, cards, settled or envy.")
    at_s: str = Field(description="Time in the recording, decimal seconds.")
    model: str = Field(description="Hash of the model that read it.")
    sureness: float = Field(ge=0, le=1, description="Of what it was least sure of.")
    undecided: tuple[str, ...] = Field((), description="What could not be read there.")
    alerts: tuple[str, ...] = Field((), description="Ids of the alerts that the view shows.")
    boxes: tuple[CandidateBox, ...] = Field(description="What was seen.")

    def first_boxes(self) -> tuple[Box, ...]:
        """The boxes as first labels: cards and lammers as seen, chips as stacks, all clipped."""
        return tuple(_first_box(box, self.width, self.height) for box in self.boxes)


class Verdict(Form):
    """What a person said of an alert."""

    alert_id: str = Field(description="The alert, as in alerts.jsonl.")
    verdict: Literal["right", "wrong"] = Field(description="Whether the alert was right.")
    by: str = Field("", description="Who said so.")


def _first_box(seen: CandidateBox, width: int, height: int) -> Box:
    x0, x1 = (min(max(v, 0.0), float(width)) for v in seen.xyxy[::2])
    y0, y1 = (min(max(v, 0.0), float(height)) for v in seen.xyxy[1::2])
    chips = seen.label.startswith("chip")
    attributes = (("chips", seen.label.removeprefix("chip_")),) if chips else ()
    label = STACK if chips else seen.label
    return Box(label, x0, y0, x1, y1, score=seen.score, attributes=attributes)


@dataclass
class HarvestSummary:
    """What a harvest took."""

    added: int = 0
    present: int = 0
    overruled: int = 0
    left: int = 0
    boxes: int = 0
    audits: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset harvest --json`."""
        return asdict(self)


def harvest(
    audits: Sequence[Path],
    folder: Path,
    *,
    limit: int | None = None,
    surer_than: float = 1.0,
    overruled_only: bool = False,
) -> HarvestSummary:
    """Put an audit's candidates into the dataset of `folder`, made when there is none.

    Overruled views come first, then the least sure; at most `limit` an audit, and none
    surer than `surer_than`. Views that are there already are left alone. Raises
    FeltwatchError naming the audit or line that is not in order.
    """
    for audit in audits:
        if not (audit / CANDIDATES).is_file():
            raise FeltwatchError(
                f"{audit}: holds no {CANDIDATES}; audit the recording with --candidates 200"
            )
    there = (folder / MANIFEST).is_file()
    summary = HarvestSummary()
    with Dataset.open(folder) if there else Dataset.create(folder, ()) as dataset:
        dataset.add_labels(FIRST_LABELS)
        for audit in audits:
            wrong = frozenset(_overruled(audit))
            wanted = [
                (not wrong.isdisjoint(c.alerts), c)
                for c in read_candidates(audit / CANDIDATES)
                if not overruled_only or not wrong.isdisjoint(c.alerts)
            ]
            wanted.sort(key=lambda pair: (not pair[0], pair[1].sureness, pair[1].file))
            taken = [p for p in wanted if p[0] or p[1].sureness <= surer_than][:limit]
            summary.left += len(wanted) - len(taken)
            summary.audits.append(audit.resolve().name)
            for overruled, candidate in taken:
                _take(dataset, audit, candidate, overruled, summary)
    return summary


def read_candidates(path: Path) -> Iterator[Candidate]:
    """The lines of a `candidates.jsonl`; raises FeltwatchError naming a wrong one."""
    for place, values in _lines(path):
        try:
            candidate = Candidate.model_validate(values)
            checked_file(candidate.file)
        except ValidationError as error:
            first = error.errors()[0]
            at = ".".join(str(part) for part in first["loc"])
            raise FeltwatchError(f"{place}: {at}: {first['msg']}") from error
        except FeltwatchError as error:
            raise FeltwatchError(f"{place}: {error}") from error
        yield candidate


def _overruled(audit: Path) -> Iterator[str]:
    """Ids of the alerts that a person said were wrong; the last word on each counts."""
    path = audit / VERDICTS
    if not path.is_file():
        return
    last: dict[str, str] = {}
    for place, values in _lines(path):
        try:
            verdict = Verdict.model_validate(values)
        except ValidationError as error:
            raise FeltwatchError(f"{place}: {error.errors()[0]['msg']}") from error
        last[verdict.alert_id] = verdict.verdict
    yield from (alert for alert, verdict in last.items() if verdict == "wrong")


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            place = f"{path}: line {number}"
            if line.strip():
                try:
                    yield place, json.loads(line)
                except ValueError as error:
                    raise FeltwatchError(f"{place}: is not JSON ({error})") from error


def _take(
    dataset: Dataset, audit: Path, candidate: Candidate, overruled: bool, summary: HarvestSummary
) -> None:
    name = audit.resolve().name
    shift = f"{name} {candidate.video}"
    file = checked_file(f"{name}/{candidate.file}")
    summary.overruled += overruled
    path = audit / VIEWS / candidate.file
    with reading(path):
        data = path.read_bytes()
    found = inspect(data)
    if found.is_broken:
        raise FeltwatchError(f"{path}: cannot be read as an image; run the audit again")
    present = dataset.find(file)
    if present is not None:
        if present.sha256 != found.sha256:
            raise FeltwatchError(
                f"{path}: the dataset holds another view {file}; rename the audit's folder"
            )
        summary.present += 1
        return
    boxes = candidate.first_boxes()
    seat = candidate.seat if candidate.seat is not None else "dealer"
    attributes: dict[str, Any] = {
        "seat": seat,
        "what": candidate.what,
        "sureness": candidate.sureness,
    }
    if candidate.undecided:
        attributes["undecided"] = list(candidate.undecided)
    if candidate.alerts:
        attributes["alerts"] = list(candidate.alerts)
    if overruled:
        attributes["overruled"] = True
    put_file(data, dataset.folder / PICTURES / file)
    new = NewPicture(
        file,
        found.width,
        found.height,
        found.sha256,
        found.phash,
        source=candidate.video,
        time_s=candidate.at_s,
        camera=candidate.table,
        shift=shift,
        deal=f"{shift} {candidate.round_id}",
        labelled_by=f"model:{candidate.model}",
        attributes=tuple(attributes.items()),
    )
    dataset.add_picture(new, boxes, found.thumb)
    summary.added += 1
    summary.boxes += len(boxes)
