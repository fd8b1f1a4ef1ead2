"""The demo's own part: finding the sample, listing alerts, scoring, naming the report."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from settlement.record import Fault
from surveillance.audit.recording import audit
from surveillance.cli import main
from surveillance.cli.recordings.demo_cmd import find_sample
from tests.surveillance.handmade import observed_round
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame


class OneRound:
    """Sees one overpaid round, at the end."""

    sample_every_s = 1.0

    def feed(self, frame: Frame) -> list[ObservedRound]:
        return []

    def finish(self) -> list[ObservedRound]:
        return [observed_round(1, paid_cents=3000)]


@pytest.fixture
def sample(tmp_path: Path, video: Path, table_path: Path) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    shutil.copy(video, folder / "video.mp4")
    shutil.copy(table_path, folder / "table.toml")
    fault = Fault(code="OVERPAID", seat=3, wager="main")
    truth = observed_round(1, paid_cents=3000).record.model_copy(update={"faults": (fault,)})
    (folder / "truth.jsonl").write_text(truth.to_json() + "\n")
    return folder


@pytest.mark.parametrize("given", [False, True])
def test_it_audits_and_scores(
    given: bool,
    sample: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "surveillance.cli.recordings.demo_cmd.audit",
        partial(audit, make_watcher=lambda *_: OneRound()),
    )
    monkeypatch.chdir(sample.parent)
    where = ["--sample", str(sample)] if given else []
    assert main(["demo", "--quiet", *where]) == 0
    out = capsys.readouterr().out
    assert "OVERPAID" in out
    assert "paid $30.00" in out
    assert "100.00%" in out
    assert "report: demo-report/report.html" in out
    assert (sample.parent / "demo-report" / "report.html").is_file()


def test_a_sample_that_lacks_a_file(sample: Path) -> None:
    (sample / "truth.jsonl").unlink()
    with pytest.raises(FeltwatchError, match=r"no truth.jsonl in it; a sample holds video.mp4"):
        find_sample(sample)


def test_no_sample_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "surveillance.cli.recordings.demo_cmd.surveillance.__file__", "/nowhere/x/y.py"
    )
    with pytest.raises(FeltwatchError, match=r"give a folder with .* as --sample DIR"):
        find_sample(None)
