from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from surveillance.evidence.clips import ClipError, preview_in_background, write_clip
from tests.rtsp.loopback import RtspServer
from tests.vision.sources.live_films import live, until, write_film
from vision.sources.base import SourceState
from vision.sources.packets.packet_buffer import CodedPacket, CodedRun, Cut, PacketRing


def levels(path: Path) -> list[tuple[float, int]]:
    """Time and number of every frame, read from its brightness (0 to 63)."""
    found = []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            level = float(frame.reformat(format="gray").to_ndarray().mean())
            at_s = float((frame.pts or 0) * (frame.time_base or 0))
            found.append((at_s, round((level - 40) / 2)))
    return found


def ring_of(source_path: str, seconds: float) -> PacketRing:
    ring = PacketRing(60)
    with live(source_path, every_s=0.5, ring=ring) as source:
        until(
            source,
            lambda s: s.state is SourceState.ENDED or float(ring.newest_s() or 0) >= seconds,
        )
    return ring


@pytest.mark.parametrize(("codec", "b_frames"), [("libx264", 0), ("libx264", 3), ("libx265", 2)])
def test_a_clip_holds_the_frames_asked_for_at_their_times(
    tmp_path: Path, codec: str, b_frames: int
) -> None:
    film = write_film(tmp_path / "a.mp4", 3.0, codec=codec, b_frames=b_frames)
    cut = ring_of(str(film), 9).cut(1.2, 2.4)
    assert cut is not None
    clip = write_clip(cut, tmp_path / "out" / "clip.mp4")
    assert clip.start_s <= 1.2
    assert clip.end_s >= 2.3
    assert clip.plays_at_once == (codec == "libx264")
    frames = levels(clip.path)
    first = round(clip.start_s * 10)
    whole = list(range(first, first + len(frames)))
    assert [n for _, n in frames] == pytest.approx(whole, abs=1)
    times = [t - frames[0][0] for t, _ in frames]
    assert times == pytest.approx([k / 10 for k in range(len(frames))], abs=0.001)
    assert not list(clip.path.parent.glob("*.partial"))


def test_a_small_clip_keeps_times_and_fits_the_page(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 2.0, codec="libx265", size=(1600, 96))
    cut = ring_of(str(film), 9).cut(0, 9)
    assert cut is not None
    clip = write_clip(cut, tmp_path / "clip.mp4")
    small = tmp_path / "small.mp4"
    assert preview_in_background(str(clip.path), str(small)) == ""
    with av.open(str(small)) as container:
        own = container.streams.video[0].codec_context
        assert (own.name, own.width, own.height) == ("h264", 1280, 76)
    assert [t for t, _ in levels(small)] == pytest.approx([t for t, _ in levels(clip.path)])
    # The index stands first, so that it plays while it loads.
    data = small.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_clip_of_a_camera_decodes(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 8.0, rate=5, b_frames=2)
    with RtspServer({"t": film}) as server:
        ring = ring_of(server.url("t"), 5)
    cut = ring.cut(1.5, 4)
    assert cut is not None
    clip = write_clip(cut, tmp_path / "clip.mp4")
    numbers = [n for _, n in levels(clip.path)]
    assert len(numbers) >= 10
    assert numbers == sorted(numbers)
    assert max(np.diff(numbers)) <= 2


def test_what_cannot_be_written_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    run = CodedRun(1, "h264", 64, 64, None, None)
    broken = Cut(run, (CodedPacket(run, Fraction(0), True, b"rubbish"),), Fraction(0), Fraction(1))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ClipError, match="the clip cannot be written: "):
        write_clip(broken, tmp_path / "file" / "clip.mp4")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]
    assert "the small clip cannot be written" in preview_in_background(
        str(tmp_path / "none.mp4"), str(tmp_path / "small.mp4")
    )
