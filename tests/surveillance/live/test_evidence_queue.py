"""Evidence is written in the end: after a full disk, an end by force, a clip that kills."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from settlement.settle import settle
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import Alert
from surveillance.evidence.bundle import part_names, read_part, verify_bundle, verify_log, write
from surveillance.evidence.clips import CameraClip, Clip
from surveillance.live import evidence_queue, transcoder
from surveillance.live.entries import ClipEntry, IncidentEntry, RoundEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.open_alert import CameraFacts
from surveillance.live.recorder import Recorder
from surveillance.store import AlertFilter, AlertRow, Store
from tests.surveillance.handmade import RULES, observed_round
from tests.surveillance.live.live_room import wait_for
from tests.vision.sources.live_films import write_film

PICTURE = "t1-000001-seat3-settled-12.0.jpg"


class Disk:
    """Takes writes of evidence or has no space left."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self.asked = 0
        make = write.tempfile.mkstemp  # type: ignore[attr-defined]

        def mkstemp(*args: Any, **named: Any) -> Any:
            self.asked += 1
            if self.is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return make(*args, **named)

        patch.setattr(write.tempfile, "mkstemp", mkstemp)  # type: ignore[attr-defined]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    monkeypatch.setattr(evidence_queue, "RETRY_FIRST_S", 0.1)
    monkeypatch.setattr(evidence_queue, "RETRY_MOST_S", 0.1)
    monkeypatch.setattr(evidence_queue, "_LOOK_EVERY_S", 0.05)
    return Disk(monkeypatch)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "data").mkdir()
    with Store.open(f"sqlite:///{tmp_path}/data/feltwatch.sqlite") as store:
        yield store


FACTS = CameraFacts("c1", "t1", RULES.game, "film#run1", b'table = "t1"\n', {})

SEEN = Detection(seat=3, what="cards", at_s="12.0", label="AS", score=0.9, xyxy=(1, 2, 3, 4))


def take_round(
    recorder: Recorder, number: int = 1, with_picture: bool = True, table: str = ""
) -> AlertRow:
    """A round with one alert reaches the room; `table` stands in the alert's id."""
    record = observed_round(number, paid_cents=5000).record
    alert_id = f"{table or record.round_id}-01"
    alert = Alert(
        alert_id=alert_id, round_id=record.round_id, code="OVERPAID", seat=3,
        severity="high", message="Seat 3 was paid $50 for $25.", start_s="10.0", end_s="12.0",
        pictures=(f"evidence/{PICTURE}",) if with_picture else (),
    )  # fmt: skip
    now = datetime.now(UTC).timestamp()
    judged = JudgedRound(
        record, settle(record, RULES), (alert,),
        {PICTURE: b"\xff\xd8 a picture"} if with_picture else {},
        (SEEN,),
    )  # fmt: skip
    recorder.take(RoundEntry(facts=FACTS, judged=judged, started_at=now - 30, shown_at=now))
    assert recorder.wait_stored(30)
    store = recorder._store
    rows = store.alerts.page(AlertFilter(camera="c1"), limit=100).rows
    return next(row for row in rows if row.alert.alert_id == alert.alert_id)


def clip_entry(tmp_path: Path, row: AlertRow, codec: str = "h264") -> ClipEntry:
    spool = tmp_path / "data" / "spool" / "c1"
    spool.mkdir(parents=True, exist_ok=True)
    path = write_film(spool / f"{row.id}.mp4", 1.0, rate=5)
    clip = Clip(path, 8.0, 9.0, codec, 96)
    return ClipEntry(camera="c1", source=FACTS.source, alert_ids=(row.alert.alert_id,), clip=clip)


def room(tmp_path: Path, store: Store) -> Recorder:
    return Recorder(store, EventBus(), tmp_path / "data" / "evidence")


def bundle_of(tmp_path: Path, store: Store, row: AlertRow) -> Path:
    wait_for(lambda: store.alerts.get(row.id).bundle is not None)
    evidence = tmp_path / "data" / "evidence"
    bundle = evidence / str(store.alerts.get(row.id).bundle)
    assert verify_bundle(bundle) == ()
    assert verify_log(evidence / "chain.jsonl") == ()
    return bundle


def nothing_waits(tmp_path: Path, store: Store) -> bool:
    left = [store.pending.count(["c1"], previews=previews) for previews in (True, False)]
    return left == [0, 0] and not list((tmp_path / "data" / "waiting").iterdir())


def test_a_bundle_is_written_when_there_is_space_again(
    tmp_path: Path, store: Store, disk: Disk
) -> None:
    disk.is_full = True
    recorder = room(tmp_path, store)
    row = take_round(recorder)
    recorder.take(clip_entry(tmp_path, row))
    wait_for(lambda: disk.asked >= 3)
    assert store.alerts.get(row.id).bundle is None
    disk.is_full = False
    bundle = bundle_of(tmp_path, store, row)
    assert {"clip.mp4", f"pictures/{PICTURE}", "detections.jsonl"} <= set(part_names(bundle))
    assert "missing.json" not in part_names(bundle)
    wait_for(lambda: nothing_waits(tmp_path, store))
    recorder.close(10)


def test_a_clip_stays_in_its_folder_whatever_the_table_is_called(
    tmp_path: Path, store: Store, disk: Disk
) -> None:
    recorder = room(tmp_path, store)
    row = take_round(recorder, table="../../Pit 1/3")
    recorder.take(clip_entry(tmp_path, row))
    bundle_of(tmp_path, store, row)
    evidence = tmp_path / "data" / "evidence"
    clip = evidence / str(store.alerts.get(row.id).clip)
    assert clip.is_file()
    assert clip.resolve().parent.name == "run1"
    assert clip.resolve().is_relative_to(evidence)
    recorder.close(10)


@pytest.mark.parametrize("name", ["Table 3-overload-1.jpg", "Pit 1/3-overload-1.jpg"])
def test_evidence_that_an_earlier_version_named_otherwise_is_written(
    tmp_path: Path, store: Store, name: str
) -> None:
    recorder = room(tmp_path, store)
    alert = Alert(
        alert_id="Table 3-overload-1", code="OVERLOAD", severity="high",
        message="This machine does not keep up.", pictures=(f"evidence/{name}",),
    )  # fmt: skip
    entry = IncidentEntry(
        facts=FACTS, act="began", incident="overload", alert=alert,
        at=datetime.now(UTC).timestamp(), pictures={PurePosixPath(name).name: b"\xff\xd8 image"},
    )  # fmt: skip
    recorder.take(entry)
    assert recorder.wait_stored(30)
    (row,) = store.alerts.page(AlertFilter(code="OVERLOAD"), limit=9).rows
    recorder.take(clip_entry(tmp_path, row))
    bundle = bundle_of(tmp_path, store, row)
    with zipfile.ZipFile(bundle) as parts:
        (image,) = [part for part in parts.namelist() if part.startswith("pictures/")]
        assert Path(image).name in parts.read("alert.json").decode()
    recorder.close(10)


def test_a_bundle_is_written_after_a_restart(tmp_path: Path, store: Store, disk: Disk) -> None:
    disk.is_full = True
    recorder = room(tmp_path, store)
    row = take_round(recorder)
    recorder.take(clip_entry(tmp_path, row))
    wait_for(lambda: disk.asked >= 1)
    recorder.close(10)
    assert store.alerts.get(row.id).bundle is None
    disk.is_full = False
    recorder = room(tmp_path, store)
    bundle = bundle_of(tmp_path, store, row)
    assert {"clip.mp4", f"pictures/{PICTURE}"} <= set(part_names(bundle))
    assert json.loads(read_part(bundle, "detections.jsonl")) == SEEN.model_dump(mode="json")
    recorder.close(10)


def test_a_clip_that_is_gone_by_then_is_named_in_the_bundle(
    tmp_path: Path, store: Store, disk: Disk
) -> None:
    disk.is_full = True
    recorder = room(tmp_path, store)
    row = take_round(recorder)
    recorder.take(clip_entry(tmp_path, row))
    wait_for(lambda: disk.asked >= 1)
    recorder.close(10)
    for path in (tmp_path / "data").rglob("*.mp4"):
        path.unlink()
    disk.is_full = False
    recorder = room(tmp_path, store)
    bundle = bundle_of(tmp_path, store, row)
    assert "clip.mp4" not in part_names(bundle)
    assert json.loads(read_part(bundle, "missing.json")) == {"missing": ["the clip: it is gone"]}
    recorder.close(10)


def test_an_alert_whose_clip_was_awaited_when_the_server_was_killed(
    tmp_path: Path, store: Store, disk: Disk
) -> None:
    before = room(tmp_path, store)  # closed only after the test is over
    row = take_round(before)
    assert store.alerts.get(row.id).bundle is None
    recorder = room(tmp_path, store)
    bundle = bundle_of(tmp_path, store, row)
    missing = json.loads(read_part(bundle, "missing.json"))["missing"]
    assert missing == ["the clip: the server ended before it came"]
    recorder.close(10)
    before.close(0)


def test_attempts_on_a_full_disk_leave_nothing_behind(
    tmp_path: Path, store: Store, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surveillance.evidence.bundle.chain import Chain

    real = Chain._write_head
    state = {"full": True, "asked": 0}

    def write_head(chain: Chain, head: Any) -> None:
        if state["full"]:
            state["asked"] += 1
            raise OSError(errno.ENOSPC, "No space left on device")
        real(chain, head)

    monkeypatch.setattr(Chain, "_write_head", write_head)
    recorder = room(tmp_path, store)
    row = take_round(recorder)
    recorder.take(
        ClipEntry(
            camera="c1",
            source=FACTS.source,
            alert_ids=(row.alert.alert_id,),
            why="no video is kept",
        )
    )
    wait_for(lambda: state["asked"] >= 3)
    wait_for(lambda: len(list((tmp_path / "data" / "evidence").rglob(".partial-*"))) <= 1)
    state["full"] = False
    bundle = bundle_of(tmp_path, store, row)
    assert not list((tmp_path / "data" / "evidence").rglob(".partial-*"))
    missing = json.loads(read_part(bundle, "missing.json"))["missing"]
    assert missing == ["the clip: no video is kept"]
    recorder.close(10)


def test_a_stop_leaves_what_is_not_begun_for_the_next_start(
    tmp_path: Path,
    store: Store,
    disk: Disk,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    recorder = room(tmp_path, store)
    real = recorder.evidence._bundles.write

    def slow(own: Any) -> AlertRow:
        time.sleep(1.0)
        return real(own)

    monkeypatch.setattr(recorder.evidence._bundles, "write", slow)
    rows = [take_round(recorder, number) for number in range(1, 31)]
    began = time.monotonic()
    recorder.close(1.0)
    assert time.monotonic() - began < 25  # all of them take longer
    wait_for(lambda: not recorder.evidence._thread.is_alive())
    without = [row for row in rows if store.alerts.get(row.id).bundle is None]
    assert len(without) > 10
    assert "evidence: left for the next start: bundles of" in caplog.text
    recorder = room(tmp_path, store)
    for row in rows:
        bundle_of(tmp_path, store, row)
    recorder.close(10)


def begin_small_clips(tmp_path: Path, store: Store, many: int) -> tuple[Recorder, list[AlertRow]]:
    """Clips of a codec that browsers do not play, so that small ones are coded."""
    recorder = room(tmp_path, store)
    rows = [take_round(recorder, number) for number in range(1, many + 1)]
    for row in rows:
        recorder.take(clip_entry(tmp_path, row, "hevc"))
    for row in rows:
        bundle_of(tmp_path, store, row)
    return recorder, rows


def killed(own: transcoder.Transcoder, before: int | None) -> int:
    wait_for(lambda: own.process_id not in (None, before))
    process_id = own.process_id
    assert process_id is not None
    os.kill(process_id, signal.SIGKILL)
    return process_id


def test_clips_go_on_when_the_process_that_codes_them_is_killed(
    tmp_path: Path, store: Store, disk: Disk
) -> None:
    recorder, rows = begin_small_clips(tmp_path, store, 3)
    killed(recorder.evidence._previews, None)
    for row in rows:
        wait_for(lambda row=row: store.alerts.get(row.id).clip is not None)  # type: ignore[misc]
        small = tmp_path / "data" / "evidence" / str(store.alerts.get(row.id).clip)
        assert small.name.endswith("-small.mp4")
        assert small.is_file()
        large = small.with_name(small.name.replace("-small", "-clip"))
        # The row names the small clip before the large one is removed.
        wait_for(lambda large=large: not large.exists())  # type: ignore[misc]
    wait_for(lambda: nothing_waits(tmp_path, store))
    recorder.close(10)


def test_a_clip_that_kills_its_process_is_given_up(
    tmp_path: Path, store: Store, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = room(tmp_path, store)
    row = take_round(recorder)
    router = recorder.evidence._previews
    ended: list[str] = []

    def code(stored: str) -> str:
        ended.append(stored)
        return transcoder._DIED

    router._code = code  # type: ignore[method-assign]
    recorder.take(clip_entry(tmp_path, row, "hevc"))
    wait_for(lambda: "its process was ended 3 times" in caplog.text)
    wait_for(lambda: nothing_waits(tmp_path, store))
    assert len(ended) == 3
    assert "clip.mp4" in part_names(bundle_of(tmp_path, store, row))
    recorder.close(10)


def test_small_clips_that_are_not_coded_at_the_end_are_coded_after_the_next_start(
    tmp_path: Path, store: Store, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    recorder, rows = begin_small_clips(tmp_path, store, 2)
    recorder.close(0.0)
    assert "small clips" in caplog.text or "small clip" in caplog.text
    left = [row for row in rows if store.alerts.get(row.id).clip is None]
    assert left
    recorder = room(tmp_path, store)
    wait_for(lambda: all(store.alerts.get(row.id).clip for row in rows))
    recorder.close(10)


def test_alerts_of_one_span_share_a_clip_though_one_bundle_failed(
    tmp_path: Path, store: Store, disk: Disk
) -> None:
    recorder = room(tmp_path, store)
    first, second = take_round(recorder, 1), take_round(recorder, 2)
    disk.is_full = True
    both = (first.alert.alert_id, second.alert.alert_id)
    recorder.take(clip_entry(tmp_path, first).model_copy(update={"alert_ids": both}))
    wait_for(lambda: disk.asked >= 2)
    disk.is_full = False
    for row in (first, second):
        assert "clip.mp4" in part_names(bundle_of(tmp_path, store, row))
    assert store.alerts.get(first.id).clip == store.alerts.get(second.id).clip
    assert Clip(Path("a"), 0, 1, "h264", 96).plays_at_once
    recorder.close(10)


@pytest.mark.parametrize(("first", "other"), [("hevc", "hevc"), ("h264", "hevc"), ("hevc", "h264")])
def test_clips_of_further_cameras_go_with_the_first_ones(
    tmp_path: Path, store: Store, disk: Disk, first: str, other: str
) -> None:
    """Into the bundle as they came, then as small copies; one that is missing is told."""
    disk.is_full = True
    recorder = room(tmp_path, store)
    rows = [take_round(recorder, number) for number in (1, 2)]
    entry = clip_entry(tmp_path, rows[0], first)
    beside = write_film(tmp_path / "data/spool/c1/beside.mp4", 1.4, rate=5)
    clip = Clip(beside, 8.1, 9.4, other, 96)
    further = (CameraClip("low", clip), CameraClip("high", None, "the camera sent no video"))
    ids = tuple(row.alert.alert_id for row in rows)
    recorder.take(entry.model_copy(update={"alert_ids": ids, "further": further}))
    wait_for(lambda: disk.asked >= 1)
    recorder.close(10)
    assert not beside.exists()  # moved out of the spool, which is emptied
    disk.is_full = False
    recorder = room(tmp_path, store)
    evidence = tmp_path / "data" / "evidence"
    for row in rows:
        bundle = bundle_of(tmp_path, store, row)
        assert part_names(bundle)[-2:] == ("clip.mp4", "clip-low.mp4")
        assert json.loads(read_part(bundle, "missing.json"))["missing"] == [
            "the clip of high: the camera sent no video"
        ]
        low, high = json.loads(read_part(bundle, "manifest.json"))["further_clips"]
        assert low == {"camera": "low", "part": "clip-low.mp4", "start_s": "8.100", "missing": None}
        assert (high["camera"], high["part"]) == ("high", None)
    wait_for(lambda: nothing_waits(tmp_path, store))
    kept = [store.alerts.get(row.id) for row in rows]
    assert kept[0].further_clips == kept[1].further_clips
    # Those that browsers play and that are small stay as they came, the others are small copies.
    for name, codec in ((str(kept[0].clip), first), (kept[0].further_clips["low"], other)):
        assert name.endswith("-small.mp4" if codec == "hevc" else "-clip.mp4")
        assert (evidence / name).is_file()
    # A clip as it came is removed after its small copy is in the store.
    wait_for(lambda: len(list(evidence.rglob("*.mp4"))) == 2)
    assert kept[0].further_clips["low"] != kept[0].clip
    recorder.close(10)
