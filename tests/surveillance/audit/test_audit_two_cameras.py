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
from surveillance.alerts.model import read_alerts
from surveillance.audit.footage import FOR_BUNDLES, FURTHER, FurtherClipLine, read_lines
from surveillance.audit.further import CameraVideo, parse_videos
from surveillance.audit.recording import AuditSummary, ClipPlan, audit
from surveillance.cli import main
from tests.vision.sources import recorder_cuts

WISHES = Wishes(
    seed=6, rounds=1, seats=2, fps=5, size=(1920, 1080), preset="ultrafast", crf=20, pace=0.05,
    dealers="fast", faults=FaultPlan.parse("UNDERPAID@1"), cameras=2,
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    summary: AuditSummary
    rounds: list[RoundRecord]
    evidence: set[str]


@pytest.fixture(scope="module")
def shift(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shift")
    simulate(out, WISHES)
    return out


def run(shift: Path, out: Path, **cameras: CameraVideo) -> Result:
    summary = audit(
        shift / "video.mp4", shift / "table.toml", out, cameras=cameras, clips=ClipPlan()
    )
    return Result(
        summary, list(read_rounds(out / "rounds.jsonl")),
        {path.name for path in (out / "evidence").glob("*.jpg")},
    )  # fmt: skip


def further_clips(out: Path) -> list[FurtherClipLine]:
    return read_lines(out / FOR_BUNDLES / FURTHER, FurtherClipLine)


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
    video = shift / f"video-{SECOND}.mp4"
    low = CameraVideo((video,))
    joined = run(shift, tmp_path / "two", **{SECOND: low})
    (two,) = joined.rounds
    assert joined.summary.warnings == alone.summary.warnings
    assert not (tmp_path / "one" / FOR_BUNDLES / FURTHER).exists()
    clips = further_clips(tmp_path / "two")
    assert [line.alert_id for line in clips] == [
        alert.alert_id for alert in read_alerts(tmp_path / "two" / "alerts.jsonl")
    ]
    for line in clips:
        assert (line.camera, line.missing) == (SECOND, None)
        with av.open(str(tmp_path / "two" / str(line.file))) as clip:
            assert clip.streams.video[0].codec_context.width == WISHES.size[0]
    # A small picture, 1.5 px to a chip: the likeliest sums are wrong now and then. Sure ones cannot
    # be compared: the first camera alone leaves more undecided.
    true = stakes(truth)
    assert right(two, true) >= right(one, true) > 0
    assert misread(two, true) <= misread(one, true)
    assert any(w.cameras == (SECOND,) for s in two.seats for w in s.wagers)
    if joined.summary.alerts:
        assert any(f"-{SECOND}-" in name for name in joined.evidence)

    # Its recorder may cut the shift into files: each frame counts once, from whichever.
    names = tmp_path / "low_20261122_180000.mp4", tmp_path / "low_20261122_180010.mp4"
    files = recorder_cuts.cut(video, names[0], 0, 12), recorder_cuts.cut(video, names[1], 10, 60)
    several = run(shift, tmp_path / "several", **{SECOND: CameraVideo(files[::-1])})
    assert several.rounds == joined.rounds
    assert several.evidence == joined.evidence
    for name in ("rounds.jsonl", "alerts.jsonl"):
        assert (tmp_path / "several" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert several.summary.warnings == joined.summary.warnings
    assert [(line.alert_id, line.missing) for line in further_clips(tmp_path / "several")] == [
        (line.alert_id, None) for line in clips
    ]

    # What a recording that ends early did not film is read by the first camera alone, and told.
    half = recorder_cuts.cut(video, tmp_path / "half.mp4", 0, float(truth.end_s or 0) / 3)
    part = run(shift, tmp_path / "part", **{SECOND: CameraVideo((half,))})
    assert len(part.rounds) == 1
    assert misread(part.rounds[0], true) <= misread(one, true)
    told = sorted(set(part.summary.warnings) - set(alone.summary.warnings))
    lost = [line for line in further_clips(tmp_path / "part") if line.missing]
    assert told[-1].startswith(f"camera {SECOND}: no picture at ")
    assert all("no clip of it" in words for words in told[:-1])
    assert len(told) == (2 if lost else 1)


def test_options_name_cameras(tmp_path: Path) -> None:
    assert parse_videos(["a=x.mp4", "b=y=z.mp4", "a=w.mp4"], ["b=-2.5"]) == {
        "a": CameraVideo((Path("x.mp4"), Path("w.mp4"))), "b": CameraVideo((Path("y=z.mp4"),), -2.5)
    }  # fmt: skip
    for name in ("2.mp4", "1.mp4", "table.toml"):
        (tmp_path / name).touch()
    assert parse_videos([f"a={tmp_path}"], [])["a"].files == (
        tmp_path / "1.mp4",
        tmp_path / "2.mp4",
    )
    for videos, offsets, told in (
        (["x.mp4"], [], "expected NAME=FILE"),
        (["a=x", "a=x"], [], "a=x: is named twice"),
        ([f"a={tmp_path}", "a=y"], [], "is a folder; give one folder, or the files"),
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
