"""A round of the sample by RTSP through the real reading: its mistake becomes an alert."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import av
import pytest

from settlement.record import read_rounds
from surveillance.config.site_file import load_site
from surveillance.evidence.bundle import verify_bundle
from surveillance.live.event_bus import EventBus
from surveillance.live.recorder import Recorder
from surveillance.live.supervisor import Supervisor
from surveillance.store import Store
from tests.rtsp.loopback import RtspServer
from tests.surveillance.live.live_room import wait_event, wait_for, write_toml

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).resolve().parents[3] / "sample"
MISTAKEN = next(r for r in read_rounds(SAMPLE / "truth.jsonl") if r.faults)
CODE = (MISTAKEN.faults or ())[0].code
FROM_S, TO_S = float(MISTAKEN.start_s or 0) - 4, float(MISTAKEN.end_s or 0) + 4
"""The round, from a key frame before it to the felt being empty after it."""


def slowness() -> float:
    """How much slower than real the film is to be played: this machine may be busy."""
    began = time.monotonic()
    with av.open(str(SAMPLE / "video.mp4")) as film:
        frames = film.decode(video=0)
        for _ in range(20):
            next(frames)
    return min(6.0, max(1.0, (time.monotonic() - began) * 2))


def cut(path: Path, slower: float) -> Path:
    """A piece of the sample as it is coded, with its times stretched."""
    stretch = Fraction(slower).limit_denominator(10)
    with av.open(str(SAMPLE / "video.mp4")) as film, av.open(str(path), "w") as out:
        inner = film.streams.video[0]
        outer = out.add_stream_from_template(inner)
        base = Fraction(inner.time_base or 1)
        begun = False
        for packet in film.demux(inner):
            if packet.pts is None or packet.dts is None or packet.pts * base < FROM_S - 1:
                continue
            begun = begun or (packet.is_keyframe and packet.pts * base >= FROM_S)
            if not begun or packet.pts * base > TO_S:
                continue
            first = round(FROM_S / base)
            packet.pts = round((packet.pts - first) * stretch)
            packet.dts = round((packet.dts - first) * stretch)
            packet.stream = outer
            out.mux(packet)
    return path


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return cut(tmp_path / "round.mp4", slowness())


def test_a_mistake_is_reported_with_its_evidence(tmp_path: Path, film: Path) -> None:
    with RtspServer({"t": film}) as rtsp:
        camera = {
            "name": "pit1",
            "table_file": str(SAMPLE / "table.toml"),
            "source": rtsp.url("t"),
        }
        site_file = write_toml(
            tmp_path / "site.toml",
            {"limits": {"heartbeat_s": 120.0, "start_s": 300.0}, "camera": [camera]},
        )
        site = load_site(site_file)
        site.site.data_dir.mkdir()
        with Store.open(site.store_url) as store:
            bus = EventBus()
            news = bus.subscribe()
            recorder = Recorder(store, bus, site.evidence_dir)
            supervisor = Supervisor(site, bus, recorder, site_file=site_file)
            supervisor.start()
            try:
                # The server plays the film again to whoever comes back.
                alert = wait_event(
                    news, lambda e: e.kind == "alert" and e.body["code"] == CODE, 500
                )
                number = alert.body["id"]
                wait_for(lambda: store.alerts.get(number).bundle is not None, 120)
            finally:
                supervisor.stop()
                recorder.close()
            row = store.alerts.get(number)
            assert row.round is not None
            assert row.alert.rule
            assert len(row.alert.pictures) >= 2
            assert verify_bundle(site.evidence_dir / str(row.bundle)) == ()
            assert row.clip is not None
            with av.open(str(site.evidence_dir / row.clip)) as clip:
                assert clip.streams.video[0].codec_context.name == "h264"
