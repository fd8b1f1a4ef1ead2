"""How soon the pages and lists answer over a store with a season in it.

The real application is served on loopback and asked over HTTP by somebody who is logged in,
one request after the other. What is asked is found in the application itself: every page and
every GET of the API, lists with each of their filters and on later pages too.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.room.served import served
from benchmarks.room.store_fill import add_evidence, fill
from benchmarks.room.web_requests import Known, Timing, measure
from surveillance.accounts import Accounts, Role
from surveillance.live.event_bus import EventBus
from surveillance.recordings import AllowedFolders, AuditManager
from surveillance.store import AlertRow, Store
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings

PROMISED_MS = 300.0
"""What every page and list is to stay under, by the worst of its requests."""

_SPANS = (timedelta(hours=8), timedelta(days=1), timedelta(days=30))


def bench_web(
    rounds: int,
    alerts: int,
    repeats: int,
    url: str | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Fill a store, ask for everything `repeats` times, and give the times.

    `url` is an empty database, or one that was filled by this before; None: a SQLite file
    that is deleted afterwards. Raises FeltwatchError when the store cannot be used or the
    server does not start.
    """
    with tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as folder:
        with Store.open(url or f"sqlite:///{folder}/feltwatch.sqlite") as store:
            tell(f"{rounds:,} rounds and {alerts:,} alerts into {store.kind}")
            now = datetime.now(UTC)
            began = time.perf_counter()
            fill(store, rounds, alerts, now, progress)
            fill_s = time.perf_counter() - began
            evidence = Path(folder, "evidence")
            known = _known(store, add_evidence(store, evidence))
            manager = AuditManager(
                store, AllowedFolders([Path(folder)]), evidence, Path(folder, "data")
            )
            settings = WebSettings(
                store=store, bus=EventBus(), evidence_dir=evidence, recordings=manager
            )
            tell("asking for every page and list")
            app = create_app(settings)
            with served(app) as base_url:
                timings, skipped = measure(app, base_url, _log_in(store), known, repeats)
            newest = store.rounds.page(limit=1, whole=False).rows[0]
        slow = [_name(timing) for timing in timings if timing.worst_ms > PROMISED_MS]
        return {
            "store": store.kind,
            "rounds": newest.id,
            "alerts": known.numbers["alerts"],
            "fill_s": round(fill_s, 1),
            "repeats": repeats,
            "requests": len(timings),
            "median_ms": round(statistics.median(t.median_ms for t in timings), 2),
            "worst_p95_ms": max(t.p95_ms for t in timings),
            "worst_ms": max(t.worst_ms for t in timings),
            "under_300_ms": not slow,
            "over_300_ms": slow,
            "over_300_ms_at_first": [_name(t) for t in timings if t.first_ms > PROMISED_MS],
            "over_300_ms_of_processor": [_name(t) for t in timings if t.cpu_ms > PROMISED_MS],
            "failed": [
                f"{t.path}{t.query}: {t.status}" for t in timings if not 200 <= t.status < 500
            ],
            "timings": [t.to_dict() for t in sorted(timings, key=lambda t: -t.worst_ms)],
            "skipped": skipped,
        }


def _name(timing: Timing) -> str:
    return f"{timing.path}{timing.query}"


def _known(store: Store, alert: int) -> Known:
    row = store.alerts.get(alert)
    people = store.people.page(limit=1).rows
    admin = people[0] if people else store.people.add("bench", Role.ADMIN)
    day = row.at - timedelta(days=1)
    return Known(
        numbers={
            "alerts": alert,
            "rounds": row.round or 1,
            "users": admin.id,
            "recordings": 1,
        },
        parts={"camera": row.camera, "n": "0"},
        values={
            "table": (row.table,),
            "camera": (row.camera,),
            "code": (row.alert.code, "NONE_SUCH"),
            "seat": ("3",),
            "dealer": (row.dealer or "", "nobody"),
            "state": ("open", "confirmed", "rejected", "corrected"),
            "since": (day.isoformat(), (row.at - timedelta(days=30)).isoformat()),
            "until": ((row.at + timedelta(hours=1)).isoformat(), row.at.isoformat()),
            "limit": ("1", "50"),
            "case": ("true",),
            "with_alerts": ("true", "false"),
            "with_undecided": ("true", "false"),
            "alerted": ("true", "false"),
            "round_id": (store.rounds.get(row.round).round_id if row.round else "none",),
            "by": ("Ana",),
            "act": ("page seen",),
            "target": ("alert 7",),
        },
        together={
            "/api/report": tuple(_reports(row, formats=("json", "pdf", "csv"))),
            "/api/report/alerts": tuple(_reports(row, formats=())),
        },
    )


def _reports(row: AlertRow, formats: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """A shift's, a day's and a month's, of all tables and of one, in each format."""
    until = row.at + timedelta(minutes=5)
    for span in _SPANS:
        times = {"since": (until - span).isoformat(), "until": until.isoformat()}
        for values in (times, {**times, "table": row.table}):
            if not formats:
                yield values
            for name in formats:
                yield {**values, "format": name}


def _log_in(store: Store) -> dict[str, str]:
    admin = store.people.page(limit=1).rows[0]
    return {SESSION_COOKIE: Accounts(store).sessions.open(admin, "127.0.0.1", "bench").secret}
