"""One stream, watched live and audited as a recording: where no frame was dropped the results are
the same byte by byte.

The audit is that of `feltwatch audit`; live it is a camera's own worker with the real networks and
the real source of a live file, which goes on as its frames are read, so that a busy machine drops
none. Every key of a record, an alert and a timeline is compared, times included: both count the
seconds of the stream, which begins at 0, and none of them names the source. Left out is what only
an audit makes: suspicions' images.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from surveillance.alerts.judged_round import JudgedRound
from surveillance.audit.recording import audit
from surveillance.live.camera import worker as worker_module
from tests.e2e.unhurried import Heard, UnhurriedSource, worker_on

# Two minutes on one core that does nothing else.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SAMPLE = Path(__file__).parents[2] / "sample"
VIDEO, TABLE = SAMPLE / "video.mp4", SAMPLE / "table.toml"


def watch_live(monkeypatch: pytest.MonkeyPatch, spool: Path) -> Heard:
    """Watch the whole film once."""
    monkeypatch.setattr(worker_module, "LiveSource", UnhurriedSource)
    worker, heard, _ = worker_on(VIDEO, TABLE, spool, loop=False)
    worker.run()
    return heard


def images_of(judged: JudgedRound) -> dict[str, bytes]:
    """The images of a round's alerts, by the names that the alerts have for them."""
    names = {name for alert in judged.alerts for name in alert.pictures}
    return {name: judged.pictures[Path(name).name] for name in names}


def test_live_and_recorded_runs_of_the_sample_are_the_same_byte_by_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    summary = audit(VIDEO, TABLE, out, timeline=True)
    heard = watch_live(monkeypatch, tmp_path / "spool")

    assert {state.dropped for state in heard.states} == {0}
    assert heard.incidents == []
    assert (summary.rounds, summary.coverage and summary.coverage.skipped_s) == (3, 0.0)
    last = heard.states[-1].coverage
    assert last is not None
    assert summary.coverage is not None
    assert last.model_dump() == summary.coverage.model_dump()

    records = "".join(judged.record.to_json() + "\n" for judged in heard.rounds)
    assert records.encode() == (out / "rounds.jsonl").read_bytes()
    alerts = "".join(own.to_json() + "\n" for judged in heard.rounds for own in judged.alerts)
    assert alerts.encode() == (out / "alerts.jsonl").read_bytes()
    assert alerts
    lines = (line for judged in heard.rounds for line in judged.timeline)
    timeline = "".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines)
    assert timeline.encode() == (out / "timeline.jsonl").read_bytes()
    for judged in heard.rounds:
        for name, image in images_of(judged).items():
            assert image == (out / name).read_bytes()
