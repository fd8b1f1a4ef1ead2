"""A room made by hand: judged rounds with evidence and clips in a store, a hub, a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import uvicorn
from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient

from settlement.felt_timeline import (
    EventLine,
    Lay,
    LaySum,
    PhaseLine,
    Span,
    StepLine,
    TimelineLine,
    UndecidedLine,
)
from settlement.record import Undecided
from surveillance.accounts import Accounts, Role
from surveillance.accounts.passwords import Passwords
from surveillance.alerts.webhooks import Webhooks
from surveillance.audit.recording import judge
from surveillance.config.site_file import SiteConfig
from surveillance.evidence import images
from surveillance.evidence.bundle import BundleContents, Chain, FurtherClip, write_bundle
from surveillance.live.event_bus import EventBus
from surveillance.live.states import CoverageNow, FurtherNow, LiveEvent, SeatNow, TableState
from surveillance.recordings import AuditManager
from surveillance.store import AlertRow, AuditFilter, NewAlert, NewRound, RoundRow, Store
from surveillance.store.record_rows import RunFacts
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.conftest import HEIGHT, WIDTH, table_text
from tests.surveillance.handmade import doubtful_round, observed_round
from vision.geometry.table import TableFile

CAMERA, TABLE = "pit1-t1", "t1"
ADDRESS = "http://127.0.0.1:8471"
CLIP_S, CLIP_RATE = 6, 10
CLIP_START_S = -2.0
"""The clip of a handmade round, which is settled at 1.6 s of the stream, begins before it."""


def make_clip(path: Path, codec: str = "libx264", seconds: int = CLIP_S) -> Path:
    """A clip that grows brighter, with times from 0."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"movflags": "+faststart"} if path.suffix == ".mp4" else {}
    with av.open(str(path), "w", options=options) as container:
        stream: Any = container.add_stream(codec, rate=CLIP_RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = Fraction(1, CLIP_RATE)
        for index in range(seconds * CLIP_RATE):
            pixels = np.full((HEIGHT, WIDTH, 3), min(250, 20 + 3 * index), np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, CLIP_RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def _timeline(round_id: str) -> tuple[dict[str, Any], ...]:
    """What lay where in a round: the dealer's cards, a seat's stake read without certainty."""
    stake = Lay(
        round_id=round_id, id=f"{round_id}/1", seat=3, place="main", item="stack", what="5 red",
        cameras=("low", "shoulder"), from_s="2.0", until_s="40.0",
        hidden=(Span(from_s="10.0", until_s="14.0", why="motion", by=(3, "dealer")),),
    )  # fmt: skip
    pay = Lay(
        round_id=round_id, id=f"{round_id}/3", seat=3, place="main pay", item="stack", what="1 red",
        cents=500, cameras=("low",), unread_by_first=True, after_s="30.4", from_s="32.0",
        until_s="40.0", before_s="41.2",
        hidden=(
            Span(from_s="34.0", until_s="36.0", why="behind a stack", behind=f"{round_id}/1"),
        ),
    )  # fmt: skip
    lamps = [
        Lay(
            round_id=round_id, id=f"{round_id}/{number}", seat=3,
            place="emperors_treasure_progressive lamp", item="lamp", what=shows, from_s=since,
            until_s=until,
        )
        for number, shows, since, until in ((6, "unlit", "4.0", "11.0"), (7, "lit", "13.0", "40.0"))
    ]  # fmt: skip
    marker = Lay(
        round_id=round_id, id=f"{round_id}/8", place="marker", item="marker",
        what="banker's marker", from_s="2.0", until_s="44.0",
    )  # fmt: skip
    meter = Lay(
        round_id=round_id, id=f"{round_id}/9", place="meters.emperors_treasure_progressive.2",
        item="display", what=" 610231", cents=610231, from_s="2.4", until_s="30.0",
    )  # fmt: skip
    lammer = Lay(
        round_id=round_id, id=f"{round_id}/4", seat=3, place="spots", item="lammer", what="envy",
        from_s="8.0", until_s="40.0",
    )  # fmt: skip
    stray = Lay(
        round_id=round_id, id=f"{round_id}/5", seat=3, place="spots", item="stack", what="2 white",
        cents=200, from_s="6.0", until_s="40.0",
        sums=(
            LaySum(from_s="6.0", until_s="20.0", what="1 white", cents=100),
            LaySum(from_s="22.0", until_s="40.0", what="2 white", cents=200),
        ),
    )  # fmt: skip
    lines: list[TimelineLine] = [
        PhaseLine(round_id=round_id, phase="bets", from_s="2.0", until_s="12.0"),
        PhaseLine(round_id=round_id, phase="dealt", from_s="12.0", until_s="44.0"),
        StepLine(
            round_id=round_id, seat=3, step="set", from_s="14.0", until_s="30.0", course="repeated"
        ),
        EventLine(round_id=round_id, name="ended_unseen", at_s="44.0", why="the recording ended"),
        stake,
        pay,
        lammer,
        stray,
        *lamps,
        marker,
        meter,
        Lay(
            round_id=round_id, id=f"{round_id}/2", place="low", item="card", what="QS",
            from_s="16.0", until_s="42.0",
        ),
        UndecidedLine(
            round_id=round_id, seat=3, what="main.stake", why="two sums are as likely",
            lays=(stake.id,),
        ),
        UndecidedLine(
            round_id=round_id, seat=5, what="hand", why="never seen", from_s="2.0", until_s="44.0"
        ),
    ]  # fmt: skip
    return tuple(line.model_dump(mode="json", exclude_none=True) for line in lines)


@dataclass
class MadeRoom:
    """The parts of a room, and how to add to it."""

    folder: Path
    store: Store
    bus: EventBus
    app: FastAPI
    table: TableFile

    @property
    def evidence_dir(self) -> Path:
        return self.folder / "evidence"

    def session(self, name: str) -> str:
        """A new login of a person, its secret."""
        user = self.store.people.by_name(name)
        assert user is not None
        return Accounts(self.store).sessions.open(user, "test", "test").secret

    def add_doubtful_round(self, number: int) -> RoundRow:
        """A round whose payout is probably too much, without an alert."""
        judged = judge(doubtful_round(number, sure=0.9), self.table)
        ended = datetime.now(UTC) - timedelta(minutes=100 - number)
        facts = RunFacts(CAMERA, TABLE, "made", str)
        return self.store.rounds.add(facts.round(judged, ended - timedelta(seconds=70), ended))

    def add_round(
        self,
        number: int,
        paid_cents: int = 2500,
        *,
        clip: Path | None = None,
        dealer: str = "Maria",
        undecided: tuple[Undecided, ...] = (),
        further: str = "",
        further_clips: tuple[FurtherClip, ...] = (),
    ) -> tuple[RoundRow, list[AlertRow]]:
        """A judged round whose main bet of $25 was won, with images and bundles.

        `further`: the name of a further camera that shows its money too. `further_clips` go into
        the bundles.
        """
        observed = observed_round(number, paid_cents=paid_cents, undecided=undecided)
        beside = tuple(
            replace(picture, camera=further)
            for picture in observed.pictures
            if further and picture.seat is not None and picture.what != "cards"
        )
        observed = replace(observed, pictures=(*observed.pictures, *beside))
        judged = judge(observed, self.table)
        ended = datetime.now(UTC) - timedelta(minutes=100 - number)
        settlement = judged.settlement.model_dump(mode="json")
        row = self.store.rounds.add(
            NewRound(
                table=TABLE,
                camera=CAMERA,
                round_id=judged.record.round_id,
                game=judged.record.game,
                started_at=ended - timedelta(seconds=70),
                ended_at=ended,
                source="made",
                record=judged.record.model_dump(mode="json", exclude_none=True),
                settlement=settlement,
                unread=judged.unread,
                timeline=_timeline(judged.record.round_id),
                dealer=dealer,
                start_s=judged.record.start_s,
                end_s=judged.record.end_s,
            )
        )
        folder = f"{CAMERA}/run1"
        pictures = {
            images.file_name(judged.record.round_id, picture): images.jpeg(
                images.draw(judged.record.round_id, picture)
            )
            for picture in observed.pictures
        }
        (self.evidence_dir / folder).mkdir(parents=True, exist_ok=True)
        for name, data in pictures.items():
            (self.evidence_dir / folder / name).write_bytes(data)
        rows = []
        for alert in judged.alerts:
            placed = tuple(f"{folder}/{Path(p).name}" for p in alert.pictures)
            added = self.store.alerts.add(
                NewAlert(
                    alert=alert.model_copy(update={"pictures": placed}),
                    table=TABLE,
                    camera=CAMERA,
                    source="made",
                    at=ended,
                    round=row.id,
                    dealer=dealer,
                )
            )
            contents = BundleContents(
                alert=alert,
                record=judged.record,
                settlement=settlement,
                table=TABLE,
                camera=CAMERA,
                at=ended,
                pictures={Path(p).name: pictures[Path(p).name] for p in alert.pictures},
                clip=clip,
                clip_start_s=CLIP_START_S if clip else None,
                further_clips=further_clips,
                detections=[
                    {
                        "seat": picture.seat,
                        "what": picture.what,
                        "at_s": picture.at_s,
                        "label": seen.label,
                        "score": seen.score,
                        "xyxy": list(seen.xyxy),
                    }
                    for picture in observed.pictures
                    for seen in picture.seen
                ],
                versions={"model": {"name": "made", "sha256": "ab" * 32}},
                table_file=table_text(self.table).encode(),
            )
            ref = write_bundle(self.evidence_dir, contents, Chain.of(self.evidence_dir))
            path = ref.path.relative_to(self.evidence_dir.resolve()).as_posix()
            named = clip.relative_to(self.evidence_dir).as_posix() if clip else None
            rows.append(self.store.alerts.set_bundle(added.id, path, ref.sha256, named))
        return row, rows

    def publish(self, kind: str, row: AlertRow) -> None:
        """Publish an event of an alert as the recorder does."""
        body = {"id": row.id, "code": row.alert.code, "state": row.state}
        now = datetime.now(UTC)
        self.bus.publish(
            LiveEvent(kind=kind, camera=row.camera, table=row.table, at=now, body=body)
        )

    def restart(self) -> None:
        """What a new process of the server begins with: a bus without any event yet."""
        self.bus = EventBus()
        self.app.state.settings = replace(self.app.state.settings, bus=self.bus)
        self.app.state.room_parts = None
        self.set_pictures()

    def set_pictures(self) -> None:
        """The camera's last images, plain and drawn over."""
        picture = np.full((72, 128, 3), 90, np.uint8)
        plain, overlay = (
            cv2.imencode(".jpg", pixels)[1].tobytes() for pixels in (picture, 255 - picture)
        )
        self.bus.set_pictures(CAMERA, plain, overlay)

    def set_state(
        self,
        state: str = "running",
        message: str = "",
        seats: int = 1,
        further: tuple[FurtherNow, ...] = (),
    ) -> None:
        """The table's state; with one seat, the handmade round lies there."""
        hands = [
            SeatNow(seat=None, low=("QS", "JD"), high=("9H", "9C", "7S", "5D", "2C")),
            SeatNow(
                seat=3,
                low=("AH", "KD"),
                high=("TS", "TD", "8C", "4C", "3H"),
                stakes={"main": 2500},
                lammers=("envy",),
            ),
        ]
        self.bus.set_state(
            TableState(
                camera=CAMERA,
                table=TABLE,
                game="emperors_challenge_exposed",
                state=state,
                message=message,
                phase="settling",
                round_id="t1-000009",
                fps=15.0,
                lag_s=0.4,
                coverage=CoverageNow(
                    seen_s=1800.0, skipped_s=12.4, hidden_s={"3": 180.0, "dealer": 450.0}
                ),
                seats=tuple(hands[: 1 + seats]) if seats else (),
                further=further,
            ),
            datetime.now(UTC),
        )


@contextmanager
def made_room(
    folder: Path,
    table: TableFile,
    datasets: tuple[Path, ...] = (),
    *,
    url: str = "",
    site: SiteConfig | None = None,
    webhooks: Webhooks | None = None,
) -> Iterator[MadeRoom]:
    """A room with people of every role and five rounds, four of them with alerts.

    `url` is the store's; without it an SQLite file in `folder`. A `site` brings its recordings.
    """
    (folder / "evidence").mkdir(parents=True)
    bus = EventBus()
    hasher = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    with Store.open(url or f"sqlite:///{folder}/room.sqlite") as store:
        for name, role in (("root", Role.ADMIN), ("ann", Role.REVIEWER), ("vic", Role.VIEWER)):
            store.people.add(name, str(role), hasher.hashed("seven red chips"))
        store.cameras.upsert(CAMERA, TABLE, "rtsp://10.0.0.7/stream", "0" * 64)
        app = create_app(
            WebSettings(
                datasets=datasets,
                store=store,
                bus=bus,
                site=site,
                evidence_dir=folder / "evidence",
                webhooks=webhooks,
                recordings=None if site is None else AuditManager.of_site(site, store),
            )
        )
        room = MadeRoom(folder, store, bus, app, table)
        clip = make_clip(folder / "evidence" / CAMERA / "clips" / "one.mp4")
        room.add_round(1)
        for number, paid in ((2, 3000), (3, 2000), (4, 3500), (5, 500)):
            room.add_round(number, paid, clip=clip)
        room.set_pictures()
        room.set_state()
        yield room
        room.bus.close()


@contextmanager
def asking(room: MadeRoom, name: str | None) -> Iterator[TestClient]:
    """A client logged in as somebody."""
    client = TestClient(
        room.app, base_url=ADDRESS, headers={"x-feltwatch": "1"}, raise_server_exceptions=False
    )
    with client:
        if name is not None:
            client.cookies.set(SESSION_COOKIE, room.session(name))
        yield client


def acts(room: MadeRoom) -> list[str]:
    """What the log says was done, newest first."""
    return [row.act for row in room.store.audit.page(AuditFilter(), None, 100).rows]


def first_alert(client: TestClient, **wanted: Any) -> dict[str, object]:
    """The first line of the alert queue by a filter."""
    answer = client.get("/api/alerts", params=wanted)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()["alerts"][0]
    return found


class Running:
    """A real server of the room's application; `stop` and `start` it again on its port."""

    def __init__(self, room: MadeRoom) -> None:
        self.room = room
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        config = uvicorn.Config(
            self.room.app,
            host="127.0.0.1",
            port=self.port,
            log_level="warning",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
