"""Clips of further cameras in an audit: the same span by the clocks' offset, or told why none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from surveillance.audit.bundles import bundle_results
from surveillance.audit.footage import FOR_BUNDLES, FURTHER
from surveillance.audit.further import CameraVideo
from surveillance.audit.recording import AuditSummary, ClipPlan, audit
from surveillance.evidence.bundle import Chain, part_names, read_part, verify_bundle
from tests.surveillance.audit.test_audit import FakeWatcher
from tests.surveillance.conftest import HEIGHT, WIDTH
from tests.surveillance.evidence.test_clips import levels
from tests.surveillance.handmade import observed_round
from tests.vision.sources.live_films import write_film
from tests.vision.sources.recorder_cuts import cut
from vision.geometry.table import FurtherCamera, TableFile
from vision.sources.moments import Moments

RATE = 10
LATE_S = 2.0
"""The further recording began so much later."""
PLAN = ClipPlan(before_s=2.0, after_s=1.0)
LOW, HIGH = "low", "high-2"


class JoinedWatcher(FakeWatcher):
    """Takes further cameras and does not look at them."""

    def join(self, camera: FurtherCamera, moments: Moments) -> None:
        """Nothing is read of it."""

    def faults(self) -> list[str]:
        """None."""
        return []


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    size = (WIDTH, HEIGHT)
    return write_film(tmp_path_factory.mktemp("film") / "film.mp4", 24.0, RATE, size=size)


@pytest.fixture(scope="module")
def two(table: TableFile, write_table: Callable[[TableFile], Path]) -> Path:
    """The table file with two further cameras."""
    assert table.camera is not None
    own = table.camera.model_dump()
    cameras = tuple(FurtherCamera.model_validate({**own, "name": name}) for name in (LOW, HIGH))
    return write_table(table.model_copy(update={"cameras": cameras}))


def run(film: Path, table: Path, out: Path, **cameras: CameraVideo) -> AuditSummary:
    rounds = [observed_round(n, start_s=s, paid_cents=3000) for n, s in ((1, 5.0), (2, 14.0))]
    return audit(
        film, table, out, clips=PLAN, cameras={name.replace("_", "-"): c for name, c in
        cameras.items()}, make_watcher=lambda *_: JoinedWatcher(rounds),
    )  # fmt: skip


def bundles_of(film: Path, out: Path) -> list[Path]:
    refs = bundle_results(
        out, out.parent / "ev" / out.name, Chain.of(out.parent / "ev"), table="t1", video=film,
        duration_s=24.0,
    )  # fmt: skip
    return [ref.path for ref in refs]


@pytest.mark.parametrize("many", [1, 3])
def test_each_alert_has_a_clip_of_each_camera(
    film: Path, two: Path, tmp_path: Path, many: int
) -> None:
    spans = [(2, 24)] if many == 1 else [(2, 9), (8, 15), (15, 24)]
    files = tuple(cut(film, tmp_path / f"low_20261122_1800{a:02d}.mp4", a, b) for a, b in spans)
    low = CameraVideo(files, LATE_S)
    summary = run(film, two, tmp_path / "out", low=low, high_2=CameraVideo((film,)))
    assert summary.warnings == ()
    alerts = [json.loads(line) for line in (tmp_path / "out/alerts.jsonl").read_text().splitlines()]
    found = bundles_of(film, tmp_path / "out")
    assert len(alerts) == len(found) == 2
    for alert, bundle in zip(alerts, found, strict=True):
        assert verify_bundle(bundle) == ()
        parts = part_names(bundle)
        assert parts[-3:] == ("clip.mp4", "clip-low.mp4", "clip-high-2.mp4")
        manifest = json.loads(read_part(bundle, "manifest.json"))
        assert [one["camera"] for one in manifest["further_clips"]] == [LOW, HIGH]
        assert "missing.json" not in parts
        for one in manifest["further_clips"]:
            clip = tmp_path / "clip.mp4"
            clip.write_bytes(read_part(bundle, one["part"]))
            shown, start = levels(clip), float(one["start_s"])
            # The film's brightness counts its frames, from the first camera's 0 s on.
            assert [n for _, n in shown] == [round((start + at_s) * RATE) % 64 for at_s, _ in shown]
            assert start <= float(alert["start_s"]) - PLAN.before_s + 1e-6
            end = float(alert["end_s"]) + PLAN.after_s
            assert start + shown[-1][0] == pytest.approx(end, abs=1.5 / RATE)
            assert one["missing"] is None


def test_a_further_clip_that_cannot_be_had_is_told_and_costs_nothing_else(
    film: Path, two: Path, tmp_path: Path
) -> None:
    """It ended before the second alert; another one began after the first."""
    low = CameraVideo((cut(film, tmp_path / "low.mp4", 2, 10),), LATE_S)
    high = CameraVideo((cut(film, tmp_path / "high.mp4", 11, 24),), 11.0)
    alone = run(film, two, tmp_path / "alone")
    summary = run(film, two, tmp_path / "out", low=low, high_2=high)
    assert (summary.rounds, summary.alerts) == (alone.rounds, alone.alerts)
    own, other = summary.warnings
    assert own.startswith(f"camera {HIGH}: 1 alert has no clip of it: high.mp4: no clip can be cut")
    assert (
        other
        == f"camera {LOW}: 1 alert has no clip of it: its recording shows nothing of that time"
    )
    first, second = bundles_of(film, tmp_path / "out")
    assert part_names(first)[-2:] == ("clip.mp4", "clip-low.mp4")
    assert part_names(second)[-2:] == ("clip.mp4", "clip-high-2.mp4")
    missing = json.loads(read_part(second, "missing.json"))["missing"]
    assert missing == ["the clip of low: its recording shows nothing of that time"]
    told = json.loads(read_part(second, "manifest.json"))["further_clips"][0]
    assert told == {
        "camera": LOW, "part": None, "start_s": None,
        "missing": "its recording shows nothing of that time",
    }  # fmt: skip
    assert str(tmp_path) not in read_part(first, "missing.json").decode()
    assert verify_bundle(first) == verify_bundle(second) == ()


def test_of_one_camera_nothing_is_said_of_others(film: Path, two: Path, tmp_path: Path) -> None:
    run(film, two, tmp_path / "out")
    assert not (tmp_path / "out" / FOR_BUNDLES / FURTHER).exists()
    for bundle in bundles_of(film, tmp_path / "out"):
        assert "further_clips" not in json.loads(read_part(bundle, "manifest.json"))
        assert part_names(bundle)[-1] == "clip.mp4"
