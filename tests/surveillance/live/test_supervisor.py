"""Real processes over real films: rounds to bundles, ends by force, restarts, an orderly end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import av
import pytest

from settlement.declared import Declared
from settlement.errors import FeltwatchError
from surveillance.config.site_file import SiteConfig, load_site
from surveillance.evidence.bundle import verify_bundle, verify_log
from surveillance.live.event_bus import EventBus, Subscription
from surveillance.live.journal import Journal, Watched
from surveillance.live.process_supervisor import STALE_S
from surveillance.live.recorder import JOURNAL, Recorder
from surveillance.live.supervisor import Supervisor
from surveillance.store import AlertFilter, AlertRow, HealthFilter, Store
from tests.rtsp.loopback import RtspServer
from tests.surveillance.live.live_room import (
    BUSY,
    CRASHES,
    EATS,
    HANGS,
    PATIENCE_S,
    SCRIPTED,
    SLOW,
    is_alive,
    wait_event,
    wait_for,
    write_site,
)
from tests.vision.sources.live_films import write_film

pytestmark = pytest.mark.slow

SIGN_S = 8.0
"""Without a sign of life for so long a process is ended; one that lives gives signs even on a
busy machine."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "a.mp4", 20.0, rate=5, b_frames=2)


class Hooked:
    """Remembers the events sent to webhooks."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any, str | None]] = []

    def send(self, kind: str, body: Any, code: str | None = None) -> None:
        self.sent.append((kind, body, code))


class RunningRoom:
    """A site that runs."""

    def __init__(self, site: SiteConfig, site_file: Path, watcher: str) -> None:
        self.site = site
        self.hooks = Hooked()
        self.store = Store.open(site.store_url)
        self.bus = EventBus()
        self.news: Subscription = self.bus.subscribe()
        self.recorder = Recorder(self.store, self.bus, site.evidence_dir, self.hooks)
        self.supervisor = Supervisor(
            site, self.bus, self.recorder, site_file=site_file, watcher=watcher
        )

    @property
    def process_id(self) -> int | None:
        return self.supervisor.process_ids()["c1"]

    def state(self, state: str, words: str = "") -> dict[str, Any]:
        event = wait_event(
            self.news,
            lambda e: e.kind == "state" and e.body["state"] == state and words in e.body["message"],
        )
        return event.body


@contextmanager
def room(
    folder: Path, source: str, watcher: str = SCRIPTED, **more: object
) -> Iterator[RunningRoom]:
    site_file = write_site(folder, source, **more)
    site = load_site(site_file)
    site.site.data_dir.mkdir(exist_ok=True)
    running = RunningRoom(site, site_file, watcher)
    running.supervisor.start()
    try:
        yield running
    finally:
        running.supervisor.stop()
        process_id = running.process_id
        running.recorder.close()
        running.store.close()
        assert process_id is None


def test_the_next_round_is_judged_by_what_a_person_declared(tmp_path: Path, film: Path) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        store, news = running.store, running.news

        def player() -> int | None:
            event = wait_event(news, lambda e: e.kind == "round")
            (seat,) = store.rounds.get(event.body["id"]).record["seats"]
            number: int | None = seat.get("player")
            return number

        assert player() is None
        store.declarations.add("t1", Declared(players={3: 7}), datetime.now(UTC), "ann")
        running.supervisor.declare("t1")
        wait_for(lambda: player() == 7)
        # It outlives the process.
        before = running.process_id
        running.supervisor.restart("c1")
        wait_for(lambda: running.process_id not in (None, before))
        wait_event(news, lambda e: e.kind == "state" and e.body["state"] == "running")
        assert player() == 7


def test_a_round_becomes_an_alert_with_evidence_that_stands(tmp_path: Path, film: Path) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        news = running.news
        seen = running.state("running")
        assert seen["camera"] == "c1"
        alert = wait_event(news, lambda e: e.kind == "alert" and e.body["code"] == "OVERPAID")
        assert alert.table == "t1"
        decided = wait_event(news, lambda e: e.kind == "round")
        assert decided.body["alerts"] == 1
        # Published again when its images are there, and when its bundle is.
        changed = wait_event(news, lambda e: e.kind == "alert_changed")
        assert changed.body["id"] == alert.body["id"]
        early = running.store.alerts.get(alert.body["id"])
        assert all((running.site.evidence_dir / name).is_file() for name in early.alert.pictures)
        wait_event(
            news,
            lambda e: (
                e.kind == "alert_changed" and e.body["id"] == early.id and bool(e.body["bundle"])
            ),
        )
        table = running.bus.state("c1")
        assert table is not None
        assert table.seats[0].high == ("TS", "TD", "8C", "4C", "3H")
        assert table.last_alert is not None
        assert table.last_round is not None
        assert table.frame_shown_at is not None
        for overlay in (False, True):
            assert (running.bus.picture("c1", overlay) or b"").startswith(b"\xff\xd8")
        row = running.store.alerts.get(alert.body["id"])
        assert (row.state, row.alert.seat, row.alert.wager, row.at) == ("open", 3, "main", alert.at)
        place = running.site.evidence_dir
        assert row.alert.pictures
        assert all((place / p).read_bytes().startswith(b"\xff\xd8") for p in row.alert.pictures)
        assert row.bundle is not None
        assert verify_bundle(place / row.bundle) == ()
        assert row.clip is not None
        with av.open(str(place / row.clip)) as clip:
            assert sum(1 for _ in clip.decode(video=0)) >= 5
        kept = running.store.rounds.get(row.round or 0)
        assert kept.round_id == "t1-000001"
        assert kept.settlement["round_id"] == "t1-000001"
        assert kept.versions_id is not None
        assert set(running.store.versions.of_set(kept.versions_id)) == {
            "model", "rules", "table_file", "program",
        }  # fmt: skip
        assert running.hooks.sent[0][0] == "alert"
        assert running.hooks.sent[0][2] == "OVERPAID"
        assert running.store.cameras.all()[0].name == "c1"
    assert verify_log(running.site.evidence_dir / "chain.jsonl") == ()
    assert not list(tmp_path.rglob("*.partial"))


def test_a_killed_process_is_started_again_and_ids_go_on(tmp_path: Path, film: Path) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
        first = running.process_id
        assert first is not None
        os.kill(first, signal.SIGKILL)
        body = running.state("reconnecting", "ended by SIGKILL; starting again in 1 s")
        assert body["restarts"] == 0
        again = wait_event(running.news, lambda e: e.kind == "round")
        assert again.body["round_id"] > "t1-000001"
        state = running.bus.state("c1")
        assert state is not None
        assert state.restarts == 1
        assert running.process_id != first
        assert not is_alive(first)
        notes = running.store.health.page(HealthFilter(camera="c1")).rows
        assert {"connecting", "running", "reconnecting"} <= {n.state for n in notes}


def test_a_process_that_stands_still_is_ended_and_started_again(tmp_path: Path, film: Path) -> None:
    limits = {"heartbeat_s": SIGN_S}
    with room(tmp_path, str(film), camera={"loop": True}, limits=limits) as running:
        running.state("running")
        first = running.process_id
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        running.state("reconnecting", f"gave no sign for {SIGN_S:.0f} s")
        running.state("running")
        assert not is_alive(first)


def test_a_process_that_stands_still_is_told_as_stale_within_seconds(
    tmp_path: Path, film: Path
) -> None:
    with room(tmp_path, str(film), camera={"loop": True}, limits={"heartbeat_s": 60}) as running:
        running.state("running")
        wait_for(lambda: running.bus.picture("c1", False) is not None)
        process = running.process_id
        assert process is not None
        os.kill(process, signal.SIGSTOP)
        stopped = time.monotonic()
        try:
            body = running.state("stale", "has given no sign for")
            # What was on its way still counts as a sign.
            assert time.monotonic() - stopped < STALE_S + 3
            ages = [body["picture_age_s"], running.state("stale")["picture_age_s"]]
            assert ages[0] >= STALE_S - 0.5
            assert ages[1] > ages[0]
        finally:
            os.kill(process, signal.SIGCONT)
        assert running.state("running")["picture_age_s"] is not None
        wait_for(lambda: (running.bus.picture_age_s("c1") or 99) < STALE_S)
        assert running.process_id == process
        states = {n.state for n in running.store.health.page(HealthFilter(camera="c1")).rows}
        assert "stale" in states


def test_a_table_too_slow_to_read_is_left_out_in_the_sites_order(
    tmp_path: Path, film: Path
) -> None:
    table = str(tmp_path / "table.toml")
    other = {"name": "c0", "table_file": table, "source": str(film), "loop": True}
    with room(
        tmp_path, str(film), SLOW, camera={"loop": True}, others=[other],
        limits={"leave_out_first": ["c1"]},
    ) as running:  # fmt: skip
        slow = wait_event(
            running.news, lambda e: e.kind == "state" and e.body["state"] == "too_slow", 120
        )
        assert "this machine does not keep up" in slow.body["message"]
        left = wait_event(
            running.news, lambda e: e.kind == "state" and e.body["state"] == "overload", 120
        )
        assert left.camera == "c1"
        alerts = running.store.alerts.page().rows
        reported = {
            (a.camera, a.alert.code, a.alert.severity) for a in alerts if a.alert.code == "OVERLOAD"
        }
        assert ("c1", "OVERLOAD", "medium") in reported
        wait_for(lambda: ("c1", "OVERLOAD", "high") in _overloads(running))
        # Its image stays live meanwhile, from key frames alone.
        wait_for(lambda: (running.bus.picture_age_s("c1") or 99) < 3)
        states = {s.camera: s.state for s in running.bus.states()}
        assert states["c0"] in ("running", "too_slow", "stale")


def _overloads(running: RunningRoom) -> set[tuple[str, str, str]]:
    rows = running.store.alerts.page().rows
    return {(a.camera, a.alert.code, a.alert.severity) for a in rows if a.alert.code == "OVERLOAD"}


def test_a_reading_that_hangs_is_ended_too(tmp_path: Path, film: Path) -> None:
    with room(tmp_path, str(film), HANGS, limits={"heartbeat_s": SIGN_S}) as running:
        running.state("reconnecting", f"gave no sign for {SIGN_S:.0f} s")


def test_a_process_that_eats_memory_is_started_again(tmp_path: Path, film: Path) -> None:
    with room(tmp_path, str(film), EATS, limits={"memory_mb": 600}) as running:
        running.state("reconnecting", "MiB of memory, more than it may")


def test_one_that_breaks_again_and_again_is_given_a_rest(
    tmp_path: Path, film: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    limits = {"restarts": 1, "rest_s": 600.0}
    source = {"loop": True}
    with room(tmp_path, str(film), CRASHES, camera=source, limits=limits) as running:
        body = running.state("failed", "started 2 times in a short while, resting 600 s")
        assert "RuntimeError" in body["message"]
        running.supervisor.restart("c1")
        running.state("reconnecting", "the reading broke")
        with pytest.raises(FeltwatchError, match="no camera 'c9'"):
            running.supervisor.restart("c9")
    capfd.readouterr()


def test_a_file_that_ends_is_not_started_again_until_asked(tmp_path: Path) -> None:
    film = write_film(tmp_path / "short.mp4", 4.0, rate=5)
    with room(tmp_path, str(film)) as running:
        running.state("ended", "the end")
        wait_for(lambda: running.process_id is None)
        time.sleep(1.5)
        assert running.process_id is None
        assert running.store.rounds.page().rows
        running.supervisor.restart("c1")
        running.state("running")


def test_a_camera_that_is_away_is_an_alert_and_its_end_is_noted(tmp_path: Path) -> None:
    film = write_film(tmp_path / "long.mp4", 60.0, rate=5)
    with RtspServer({"t": film}, "ann", "s3cret%/") as server:
        os.environ["TEST_CAMERA_PW"] = "s3cret%/"
        camera = {"username": "ann", "password_env": "TEST_CAMERA_PW"}
        with room(tmp_path, server.url("t"), camera=camera) as running:
            running.state("running")
            server.say("down")
            running.state("reconnecting")
            alert = wait_event(
                running.news,
                lambda e: e.kind == "alert" and "no picture comes" in e.body["message"],
            )
            row = running.store.alerts.get(alert.body["id"])
            assert (row.alert.code, row.round, len(row.alert.pictures)) == ("CAMERA", None, 1)
            wait_for((running.site.evidence_dir / row.alert.pictures[0]).is_file)
            server.say("up")
            running.state("running")
            ended = wait_event(
                running.news, lambda e: e.kind == "health" and e.body.get("act") == "ended"
            )
            assert ended.body["alert_id"] == row.alert.alert_id
            assert ended.body["incident"] == "no-picture"
        notes = [f"{n.state} {n.act} {n.message}" for n in notes_of(tmp_path)]
        assert any(n.startswith("no-picture began") for n in notes)
        assert any(n.startswith("no-picture ended") for n in notes)
        data = tmp_path / "feltwatch-data"
        written = b"".join(p.read_bytes() for p in data.rglob("*") if p.is_file())
        for secret in (b"s3cret%/", b"s3cret%25%2F"):
            assert secret not in written


def notes_of(folder: Path) -> list[Any]:
    with Store.open(f"sqlite:///{folder}/feltwatch-data/feltwatch.sqlite") as store:
        return list(store.health.page(HealthFilter(camera="c1"), limit=200).rows)


def test_play_without_a_round_is_an_alert(tmp_path: Path, film: Path) -> None:
    silent = {"loop": True, "silent_minutes": 0.1}
    with room(tmp_path, str(film), BUSY, camera=silent) as running:
        event = wait_event(running.news, lambda e: e.kind == "alert" and e.body["code"] == "SILENT")
        (row,) = running.store.alerts.page(AlertFilter(code="SILENT")).rows
        assert (row.camera, row.table, row.alert.severity) == ("c1", "t1", "high")
        assert "no round was decided for 0.1 minutes" in row.alert.message
        assert event.camera == "c1"


def test_an_image_of_another_table_is_an_alert(tmp_path: Path, film: Path) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        alert = wait_event(
            running.news,
            lambda e: e.kind == "alert" and e.body["code"] == "CAMERA",
        )
        assert "the felt does not lie where the table file says" in alert.body["message"]
        wait_for(lambda: running.store.alerts.get(alert.body["id"]).bundle is not None)
        bundle = running.store.alerts.get(alert.body["id"]).bundle
        assert verify_bundle(running.site.evidence_dir / str(bundle)) == ()


def gaps_of(running: RunningRoom) -> list[AlertRow]:
    return list(running.store.alerts.page(AlertFilter(code="GAP")).rows)


def test_a_killed_process_leaves_a_gap_from_its_last_message_to_the_next_frame(
    tmp_path: Path, film: Path
) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
        killed = datetime.now(UTC)
        assert running.process_id is not None
        os.kill(running.process_id, signal.SIGKILL)
        wait_for(lambda: bool(gaps_of(running)))
        (gap,) = gaps_of(running)
        assert "its process was ended by SIGKILL" in gap.alert.message
        assert gap.alert.severity == "high"
        since = datetime.strptime((gap.alert.seen or "")[:19], "%Y-%m-%d %H:%M:%S")
        assert abs(since.replace(tzinfo=UTC) - killed) < timedelta(seconds=STALE_S + 2)
        assert gap.at > killed


def test_a_process_that_is_frozen_when_the_server_stops_is_a_gap_and_holds_nothing_up(
    tmp_path: Path, film: Path
) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
        assert running.process_id is not None
        os.kill(running.process_id, signal.SIGSTOP)
        began = time.monotonic()
        running.supervisor.stop(15.0)
        assert time.monotonic() - began < 15.0
        assert running.process_id is None
        assert running.recorder.wait_stored(PATIENCE_S)
        (gap,) = gaps_of(running)
        assert "did not stop when it was asked to" in gap.alert.message


def last_watched(folder: Path) -> Watched | None:
    journal = Journal(folder / "feltwatch-data" / JOURNAL, 0)
    try:
        return journal.watched("c1")
    finally:
        journal.close()


def test_a_span_in_which_the_server_was_stopped_is_a_gap_of_medium_severity(
    tmp_path: Path, film: Path
) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
        assert gaps_of(running) == []
        stopped = time.time()
    kept = last_watched(tmp_path)
    assert kept is not None
    assert kept.stopped
    assert abs(kept.until - stopped) < STALE_S
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
        assert running.recorder.wait_stored(PATIENCE_S)
        (gap,) = gaps_of(running)
    assert gap.alert.severity == "medium"
    assert gap.alert.message.endswith("may be lost: the server was stopped.")
    assert gap.source == f"gap#{kept.until:.3f}"
    assert gap.at.timestamp() > stopped


def test_a_stop_before_the_first_frame_leaves_the_earlier_gap_to_the_next_start(
    tmp_path: Path, film: Path
) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
    kept = last_watched(tmp_path)
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        assert gaps_of(running) == []
    assert last_watched(tmp_path) == kept


def test_a_film_that_had_ended_before_the_stop_is_no_gap(tmp_path: Path) -> None:
    film = write_film(tmp_path / "short.mp4", 4.0, rate=5)
    with room(tmp_path, str(film)) as running:
        running.state("ended", "the end")
        wait_for(lambda: running.process_id is None)
        wait_for(lambda: running.recorder.watched("c1") is None)
    assert last_watched(tmp_path) is None


def test_a_camera_that_the_site_no_longer_has_is_not_missed_when_it_is_back(
    tmp_path: Path, film: Path
) -> None:
    with room(tmp_path, str(film), camera={"loop": True}) as running:
        wait_event(running.news, lambda e: e.kind == "round")
    assert last_watched(tmp_path) is not None
    site_file = write_site(tmp_path, str(film), camera={"name": "c2"})
    other = RunningRoom(load_site(site_file), site_file, SCRIPTED)
    other.recorder.close()
    other.store.close()
    assert last_watched(tmp_path) is None
