"""An audit of a shift that two cameras filmed, and what is left when one of them fails."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import av
import pytest

from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.shift import SECOND, Wishes, simulate
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, read_rounds
from surveillance.audit.further import CameraVideo, parse_videos
from surveillance.audit.recording import AuditSummary, audit
from surveillance.cli import main

WISHES = Wishes(
    seed=6, rounds=1, seats=2, fps=5, size=(1920, 1080), preset="ultrafast", crf=20, pace=0.05,
    dealers="fast", faults=FaultPlan.parse("UNDERPAID@1"), cameras=2,
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    summary: AuditSummary
    rounds: list[RoundRecord]
    evidence: set[str]


def cut(video: Path, to: Path, seconds: float) -> Path:
    """The beginning of a recording."""
    with av.open(str(video)) as given, av.open(str(to), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for packet in given.demux(given.streams.video[0]):
            if packet.pts is not None and float(packet.pts * packet.time_base) < seconds:
                packet.stream = stream
                out.mux(packet)
    return to


@pytest.fixture(scope="module")
def shift(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shift")
    simulate(out, WISHES)
    return out


def run(shift: Path, out: Path, **cameras: CameraVideo) -> Result:
    summary = audit(shift / "video.mp4", shift / "table.toml", out, cameras=cameras)
    return Result(
        summary, list(read_rounds(out / "rounds.jsonl")),
        {path.name for path in (out / "evidence").glob("*.jpg")},
    )  # fmt: skip


def stakes(record: RoundRecord) -> dict[tuple[int, str], int | None]:
    return {(s.seat, w.wager): w.stake_cents for s in record.seats for w in s.wagers}


def right(record: RoundRecord, true: dict[tuple[int, str], int | None]) -> int:
    return sum(stakes(record).get(key) == cents for key, cents in true.items())


def misread(record: RoundRecord, true: dict[tuple[int, str], int | None]) -> int:
    """Stakes whose likeliest sum is not the true one, whether it is sure or not."""
    likeliest = {
        (s.seat, w.wager): w.stake_sums[0][0] if w.stake_sums else w.stake_cents
        for s in record.seats
        for w in s.wagers
    }
    return sum(likeliest.get(key) not in (None, cents) for key, cents in true.items())


@pytest.mark.render
@pytest.mark.slow
def test_two_cameras_read_one_round(shift: Path, tmp_path: Path) -> None:
    (truth,) = read_rounds(shift / "truth.jsonl")
    alone = run(shift, tmp_path / "one")
    (one,) = alone.rounds
    assert all(w.cameras is None for s in one.seats for w in s.wagers)
    low = CameraVideo(shift / f"video-{SECOND}.mp4")
    joined = run(shift, tmp_path / "two", **{SECOND: low})
    (two,) = joined.rounds
    assert joined.summary.warnings == alone.summary.warnings
    # A small picture, 1.5 px to a chip: the likeliest sums are wrong now and then. Sure ones cannot
    # be compared: the first camera alone leaves more undecided.
    true = stakes(truth)
    assert right(two, true) >= right(one, true) > 0
    assert misread(two, true) <= misread(one, true)
    assert any(w.cameras == (SECOND,) for s in two.seats for w in s.wagers)
    if joined.summary.alerts:
        assert any(f"-{SECOND}-" in name for name in joined.evidence)

    # What a recording that ends early did not film is read by the first camera alone, and told.
    half = cut(low.path, tmp_path / "half.mp4", float(truth.end_s or 0) / 3)
    part = run(shift, tmp_path / "part", **{SECOND: CameraVideo(half)})
    assert len(part.rounds) == 1
    assert misread(part.rounds[0], true) <= misread(one, true)
    (warning,) = set(part.summary.warnings) - set(alone.summary.warnings)
    assert warning.startswith(f"camera {SECOND}: no picture at ")


def test_options_name_cameras(tmp_path: Path) -> None:
    assert parse_videos(["a=x.mp4", "b=y=z.mp4"], ["b=-2.5"]) == {
        "a": CameraVideo(Path("x.mp4")), "b": CameraVideo(Path("y=z.mp4"), -2.5)
    }  # fmt: skip
    for videos, offsets, told in (
        (["x.mp4"], [], "expected NAME=FILE"),
        (["a=x", "a=y"], [], "has a recording already"),
        (["a=x"], ["a=soon"], "expected NAME=SECONDS"),
        (["a=x"], ["a=nan"], "expected NAME=SECONDS"),
        (["a=x"], ["b=1"], "camera 'b' has no --camera-video"),
    ):
        with pytest.raises(FeltwatchError, match=told):
            parse_videos(videos, offsets)


def test_a_camera_that_the_table_does_not_have_is_refused(
    video: Path, table_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    told = ["audit", str(video), "--table", str(table_path), "--out", str(out), "--quiet"]
    assert main([*told, "--camera-video", f"low={video}"]) == 2
    assert "has no such camera under [[cameras]]; it has none" in capsys.readouterr().err
    assert not out.exists()
