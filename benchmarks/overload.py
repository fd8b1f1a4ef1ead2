"""What became of every round of a film that was played live on a busy machine."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from settlement.record import DealerRecord, RoundRecord, SeatRecord
from surveillance.alerts.model import ALERTED_APART, IncidentAct
from surveillance.store import AlertFilter, HealthFilter, Page, RoundFilter, Store

NO_MISTAKE = ALERTED_APART | {"CAMERA", "SILENT", "OVERLOAD", "GAP"}
"""Codes that claim no mistake of anybody at the table."""
LEAST_CARDS = 4
"""A round that was read is a true one when so many cards lie where that one has them."""
AROUND_S = 5.0
_INCIDENTS = ("overload", "left-out", "no-picture")
_PAGE = 200
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Told:
    """What a camera's record says: rounds with their wall times and alerts, passes, gaps."""

    rounds: tuple[tuple[float, RoundRecord, tuple[tuple[str, int | None], ...]], ...]
    """Wall time of its end, the record, code and seat of each alert."""
    passes: tuple[float, ...]
    """Wall times at which the film began."""
    gaps: tuple[tuple[float, float], ...]
    """Wall spans that were reported: overload, left out, no image, not watched."""


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Processes beside, each of which uses all of a core that it can get."""
    code = "while True: sum(range(10_000))"
    own = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for process in own:
            process.kill()
            process.wait()


def read_told(store_url: str, camera: str, end_s: float) -> Told:
    """Read a camera's record; gaps that still go on end at wall time `end_s`."""
    with Store.open(store_url) as store:
        alerts: dict[int, list[tuple[str, int | None]]] = {}
        unwatched: list[tuple[float, float]] = []
        for alert in _all(lambda at: store.alerts.page(AlertFilter(camera=camera), at, _PAGE)):
            if alert.round is not None:
                alerts.setdefault(alert.round, []).append((alert.alert.code, alert.alert.seat))
            elif alert.alert.code == "GAP":
                unwatched.append((float(alert.source.removeprefix("gap#")), _wall(alert.at)))
        rounds = tuple(
            (_wall(r.ended_at), RoundRecord.model_validate(r.record), tuple(alerts.get(r.id, ())))
            for r in _all(lambda at: store.rounds.page(RoundFilter(camera=camera), at, _PAGE))
        )
        notes = list(_all(lambda at: store.health.page(HealthFilter(camera=camera), at, _PAGE)))
    passes, gaps = _passes_and_gaps([(_wall(n.at), n.state, n.act) for n in notes], end_s)
    return Told(rounds, passes, tuple(sorted((*gaps, *unwatched))))


def _all(page: Callable[[str | None], Page[Row]]) -> Iterator[Row]:
    """All rows of a list that comes in pages."""
    cursor: str | None = None
    while True:
        own = page(cursor)
        yield from own.rows
        cursor = own.next
        if cursor is None:
            return


def _wall(at: datetime) -> float:
    return at.timestamp()


def _passes_and_gaps(
    notes: Sequence[tuple[float, str, IncidentAct | None]], end_s: float
) -> tuple[tuple[float, ...], tuple[tuple[float, float], ...]]:
    passes, gaps = [], []
    open_at: dict[str, float] = {}
    away = True
    for at, state, act in sorted(notes, key=lambda note: note[:2]):
        if state in ("connecting", "reconnecting"):
            away = True
        elif away and act is None and state in ("running", "too_slow", "overload"):
            away = False
            passes.append(at)
        elif state in _INCIDENTS and act in ("began", "again"):
            open_at.setdefault(state, at)
        elif state in open_at and act == "ended":
            gaps.append((open_at.pop(state), at))
    gaps += [(at, end_s) for at in open_at.values()]
    return tuple(passes), tuple(sorted(gaps))


def outcome(truth: Sequence[RoundRecord], told: Told, end_s: float) -> dict[str, Any]:
    """Counts of what became of each round that was played whole before wall time `end_s`.

    `found`: decided, nothing undecided; `undecided`: decided in part; `in_a_reported_gap`: not
    decided while a gap was reported; `missed`: neither. `merged` are records with cards of
    several true rounds, `false_alerts` those that claim a mistake that was not made.
    """
    counts = dict.fromkeys(("played", "found", "undecided", "in_a_reported_gap", "missed"), 0)
    decided = [(at, _own(record, truth), record, alerts) for at, record, alerts in told.rounds]
    for began in told.passes:
        following = min((p for p in told.passes if p > began), default=end_s)
        for true in truth:
            start = began + float(true.start_s or 0)
            end = began + float(true.end_s or 0)
            if end + AROUND_S > following:
                continue
            counts["played"] += 1
            mine = [
                r for at, ids, r, _ in decided
                if true.round_id in ids and start < at < following + AROUND_S
            ]  # fmt: skip
            if mine:
                counts["undecided" if all(r.undecided for r in mine) else "found"] += 1
            elif any(a < end + AROUND_S and start - AROUND_S < b for a, b in told.gaps):
                counts["in_a_reported_gap"] += 1
            else:
                counts["missed"] += 1
    faults = {t.round_id: {(f.code, f.seat) for f in t.faults or ()} for t in truth}
    wrong = [
        f"{record.round_id} {code} seat {seat}"
        for _, ids, record, alerts in decided
        for code, seat in alerts
        if code not in NO_MISTAKE and not any((code, seat) in faults[i] for i in ids)
    ]
    return {
        **counts,
        "merged": sum(len(ids) > 1 for _, ids, _, _ in decided),
        "false_alerts": len(wrong),
        "false": wrong,
        "reported_gap_s": round(sum(b - a for a, b in told.gaps), 1),
    }


def _own(record: RoundRecord, truth: Sequence[RoundRecord]) -> list[str]:
    """The true rounds whose cards a record holds, where they lay."""
    return [t.round_id for t in truth if _common(_cards(record), _cards(t)) >= LEAST_CARDS]


def _cards(record: RoundRecord) -> dict[int | None, frozenset[str]]:
    hands: dict[int | None, DealerRecord | SeatRecord] = {None: record.dealer}
    hands.update({seat.seat: seat for seat in record.seats})
    return {seat: frozenset((*(h.low or ()), *(h.high or ()))) for seat, h in hands.items()}


def _common(
    one: Mapping[int | None, frozenset[str]], other: Mapping[int | None, frozenset[str]]
) -> int:
    """The most cards that any place has in both."""
    return max((len(own & other.get(seat, frozenset())) for seat, own in one.items()), default=0)


def truth_beside(video: Path) -> Path | None:
    """The truth of a simulated film, which lies beside it; None when there is none."""
    path = video.with_name("truth.jsonl")
    return path if path.is_file() else None
