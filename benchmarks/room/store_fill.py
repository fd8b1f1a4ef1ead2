"""Filling a store with a season's rounds and alerts, for measurements."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.rules import TABLE, random_round
from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.errors import FeltwatchError
from settlement.settle import settle
from surveillance.alerts.model import Alert
from surveillance.evidence.bundle import BundleContents, Chain, write_bundle
from surveillance.store import NewRecording, Store, tables
from surveillance.store.difference import difference_of

SOURCE = "bench"
"""Source of the rounds that are put in, by which a store filled earlier is known."""

TABLES = 8
DEALERS = ("Ana", "Bo", "Chen", "Dina", "Emil", "Fay", "Gus", "Hana", "Ivo", "June")
_DEALT = 120
"""Rounds that are dealt and settled; those of the store are these again and again."""

_BETWEEN_S = 11.0
"""Between two rounds of the room: eight tables, each with one in 90 s."""

_BATCH = 1000
_OPEN_SHARE = 0.05
_AUDIT_LINES = 50_000
_HEALTH_NOTES = 5_000
_RECORDINGS = 300
_IN_FIRST = 4_000
"""Rounds of the first recording: a long night at one table."""

_IN_RECORDING = 300
"""Rounds of the recordings after it; later rounds are of cameras."""

_ACTS = ("page seen", "picture seen", "clip seen", "alert judged", "logged in")


@dataclass(frozen=True, slots=True)
class _Dealt:
    record: dict[str, Any]
    settlement: dict[str, Any]
    findings: tuple[Finding, ...]
    cents: tuple[int | None, ...]
    """What each of the findings came to."""


def fill(
    store: Store,
    rounds: int,
    alerts: int,
    now: datetime,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Put in rounds that end at `now`, alerts with verdicts, and what stands around them.

    Records and settlements are those of random rounds of six seats with every wager, in
    which the dealer errs; an alert is one of its round's findings. A store that was filled so
    before is left as it is. Raises FeltwatchError when it holds anything else.
    """
    newest = store.rounds.page(limit=1, whole=False).rows
    if newest:
        if newest[0].source != SOURCE:
            raise FeltwatchError(f"{store.database.name}: holds rounds already: give an empty one")
        return
    rng = random.Random(1)
    dealt = [_deal(rng) for _ in range(_DEALT)]
    first = now - timedelta(seconds=_BETWEEN_S * rounds)
    _recordings(store, now)
    every = max(1, rounds // alerts) if alerts else rounds + 1
    raised = min(alerts, rounds // every)
    made = _rounds(rng, dealt, rounds, raised, every, first)
    done = 0
    while batch := list(islice(made, _BATCH)):
        with store.database.write() as connection:
            for table, key in (
                (tables.rounds, "round"),
                (tables.round_details, "detail"),
                (tables.alerts, "alert"),
                (tables.verdicts, "verdict"),
            ):
                if rows := [row[key] for row in batch if key in row]:
                    connection.execute(sa.insert(table), rows)
        done += len(batch)
        if progress is not None:
            progress(done / rounds)
    _rest(store, rng, first, now)
    _settle_down(store)


def _deal(rng: random.Random) -> _Dealt:
    while True:
        record = random_round(rng)
        settlement = settle(record, TABLE)
        findings = tuple(compare(record, settlement, TABLE))
        if findings:
            recorded = record.model_dump(mode="json", exclude_none=True)
            due = settlement.model_dump(mode="json")
            cents = tuple(
                difference_of(str(f.code), f.seat, f.wager, recorded, due) for f in findings
            )
            return _Dealt(recorded, due, findings, cents)


def _rounds(
    rng: random.Random, dealt: list[_Dealt], rounds: int, alerts: int, every: int, first: datetime
) -> Iterator[dict[str, dict[str, Any]]]:
    """For each round the rows it brings: round, detail, and perhaps alert and verdict."""
    raised = 0
    for number in range(1, rounds + 1):
        source = rng.choice(dealt)
        # Alerts come at even distances: they shall not always fall on the same tables.
        place = (number + number // TABLES) % TABLES + 1
        round_id = f"t{place}-{number:06d}"
        start_s = _BETWEEN_S * number
        at = first + timedelta(seconds=start_s)
        recording = max(1, (number - 1 - _IN_FIRST) // _IN_RECORDING + 2)
        has_alert = number % every == 0 and raised < alerts
        common = {
            "table_name": f"t{place}",
            "camera": f"pit1-t{place}",
            "source": SOURCE,
            "dealer": DEALERS[(number // 2000 + place) % len(DEALERS)],
            "start_s": f"{start_s:.3f}",
            "end_s": f"{start_s + 80:.3f}",
            "recording_id": recording if recording <= _RECORDINGS else None,
        }
        rows: dict[str, dict[str, Any]] = {
            "round": {
                **common,
                "id": number,
                "round_id": round_id,
                "game": TABLE.game,
                "started_at": at,
                "ended_at": at + timedelta(seconds=80),
                "undecided": int(rng.random() < 0.02),
                "alerts": int(has_alert),
            },
            "detail": {
                "round": number,
                "record": {**source.record, "round_id": round_id, "table": f"t{place}"},
                "settlement": source.settlement,
            },
        }
        if has_alert:
            raised += 1
            alert = _alert(rng, source, common, raised, number, round_id, at)
            rows["alert"] = alert
            if alert["state"] != "open":
                rows["verdict"] = {
                    "alert": raised,
                    "verdict": alert["state"],
                    "comment": "seen on the clip",
                    "corrected": {"seat": 2} if alert["state"] == "corrected" else None,
                    "by_name": alert["decided_by"],
                    "at": alert["decided_at"],
                }
        yield rows


def _alert(
    rng: random.Random,
    source: _Dealt,
    common: dict[str, Any],
    number: int,
    round_number: int,
    round_id: str,
    at: datetime,
) -> dict[str, Any]:
    finding, cents = rng.choice(tuple(zip(source.findings, source.cents, strict=True)))
    state = "open"
    if rng.random() > _OPEN_SHARE:
        state = rng.choices(("confirmed", "rejected", "corrected"), (80, 15, 5))[0]
    judged = state != "open"
    where = "dealer" if finding.seat is None else f"seat{finding.seat}"
    alert = Alert(
        alert_id=f"{round_id}-01",
        round_id=round_id,
        start_s=common["start_s"],
        end_s=common["end_s"],
        pictures=tuple(
            f"evidence/{round_id}-{where}-{what}-{common['start_s']}.jpg"
            for what in ("bets", "settled")
        ),
        **finding.model_dump(),
    )
    return {
        **{key: common[key] for key in common if key not in ("start_s", "end_s")},
        "id": number,
        "alert_id": alert.alert_id,
        "round": round_number,
        "code": alert.code,
        "seat": alert.seat,
        "at": at + timedelta(seconds=70),
        "alert": alert.model_dump(mode="json", exclude_none=True),
        "state": state,
        "was_right": state != "rejected" if judged else None,
        "decided_by": rng.choice(DEALERS[:3]) if judged else None,
        "decided_at": at + timedelta(minutes=rng.randrange(2, 300)) if judged else None,
        "is_case": rng.random() < 0.01,
        "difference_cents": cents,
    }


def _recordings(store: Store, now: datetime) -> None:
    for number in range(_RECORDINGS):
        store.recordings.add(
            NewRecording(
                folder="/recordings",
                file=f"shift-{number:04d}.mp4",
                size=9_000_000_000,
                mtime=now.timestamp(),
                table_file="t1.toml",
                by="bench",
                duration_s=28_800.0,
                state="done",
            )
        )


def _rest(store: Store, rng: random.Random, first: datetime, now: datetime) -> None:
    """Cameras, dealers, the log and health notes."""
    span_s = (now - first).total_seconds()

    def some_time() -> datetime:
        return first + timedelta(seconds=rng.random() * span_s)

    for place in range(1, TABLES + 1):
        store.cameras.upsert(f"pit1-t{place}", f"t{place}", f"rtsp://10.0.0.{place}/", "ab" * 32)
        store.dealers.set(f"t{place}", DEALERS[place % len(DEALERS)], first, "bench")
    audit = [
        {
            "by_name": rng.choice(DEALERS[:5]),
            "act": rng.choice(_ACTS),
            "target": f"alert {rng.randrange(1, 20_000)}",
            "detail": {},
            "address": "10.0.1.7",
            "at": some_time(),
        }
        for _ in range(_AUDIT_LINES)
    ]
    health = [
        {
            "camera": f"pit1-t{rng.randrange(TABLES) + 1}",
            "state": rng.choice(("running", "stalled", "reconnecting")),
            "message": "",
            "at": some_time(),
        }
        for _ in range(_HEALTH_NOTES)
    ]
    with store.database.write() as connection:
        connection.execute(sa.insert(tables.audit), audit)
        connection.execute(sa.insert(tables.health), health)


def _settle_down(store: Store) -> None:
    """What the databases do by themselves in time, so that the measures are of every day."""
    with store.database.engine.connect() as connection:
        settled = connection.execution_options(isolation_level="AUTOCOMMIT")
        if store.kind == "postgresql":
            # Numbers were given with the rows; the next row must get another.
            for name in ("rounds", "alerts"):
                settled.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name}"
                )
            settled.exec_driver_sql("VACUUM ANALYZE")
        else:
            settled.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def add_evidence(store: Store, evidence_dir: Path) -> int:
    """Give the newest alert a bundle with two images and a clip; returns its number."""
    row = store.alerts.page(limit=1).rows[0]
    evidence_dir.mkdir(parents=True, exist_ok=True)
    clip = evidence_dir / "clip.mp4"
    image = _film(clip)
    contents = BundleContents(
        alert=row.alert,
        record=None,
        settlement=None,
        table=row.table,
        camera=row.camera,
        at=row.at.astimezone(UTC),
        pictures={name.rpartition("/")[2]: image for name in row.alert.pictures},
        clip=clip,
        clip_start_s=row.alert.start_s,
    )
    ref = write_bundle(evidence_dir, contents, Chain.of(evidence_dir))
    clip.unlink()
    for name in row.alert.pictures:
        (evidence_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (evidence_dir / name).write_bytes(image)
    store.alerts.set_bundle(row.id, ref.path.name, ref.sha256, None)
    return row.id


def _film(path: Path) -> bytes:
    """A film of two seconds, 1280 x 720; returns an image of it as JPEG."""
    import av
    import cv2
    import numpy as np

    pixels = np.random.default_rng(1).integers(40, 90, (720, 1280, 3)).astype(np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for _ in range(20):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    done, jpeg = cv2.imencode(".jpg", pixels)
    if not done:
        raise FeltwatchError("this machine's OpenCV writes no JPEG")
    return bytes(jpeg)
