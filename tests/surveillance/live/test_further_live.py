"""A round that two cameras film, by RTSP through the real reading: live as in an audit."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from datasets.simulate.shift import SECOND, simulate
from settlement.record import RoundRecord
from surveillance.audit.further import CameraVideo
from surveillance.config.site_file import load_site
from surveillance.evidence.bundle import read_part, verify_bundle
from surveillance.live.camera.clip_writer import NOT_SHOWN
from surveillance.live.event_bus import EventBus
from surveillance.live.recorder import Recorder
from surveillance.live.supervisor import Supervisor
from surveillance.store import Store
from tests.rtsp.loopback import RtspServer
from tests.surveillance.audit.test_audit_two_cameras import WISHES, run
from tests.surveillance.live.live_room import wait_event, wait_for, write_toml

pytestmark = [pytest.mark.slow, pytest.mark.render]

LIKELY = 0.9
KEY_S = 2
SLOWER = 4
"""The film is played so much slower than it was filmed: this machine may be busy."""


def stretched(video: Path, to: Path) -> Path:
    """A film with each of its frames shown several times."""
    with av.open(str(video)) as film, av.open(str(to), "w") as out:
        inner = film.streams.video[0]
        outer: Any = out.add_stream("libx264", rate=WISHES.fps)
        outer.width, outer.height, outer.pix_fmt = *WISHES.size, "yuv420p"
        outer.codec_context.gop_size = KEY_S * WISHES.fps
        outer.options = {"preset": "ultrafast", "crf": str(WISHES.crf)}
        for number, frame in enumerate(film.decode(inner)):
            for again in range(SLOWER):
                frame.pts, frame.time_base = number * SLOWER + again, Fraction(1, WISHES.fps)
                out.mux(outer.encode(frame))
        out.mux(outer.encode())
    return to


@dataclass(frozen=True)
class Read:
    """What was read of a wager: the likeliest sum, how probable it is, and the cameras."""

    cents: int | None
    probability: float
    cameras: tuple[str, ...]


def stakes(record: RoundRecord) -> dict[tuple[int, str], Read]:
    out = {}
    for seat in record.seats:
        for wager in seat.wagers:
            sums = wager.stake_sums or ((wager.stake_cents, 1.0),)
            out[seat.seat, wager.wager] = Read(*sums[0], wager.cameras or ())
    return out


def test_a_round_is_read_by_two_cameras_and_by_one_when_the_other_is_lost(tmp_path: Path) -> None:
    simulate(tmp_path, WISHES)
    first = stretched(tmp_path / "video.mp4", tmp_path / "first.mp4")
    other = stretched(tmp_path / f"video-{SECOND}.mp4", tmp_path / "other.mp4")
    first.replace(tmp_path / "video.mp4")
    audited = run(tmp_path, tmp_path / "out", **{SECOND: CameraVideo((other,))})
    (due,) = audited.rounds
    with (
        RtspServer({"t": tmp_path / "video.mp4"}) as rtsp,
        RtspServer({"t": other}) as low,
    ):
        camera = {
            "name": "pit1",
            "table_file": str(tmp_path / "table.toml"),
            "source": rtsp.url("t"),
            "further": [{"name": SECOND, "source": low.url("t")}],
        }
        limits = {"heartbeat_s": 120.0, "start_s": 300.0}
        site_file = write_toml(tmp_path / "site.toml", {"limits": limits, "camera": [camera]})
        site = load_site(site_file)
        site.site.data_dir.mkdir()
        with Store.open(site.store_url) as store:
            bus = EventBus()
            news = bus.subscribe()
            recorder = Recorder(store, bus, site.evidence_dir)
            supervisor = Supervisor(site, bus, recorder, site_file=site_file)
            supervisor.start()

            def decided() -> RoundRecord:
                event = wait_event(news, lambda e: e.kind == "round", 400)
                return RoundRecord.model_validate(store.rounds.get(event.body["id"]).record)

            try:
                two = stakes(decided())
                low.say("down")
                one = stakes(decided())
                state = bus.state("pit1")
                alerts = {row.alert.message for row in store.alerts.page().rows}
                wait_for(lambda: not store.pending.count(["pit1"], previews=False), 120)
                bundled = [
                    (row, site.evidence_dir / str(row.bundle)) for row in store.alerts.page().rows
                ]
            finally:
                began = time.monotonic()
                supervisor.stop()
                assert time.monotonic() - began < 15
                recorder.close()
    for key, read in stakes(due).items():
        assert two[key].cameras == read.cameras == (SECOND,)
        assert one[key].cameras == ()
        # A busy machine reads fewer images: only what is sure is the same.
        if min(two[key].probability, read.probability) > LIKELY:
            assert two[key].cents == read.cents
    sure = [key for key, read in stakes(due).items() if read.probability > LIKELY]
    assert sum(two[key].probability > LIKELY for key in sure) >= len(sure) - 1
    assert state is not None
    assert [own.state for own in state.further] == ["reconnecting"]
    assert any(f"further camera {SECOND}: no picture comes" in message for message in alerts)
    told = set()
    for row, bundle in bundled:
        assert verify_bundle(bundle) == ()
        manifest = json.loads(read_part(bundle, "manifest.json"))
        (further,) = manifest["further_clips"]
        assert further["camera"] == SECOND
        told.add(further["part"])
        if further["part"] is None:
            assert further["missing"] == NOT_SHOWN
            continue
        # The same span: both begin at a key frame before it, which comes every 2 s of the film.
        if row.alert.code != "CAMERA":
            begins = abs(float(further["start_s"]) - float(manifest["clip_start_s"]))
            assert begins < 2 * KEY_S
        (tmp_path / "clip.mp4").write_bytes(read_part(bundle, further["part"]))
        with av.open(str(tmp_path / "clip.mp4")) as clip:
            assert sum(1 for _ in clip.decode(video=0)) > WISHES.fps
    assert f"clip-{SECOND}.mp4" in told
