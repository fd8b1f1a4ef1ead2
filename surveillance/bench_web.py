"""How soon the pages and lists answer over a store with a season in it.

The real application is served on loopback and asked over HTTP by somebody who is logged in,
one request after the other. What is asked is found in the application itself: every page and
every GET of the API, lists with each of their filters and on later pages too.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import uvicorn
from fastapi import FastAPI

from settlement.errors import FeltwatchError
from surveillance.accounts import Accounts, Role
from surveillance.bench_fill import add_evidence, fill
from surveillance.live.hub import Hub
from surveillance.recordings import AllowedFolders, AuditManager
from surveillance.store import Store
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.app import create_app
from surveillance.web.openapi import route_lines
from surveillance.web.settings import WebSettings

PROMISED_MS = 300.0
"""What every page and list is to stay under, by the worst of its requests."""

_START_TIMEOUT_S = 30.0
_WHERE = "the route's parameters need something that a measured server has not"


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one address in ms; `first_ms` is the first request, not in the others."""

    path: str
    query: str
    status: int
    size: int
    first_ms: float
    median_ms: float
    p95_ms: float
    worst_ms: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


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
                store=store, hub=Hub(), evidence_dir=evidence, recordings=manager
            )
            tell("asking for every page and list")
            with _served(create_app(settings)) as (app, base_url):
                timings, skipped = _measure(app, base_url, _log_in(store), known, repeats)
            newest = store.rounds.page(limit=1, whole=False).rows[0]
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
            "over_300_ms": [f"{t.path}{t.query}" for t in timings if t.worst_ms > PROMISED_MS],
            "failed": [f"{t.path}{t.query}: {t.status}" for t in timings if t.status >= 500],
            "timings": [t.to_dict() for t in sorted(timings, key=lambda t: -t.worst_ms)],
            "skipped": skipped,
        }


@dataclass(frozen=True, slots=True)
class _Known:
    """What can stand in addresses: numbers by the path they follow, and values of queries."""

    numbers: dict[str, int]
    parts: dict[str, str]
    values: dict[str, tuple[str, ...]]


def _known(store: Store, alert: int) -> _Known:
    row = store.alerts.get(alert)
    people = store.people.page(limit=1).rows
    admin = people[0] if people else store.people.add("bench", Role.ADMIN)
    day = row.at - timedelta(days=1)
    return _Known(
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
            "code": (row.code, "NONE_SUCH"),
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
            "round_id": ("t1-000008",),
            "by": ("Ana",),
            "act": ("page seen",),
            "target": ("alert 7",),
        },
    )


def _log_in(store: Store) -> dict[str, str]:
    admin = store.people.page(limit=1).rows[0]
    return {SESSION_COOKIE: Accounts(store).sessions.open(admin, "127.0.0.1", "bench").secret}


@contextmanager
def _served(app: FastAPI) -> Iterator[tuple[FastAPI, str]]:
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + _START_TIMEOUT_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise FeltwatchError("the web server did not start; its log says why")
        time.sleep(0.02)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield app, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(_START_TIMEOUT_S)


def _measure(
    app: FastAPI, base_url: str, cookies: dict[str, str], known: _Known, repeats: int
) -> tuple[list[Timing], list[str]]:
    schema = app.openapi()["paths"]
    timings: list[Timing] = []
    skipped: list[str] = []
    with httpx.Client(base_url=base_url, cookies=cookies, timeout=60) as client:
        for line in route_lines(app):
            if "GET" not in line.methods:
                continue
            path = _filled_in(line.path, known)
            if path is None:
                skipped.append(f"{line.path}: {_WHERE}")
                continue
            parameters = schema.get(line.path, {}).get("get", {}).get("parameters", [])
            base = _needed(parameters, known)
            plain = _ask(client, path, _query(base), repeats)
            if plain is None or plain.status == 404:
                skipped.append(f"{line.path}: {'a stream without end' if plain is None else 404}")
                continue
            later = _later(client, path, parameters) if plain.status == 200 else ()
            queries = (*_queries(parameters, known, base), *later)
            asked = (_ask(client, path, query, repeats) for query in queries)
            # 4xx: parameters that do not fit one another.
            found = [t for t in (plain, *asked) if t is not None and not 400 <= t.status < 500]
            timings += found
            if not found:
                skipped.append(f"{line.path}: {plain.status}")
    return timings, skipped


def _filled_in(path: str, known: _Known) -> str | None:
    """The path with numbers and names that are there; None when one is not known."""
    done: list[str] = []
    for part in path.split("/"):
        if not part.startswith("{"):
            done.append(part)
            continue
        name = part.strip("{}").partition(":")[0]
        before = done[-1]
        if name == "id" and before in known.numbers:
            done.append(str(known.numbers[before]))
        elif name in known.parts:
            done.append(quote(known.parts[name]))
        else:
            return None
    return "/".join(done)


def _query(values: dict[str, str]) -> str:
    return f"?{urlencode(values)}" if values else ""


def _needed(parameters: list[dict[str, Any]], known: _Known) -> dict[str, str]:
    """Values for the parameters that a route cannot do without."""
    names = [p["name"] for p in parameters if p["in"] == "query" and p.get("required")]
    return {name: known.values[name][0] for name in names if name in known.values}


def _queries(
    parameters: list[dict[str, Any]], known: _Known, base: dict[str, str]
) -> Iterator[str]:
    """Each parameter by itself, and table, state and time together, as people filter."""
    names = {p["name"] for p in parameters if p["in"] == "query"}
    for parameter in parameters:
        name = parameter["name"]
        if parameter["in"] != "query" or name == "cursor":
            continue
        for value in (*known.values.get(name, ()), *_told_values(parameter["schema"])):
            if base.get(name) != value:
                yield _query({**base, name: value})
    together = {n: known.values[n][0] for n in ("table", "state", "code", "since") if n in names}
    if len(together) > 1:
        yield _query({**base, **together})


def _told_values(schema: dict[str, Any]) -> Iterator[str]:
    """Values that the schema itself names: of an enumeration all, of a number the largest."""
    for option in (schema, *schema.get("anyOf", ())):
        yield from (str(value) for value in option.get("enum", ()))
        if option.get("type") == "integer" and option.get("maximum", 10_000) < 10_000:
            yield str(option["maximum"])


def _later(client: httpx.Client, path: str, parameters: list[dict[str, Any]]) -> Iterator[str]:
    """The second and the eleventh page of a list."""
    if "cursor" not in {p["name"] for p in parameters}:
        return
    query = ""
    for page in range(2, 12):
        told = client.get(f"{path}{query}").json()
        cursor = told.get("next") if isinstance(told, dict) else None
        if not cursor:
            return
        query = f"?{urlencode({'cursor': cursor})}"
        if page in (2, 11):
            yield query


def _ask(client: httpx.Client, path: str, query: str, repeats: int) -> Timing | None:
    """The times of an address; None for an answer that never ends, such as events."""
    times_ms: list[float] = []
    status = size = 0
    for _ in range(repeats + 1):
        began = time.perf_counter()
        with client.stream("GET", f"{path}{query}") as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                return None
            size = len(answer.read())
        times_ms.append(1000 * (time.perf_counter() - began))
        status = answer.status_code
        if status >= 400:
            break
    rest = sorted(times_ms[1:]) or times_ms
    return Timing(
        path=path,
        query=query,
        status=status,
        size=size,
        first_ms=round(times_ms[0], 2),
        median_ms=round(statistics.median(rest), 2),
        p95_ms=round(rest[min(len(rest) - 1, int(0.95 * len(rest)))], 2),
        worst_ms=round(rest[-1], 2),
    )
