"""The demo on the sample that the repository carries: from pixels to alerts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from settlement.record import read_rounds
from surveillance.alerts.model import read_alerts
from surveillance.cli import main
from tests.vision.sources.recorder_cuts import cut

SAMPLE = Path(__file__).parents[2] / "sample"


@pytest.fixture(scope="module")
def demo_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo") / "report"
    assert main(["demo", "--sample", str(SAMPLE), "--out", str(out), "--quiet"]) == 0
    return out


@pytest.fixture(scope="module")
def score(demo_out: Path) -> dict[str, dict[str, int]]:
    from surveillance.cli.recordings.score_cmd import score_files

    form = score_files(
        SAMPLE / "truth.jsonl", demo_out / "rounds.jsonl", demo_out / "alerts.jsonl", None
    ).as_dict()
    scored: dict[str, dict[str, int]] = json.loads(json.dumps(form))
    return scored


def test_the_sample_is_small_enough() -> None:
    assert sum(p.stat().st_size for p in SAMPLE.rglob("*") if p.is_file()) <= 20_000_000


def test_every_round_is_found(score: dict[str, dict[str, int]]) -> None:
    true = len(read_rounds(SAMPLE / "truth.jsonl"))
    assert true >= 3
    assert score["rounds"] == {"true": true, "found": true, "missed": 0, "invented": 0, "split": 0}


def test_cards_are_read(score: dict[str, dict[str, int]]) -> None:
    cards = score["cards"]
    assert cards["seen"] > 0
    assert cards["right"] >= 0.99 * cards["seen"]


def test_mistakes_are_found_and_none_is_made_up(score: dict[str, dict[str, int]]) -> None:
    alerts = score["alerts"]
    assert alerts["faults"] >= 1
    assert alerts["found"] == alerts["faults"]
    assert alerts["false"] == 0


def test_the_report_shows_its_evidence(demo_out: Path) -> None:
    html = (demo_out / "report.html").read_text(encoding="utf-8")
    pictures = [p for a in read_alerts(demo_out / "alerts.jsonl") for p in a.pictures]
    assert pictures
    for name in pictures:
        assert name in html
        assert (demo_out / name).stat().st_size > 1000


def test_the_sample_cut_into_files_that_overlap_gives_the_same_with_every_frame_decoded(
    demo_out: Path, tmp_path: Path
) -> None:
    folder, out = tmp_path / "shift", tmp_path / "out"
    folder.mkdir()
    for minute, (a, b) in enumerate(((0, 60), (56, 90), (90, 114))):
        at = f"{a // 60:02d}{a % 60:02d}"
        cut(SAMPLE / "video.mp4", folder / f"{minute}_20261122-18{at}.mp4", a, b)
    table = str(SAMPLE / "table.toml")
    how = ["--table", table, "--out", str(out), "--full", "--quiet"]
    assert main(["audit", str(folder), *how]) == 0
    for name in ("rounds.jsonl", "alerts.jsonl"):
        assert (out / name).read_bytes() == (demo_out / name).read_bytes()
