"""README's site file with `loop = true`: where the film begins again nothing false is reported.

A camera's own worker with the real networks and the real looping source. Only the pace is
another: the film goes on as its frames are read, so that a busy machine leaves out none of them.
`test_demo.py` holds the audit of the same film to its truth: its faults are reported, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from settlement.record import RoundRecord, read_rounds
from surveillance.live.camera import worker as worker_module
from surveillance.live.messages import STOP
from tests.e2e.unhurried import Heard, UnhurriedSource, worker_on
from tests.vision.sources.recorder_cuts import cut
from vision.sources import live as live_module
from vision.sources.camera_backends import LivePlace, Opened, open_place
from vision.sources.gaps import JUMPED, Gap
from vision.sources.limits import LiveLimits
from vision.sources.live import LiveFrame

# A minute on one core that does nothing else.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SAMPLE = Path(__file__).parents[2] / "sample"
FIRST, _, LAST = read_rounds(SAMPLE / "truth.jsonl")
FROM_S = 72.0
"""A key frame before the last round: the first pass begins here."""
SETTLING_S = 100.0
"""In the last round, in which all main bets are pushes: seat 2's hand is taken away, seat 3's is
compared, those of seats 4 and 5 are not turned up yet."""
NEAR_S = 3.0
"""A round is read to begin and to end so near to the times of the truth."""
BEGAN_AGAIN = "the film began again"


class LoopSource(UnhurriedSource):
    """A film that is played from `FROM_S` on, again from its start, and watched for a while."""

    until_s = 0.0
    """The second pass is watched to this time of the film."""
    is_over: Callable[[], None]

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self.jumps: list[Gap] = []

    def next_frame(self, timeout_s: float) -> LiveFrame | None:
        frame = super().next_frame(timeout_s)
        if frame is not None and frame.gap is not None and frame.gap.hidden_s == JUMPED:
            self.jumps.append(frame.gap)
        if self._pace.passes == 2 and self._pace.film_s > self.until_s:
            self.is_over()
        return frame


Watch = Callable[[Path, float], tuple[Heard, Gap]]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Watch:
    """Watch a film from `FROM_S` to its end and again up to a time; gives the seam too."""
    opened: list[Opened] = []

    def open_later(place: LivePlace, limits: LiveLimits) -> Opened:
        one = open_place(place, limits)
        if not opened:
            one.container.seek(round(FROM_S * 1_000_000))
        opened.append(one)
        return one

    def watch(film: Path, until_s: float) -> tuple[Heard, Gap]:
        monkeypatch.setattr(live_module, "open_place", open_later)
        monkeypatch.setattr(worker_module, "LiveSource", LoopSource)
        table_file = SAMPLE / "table.toml"
        worker, heard, ours = worker_on(film, table_file, tmp_path / "spool", loop=True)
        source: Any = worker.source
        source.until_s, source.is_over = until_s, lambda: ours.send(STOP)
        worker.run()
        (seam,) = source.jumps
        return heard, seam

    return watch


def lies_at(record: RoundRecord, truth: RoundRecord, film_from_s: float) -> None:
    """Check a round's times in the stream, in which the film begins at `film_from_s`."""
    for read_s, true_s in ((record.start_s, truth.start_s), (record.end_s, truth.end_s)):
        assert read_s is not None
        assert true_s is not None
        assert abs(float(read_s) - film_from_s - float(true_s)) < NEAR_S


def test_the_sample_in_a_loop_is_read_as_its_audit_reads_it(watch: Watch) -> None:
    heard, seam = watch(SAMPLE / "video.mp4", float(FIRST.end_s or 0) + 4)
    assert (seam.cause, seam.to_s - seam.from_s < 1) == (BEGAN_AGAIN, True)
    last, first = (judged.record for judged in heard.rounds)
    lies_at(last, LAST, -FROM_S)
    lies_at(first, FIRST, seam.to_s)
    assert float(last.end_s or 0) <= seam.from_s
    assert heard.alerts() == [(0, "HOUSE_WAY", None)]
    assert heard.incidents == []
    assert not [one for record in (last, first) for one in record.undecided if "gap" in one.what]


def test_a_film_that_ends_while_a_round_is_settled_leaves_the_rest_undecided(
    watch: Watch, tmp_path: Path
) -> None:
    film = cut(SAMPLE / "video.mp4", tmp_path / "cut.mp4", 0, SETTLING_S)
    heard, seam = watch(film, 12.0)
    (judged,) = heard.rounds
    record = judged.record
    assert float(record.end_s or 0) <= seam.from_s
    assert heard.alerts() == [(0, "HOUSE_WAY", None)]
    assert heard.incidents == []
    unseen = {one.seat for one in record.undecided if BEGAN_AGAIN in one.why}
    assert {4, 5} <= unseen
    assert 2 not in unseen
