"""Asking a served application for everything it has, and timing the answers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx
from fastapi import FastAPI

from surveillance.web.openapi import route_lines

_ANSWER_TIMEOUT_S = 300.0
_ENOUGH_MS = 30_000.0
"""An address that took so long altogether is asked no more."""

_WHERE = "the route's parameters need something that a measured server has not"


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one address in ms; `first_ms` is the first request, not in the others.

    `cpu_ms` is the median of the processor's time, of server and asker together: what stays
    of the wall's time on a machine that does nothing else. SQLite works within it; what a
    PostgreSQL server takes is not in it. `begun_ms` is the median of the time until the first
    bytes were there: what is seen of a file that is sent while it is made.
    """

    path: str
    query: str
    status: int
    size: int
    first_ms: float
    median_ms: float
    p95_ms: float
    worst_ms: float
    cpu_ms: float
    begun_ms: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Known:
    """What can stand in addresses: numbers by the path they follow, and values of queries."""

    numbers: dict[str, int]
    parts: dict[str, str]
    values: dict[str, tuple[str, ...]]
    together: dict[str, tuple[dict[str, str], ...]] = field(default_factory=dict)
    """By the route's path: values that are asked for together, beside those one by one."""


def measure(
    app: FastAPI, base_url: str, cookies: dict[str, str], known: Known, repeats: int
) -> tuple[list[Timing], list[str]]:
    """The times of every address, and the routes that could not be asked, with the reason."""
    schema = app.openapi()["paths"]
    timings: list[Timing] = []
    skipped: list[str] = []
    with httpx.Client(base_url=base_url, cookies=cookies, timeout=_ANSWER_TIMEOUT_S) as client:
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
            wanted = (_query(values) for values in known.together.get(line.path, ()))
            queries = dict.fromkeys((*_queries(parameters, known, base), *wanted, *later))
            asked = (_ask(client, path, query, repeats) for query in queries)
            # 4xx: parameters that do not fit one another.
            found = [t for t in (plain, *asked) if t is not None and not 400 <= t.status < 500]
            timings += found
            if not found:
                skipped.append(f"{line.path}: {plain.status}")
    return timings, skipped


def _filled_in(path: str, known: Known) -> str | None:
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


def _needed(parameters: list[dict[str, Any]], known: Known) -> dict[str, str]:
    """Values for the parameters that a route cannot do without."""
    names = [p["name"] for p in parameters if p["in"] == "query" and p.get("required")]
    return {name: known.values[name][0] for name in names if name in known.values}


def _queries(parameters: list[dict[str, Any]], known: Known, base: dict[str, str]) -> Iterator[str]:
    """Each parameter by itself, and table, state and time together, as people filter."""
    names = {p["name"] for p in parameters if p["in"] == "query"}
    for parameter in parameters:
        name = parameter["name"]
        if parameter["in"] != "query" or name == "cursor":
            continue
        for value in (*known.values.get(name, ()), *_named_values(parameter["schema"])):
            if base.get(name) != value:
                yield _query({**base, name: value})
    together = {n: known.values[n][0] for n in ("table", "state", "code", "since") if n in names}
    if len(together) > 1:
        yield _query({**base, **together})


def _named_values(schema: dict[str, Any]) -> Iterator[str]:
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
        page_of = client.get(f"{path}{query}").json()
        cursor = page_of.get("next") if isinstance(page_of, dict) else None
        if not cursor:
            return
        query = f"?{urlencode({'cursor': cursor})}"
        if page in (2, 11):
            yield query


def _ask(client: httpx.Client, path: str, query: str, repeats: int) -> Timing | None:
    """The times of an address; None for an answer that never ends, such as events.

    One that does not answer in _ANSWER_TIMEOUT_S has the status 0.
    """
    times_ms: list[float] = []
    cpu_ms: list[float] = []
    begun_ms: list[float] = []
    status = size = 0
    for _ in range(repeats + 1):
        began, cpu_began = time.perf_counter(), time.process_time()
        begun_ms.append(0.0)
        size = 0
        try:
            with client.stream("GET", f"{path}{query}") as answer:
                if answer.headers.get("content-type", "").startswith("text/event-stream"):
                    return None
                for piece in answer.iter_bytes():
                    begun_ms[-1] = begun_ms[-1] or 1000 * (time.perf_counter() - began)
                    size += len(piece)
            status = answer.status_code
        except httpx.TimeoutException:
            status = 0
        times_ms.append(1000 * (time.perf_counter() - began))
        cpu_ms.append(1000 * (time.process_time() - cpu_began))
        begun_ms[-1] = begun_ms[-1] or times_ms[-1]
        if not 200 <= status < 400 or sum(times_ms) > _ENOUGH_MS:
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
        cpu_ms=round(statistics.median(cpu_ms), 2),
        begun_ms=round(statistics.median(begun_ms[1:] or begun_ms), 2),
    )
