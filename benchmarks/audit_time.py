"""What an audit takes of the processor, against decoding every frame of the same file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import av
from av.video.frame import PictureType
from av.video.stream import VideoStream

from settlement.errors import FeltwatchError

CODECS = {"h264": "libx264", "h265": "libx265"}

_DECODE = """
import sys, av
with av.open(sys.argv[1]) as source:
    stream = source.streams.video[0]
    stream.thread_type = "AUTO"
    print(sum(1 for _ in source.decode(stream)))
"""
_AUDIT = "import sys; from surveillance.cli import main; sys.exit(main())"


def bench_audit(
    video: Path, table: Path, report: Callable[[str], None], *, codec: str | None = None,
    mbit: float = 8.0, key_frames_s: float = 2.0,
) -> dict[str, Any]:  # fmt: skip
    """CPU and wall time, in s, of auditing a recording and of decoding all of its frames.

    With `codec` ('h264', 'h265') the recording is re-encoded first, at `mbit` million bits a
    second with a key frame every `key_frames_s`. Both run as processes of their own, one after the
    other. Raises FeltwatchError when one of them fails.
    """
    with tempfile.TemporaryDirectory(prefix="feltwatch-audit-") as place:
        folder = Path(place)
        if codec is not None:
            report(f"re-encoding {video.name}: {codec}, {mbit:g} Mbit/s")
            video = encoded(video, folder / "recording.mp4", codec, mbit, key_frames_s)
        report("decoding every frame")
        decode = _timed([sys.executable, "-c", _DECODE, str(video)])
        report("auditing")
        audit = _timed(
            [sys.executable, "-c", _AUDIT, "audit", str(video), "--table", str(table), "--out",
             str(folder / "out"), "--quiet"]
        )  # fmt: skip
        film = _film(video)
    return {
        "video": {**film, "frames": int(decode.pop("printed"))},
        "decode": decode,
        "audit": {key: audit[key] for key in decode},
        "cpu_ratio": round(audit["cpu_s"] / decode["cpu_s"], 2),
        "wall_ratio": round(audit["wall_s"] / decode["wall_s"], 2),
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


def encoded(video: Path, to: Path, codec: str, mbit: float, key_frames_s: float) -> Path:
    """Re-encode the recording with key frames at constant intervals; its timestamps stay."""
    with av.open(str(video)) as source, av.open(str(to), "w") as out:
        shown = source.streams.video[0]
        rate = shown.average_rate or Fraction(15)
        options = {"preset": "veryfast", "g": str(max(1, round(key_frames_s * rate)))}
        if codec == "h265":
            options["x265-params"] = "log-level=error"
        stream = cast(VideoStream, out.add_stream(CODECS[codec], rate=rate, options=options))
        stream.width, stream.height = shown.width, shown.height
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = int(mbit * 1e6)
        stream.time_base = stream.codec_context.time_base = shown.time_base or 1 / rate
        for frame in source.decode(shown):
            frame.pict_type = PictureType.NONE
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return to


def _film(video: Path) -> dict[str, Any]:
    with av.open(str(video)) as source:
        stream = source.streams.video[0]
        seconds = float((source.duration or 0) / av.time_base)
        return {
            "codec": stream.codec_context.name, "width": stream.width, "height": stream.height,
            "fps": round(float(stream.average_rate or 0), 2), "seconds": round(seconds, 1),
            "mbit_per_s": round(video.stat().st_size * 8 / 1e6 / max(seconds, 1e-6), 2),
        }  # fmt: skip


def _timed(command: list[str]) -> dict[str, Any]:
    """CPU time with that of its processes, wall time, and what it printed.

    Byte code is kept: without it each process compiles what it imports.
    """
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
    after = os.times()
    if done.returncode > 1:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [str(done.returncode)]
        raise FeltwatchError(f"{command[-2]}: it could not be measured: {last[0]}")
    cpu = (
        after.children_user + after.children_system
        - before.children_user - before.children_system
    )  # fmt: skip
    return {
        "cpu_s": round(cpu, 2), "wall_s": round(time.perf_counter() - began, 2),
        "printed": done.stdout.strip(),
    }  # fmt: skip
