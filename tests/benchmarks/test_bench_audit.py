"""The audit's benchmark, on the first seconds of the sample."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from benchmarks.audit_time import bench_audit, encoded
from settlement.errors import FeltwatchError
from surveillance.audit.clips import cut_clip

SAMPLE = Path(__file__).resolve().parents[2] / "sample"


@pytest.fixture(scope="module")
def piece(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cut_clip(SAMPLE / "video.mp4", 0.0, 1.0, tmp_path_factory.mktemp("audit") / "piece").path


@pytest.mark.render
@pytest.mark.parametrize("codec", ["h264", "h265"])
def test_a_re_encoded_recording_has_its_frames_and_key_frames(
    piece: Path, tmp_path: Path, codec: str
) -> None:
    out = encoded(piece, tmp_path / "again.mp4", codec, 4.0, 0.2)
    with av.open(str(piece)) as one, av.open(str(out)) as other:
        before = [frame.time for frame in one.decode(video=0)]
        stream = other.streams.video[0]
        frames = list(other.decode(stream))
        assert stream.codec_context.name == {"h264": "h264", "h265": "hevc"}[codec]
    assert len(frames) == len(before)
    assert frames[-1].time == pytest.approx(before[-1], abs=0.02)
    # Every third frame at 15 a second.
    assert sum(frame.key_frame for frame in frames) >= len(frames) // 3


@pytest.mark.slow
def test_an_audit_is_measured_against_decoding(piece: Path) -> None:
    found = bench_audit(piece, SAMPLE / "table.toml", lambda _: None)
    assert found["video"]["frames"] > 10
    assert found["audit"]["cpu_s"] > 0 < found["decode"]["cpu_s"]
    assert found["cpu_ratio"] == pytest.approx(
        found["audit"]["cpu_s"] / found["decode"]["cpu_s"], abs=0.01
    )


def test_what_cannot_be_measured_says_so(tmp_path: Path) -> None:
    other = tmp_path / "none.mp4"
    other.write_bytes(b"no film")
    with pytest.raises(FeltwatchError, match="could not be measured"):
        bench_audit(other, SAMPLE / "table.toml", lambda _: None)
