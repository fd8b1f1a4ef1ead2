"""`python -m benchmarks.broken_rounds`: which shifts it films, and how a film is cut."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest

from benchmarks.broken_rounds import COURSES, GAMES, Shift, cut, found
from datasets.simulate.filming.encode import encode
from datasets.simulate.play.shift_events import EventPlan
from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, read_rounds

FPS = 5


def test_every_game_meets_every_course_within_nine_shifts() -> None:
    shifts = [Shift.of("a name", number) for number in range(9)]
    assert {(s.game, s.events) for s in shifts} == {(g, c) for g in GAMES for c in COURSES}
    assert shifts[1].seed == shifts[0].seed + 1
    assert Shift.of("another name", 0).seed != shifts[0].seed
    assert shifts[2].kinds == {2: "quick_deal+misdeal", 3: "quick_deal", 4: "abandoned"}
    for course in COURSES:
        EventPlan.parse(course)


def record(number: int, start_s: float, end_s: float, *, settled: bool = True) -> RoundRecord:
    return RoundRecord(
        round_id=f"t1-{number:06d}", table="t1", game=GAMES[0], start_s=f"{start_s:.3f}",
        end_s=f"{end_s:.3f}", dealer=DealerRecord(),
        seats=(SeatRecord(seat=1),) if settled else (),
        undecided=() if settled else (Undecided(seat=None, what="hand", why="broken off"),),
    )  # fmt: skip


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film of 40 s with a round that is abandoned and two that are settled."""
    planes = [np.full((96, 64), k, np.uint8) for k in range(200)]
    encode(tmp_path / "video.mp4", enumerate(planes), (64, 64), FPS, "h264", 30, "ultrafast")
    rounds = [record(1, 1, 7, settled=False), record(2, 9, 17), record(3, 19, 35)]
    (tmp_path / "truth.jsonl").write_text("".join(one.to_json() + "\n" for one in rounds))
    feed = [{"at_s": "9.000", "banker": "house"}, {"at_s": "19.000", "banker": 2}]
    (tmp_path / "feed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in feed))
    return tmp_path


def test_a_film_is_cut_in_the_first_and_the_last_settled_round(film: Path) -> None:
    cut(film)
    with av.open(str(film / "cut.mp4")) as part:
        times = [float(frame.time or 0) for frame in part.decode(video=0)]
    assert times[0] == 0.0
    first, last = read_rounds(film / "cut-truth.jsonl")
    assert (first.round_id, last.round_id) == ("t1-000002", "t1-000003")
    assert first.start_s == "0.000"
    assert 0 < float(first.end_s or 0) <= 4
    assert float(last.end_s or 0) <= times[-1] + 1 / FPS + 2
    lines = [json.loads(line) for line in (film / "cut-feed.jsonl").read_text().splitlines()]
    assert [line["banker"] for line in lines] == ["house", 2]
    assert lines[0]["at_s"] == "0.000"


def test_a_round_is_right_where_it_was_reported_as_what_it_is(film: Path) -> None:
    cut(film)
    shift = Shift(0, 1, GAMES[0], "abandoned@1", "fast")
    seen = [
        record(1, 1.2, 7.5, settled=False), record(2, 9.5, 18), record(3, 19.5, 35),
        record(4, 37, 38, settled=False),
    ]  # fmt: skip
    for audit, records in (("audit", seen), ("audit-cut", [])):
        (film / audit).mkdir()
        text = "".join(one.to_json() + "\n" for one in records)
        (film / audit / "rounds.jsonl").write_text(text)
        (film / audit / "alerts.jsonl").write_text("")
        line = {"kind": "event", "round_id": "t1-000001", "name": "abandoned", "at_s": "7.5"}
        (film / audit / "timeline.jsonl").write_text(json.dumps(line) + "\n")
    own = found(shift, film)
    assert [(one["kind"], one["right"]) for one in own["whole"]["rounds"]] == [
        ("abandoned", True), ("usual", True), ("usual", True),
    ]  # fmt: skip
    assert own["whole"]["rounds"][0]["events"] == ["abandoned"]
    assert own["whole"]["invented"] == ["t1-000004"]
    assert own["cut"]["missed"] == ["t1-000002", "t1-000003"]
