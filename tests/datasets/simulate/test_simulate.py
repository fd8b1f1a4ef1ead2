from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from datasets.simulate.filming.film import Look
from datasets.simulate.filming.stack_lines import read_stacks
from datasets.simulate.filming.truth_frames import read_frames
from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shards import Shard
from datasets.simulate.shift import Wishes, default_rules, feed_of, simulate, write_table
from settlement.declared import FeedLine
from settlement.errors import FeltwatchError
from settlement.games import JACKPOTS
from settlement.record import read_rounds
from settlement.settle import settle
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import FELT, standard_table
from vision.geometry.table import load_table
from vision.health.felt_match import FELT_MATCH_MIN, felt_match
from vision.sources.file import FileSource

WISHES = Wishes(seed=3, rounds=1, seats=2, fps=3, size=(640, 360), preset="ultrafast", pace=0.1)
TWO = replace(WISHES, rounds=2, faults=FaultPlan.parse("CAMERA/black@2"), fps=2)


@pytest.fixture(scope="module")
def shift(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    out = tmp_path_factory.mktemp("shift") / "new" / "folder"
    progress: list[float] = []
    assert simulate(out, WISHES, progress=progress.append)
    return out, progress


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shards")
    for number in (2, 1):
        assert simulate(out, TWO, shard=Shard(number, 2), frames_truth=True)
    return out


def test_a_shift_is_seven_files(shift: tuple[Path, list[float]]) -> None:
    out, progress = shift
    names = {p.name for p in out.iterdir()}
    assert names == {
        "video.mp4",
        "table.toml",
        "truth.jsonl",
        "events.jsonl",
        "feed.jsonl",
        "stacks.jsonl",
        "recipe.json",
    }
    assert progress[-1] == 1.0
    assert progress == sorted(progress)


def test_the_feed_reports_the_coins_of_each_round() -> None:
    table = table_for("emperors_challenge_exposed", seats=5, jackpots="plain")
    plan = plan_shift(table, seed=8, rounds=3, pace=0.35)
    lines = [FeedLine.model_validate_json(line) for line in feed_of(table, plan).splitlines()]
    assert len(lines) == len(plan.rounds)
    for line, record in zip(lines, plan.rounds, strict=True):
        coins = {(w.wager, s.seat) for s in record.seats for w in s.wagers if w.wager in JACKPOTS}
        assert coins == {
            (w, seat) for w, seats in (line.jackpot_wagers or {}).items() for seat in seats
        }
        assert float(record.start_s or 0) < float(line.at_s) < float(record.end_s or 0)


def test_the_truth_is_that_of_the_plan(shift: tuple[Path, list[float]]) -> None:
    out, _ = shift
    table = load_table(out / "table.toml")
    plan = plan_shift(table, seed=3, rounds=1, pace=0.1)
    rounds = read_rounds(out / "truth.jsonl")
    assert tuple(rounds) == plan.rounds
    assert rounds[0].dealer.high is not None
    assert settle(rounds[0], table.rules).seats
    recipe = json.loads((out / "recipe.json").read_text(encoding="utf-8"))
    assert recipe["duration_s"] == plan.duration_s
    assert (recipe["seed"], recipe["size"], recipe["codec"]) == (3, [640, 360], "h264")


def test_the_stacks_are_seen_by_the_camera_that_films(shift: tuple[Path, list[float]]) -> None:
    out, _ = shift
    table = load_table(out / "table.toml")
    found = read_stacks(out / "stacks.jsonl")
    assert {line.round_id for line in found} == {f"{table.table}-000001"}
    # 640 px are about 2 m of felt; a chip of 3.3 mm is seen at a slant.
    assert all(0.1 < line.cameras[""].px_per_chip < 1.1 for line in found)
    assert "stake" in {line.role for line in found}


@pytest.fixture
def no_film(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulator that cannot film."""
    monkeypatch.setattr("datasets.simulate.shift.Film", None)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_truth_alone_is_that_of_the_film(
    shift: tuple[Path, list[float]], tmp_path: Path, no_film: None
) -> None:
    progress: list[float] = []
    assert simulate(tmp_path, WISHES, truth_only=True, progress=progress.append)
    filmed = contents(shift[0])
    del filmed["video.mp4"]
    assert contents(tmp_path) == filmed
    assert progress == [1.0]


def test_the_stacks_are_added_beside_a_video_and_nothing_else_is_touched(
    shift: tuple[Path, list[float]], tmp_path: Path, no_film: None
) -> None:
    shutil.copytree(shift[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / "stacks.jsonl").unlink()
    table = tmp_path / "table.toml"
    table.write_text(table.read_text() + "# with samples\n")
    before = contents(tmp_path)
    assert simulate(tmp_path, replace(WISHES, crf=30), truth_only=True)
    after = contents(tmp_path)
    assert after.pop("stacks.jsonl") == (shift[0] / "stacks.jsonl").read_bytes()
    assert after == before


def test_the_truth_of_another_shift_is_not_put_beside_a_video(
    shift: tuple[Path, list[float]], tmp_path: Path, no_film: None
) -> None:
    shutil.copytree(shift[0], tmp_path, dirs_exist_ok=True)
    before = contents(tmp_path)
    with pytest.raises(FeltwatchError, match=r"recipe.json: .*other options \(camera_seed differ"):
        simulate(tmp_path, replace(WISHES, camera_seed=5), truth_only=True)
    (tmp_path / "recipe.json").unlink()
    with pytest.raises(FeltwatchError, match=r"truth.jsonl: this version plays other rounds"):
        simulate(tmp_path, replace(WISHES, seed=4), truth_only=True)
    del before["recipe.json"]
    assert contents(tmp_path) == before


def test_the_truth_of_shards_alone(shards: Path, tmp_path: Path, no_film: None) -> None:
    shutil.copy(shards / "table.toml", tmp_path)
    for number in (1, 2):
        assert simulate(tmp_path, TWO, shard=Shard(number, 2), truth_only=True)
        for name in ("truth", "stacks"):
            file = f"{name}-{number}-of-2.jsonl"
            assert (tmp_path / file).read_bytes() == (shards / file).read_bytes()
    rounds = [
        {line.round_id for line in read_stacks(shards / f"stacks-{number}-of-2.jsonl")}
        for number in (1, 2)
    ]
    assert [len(one) for one in rounds] == [1, 1]
    assert rounds[0] != rounds[1]


def test_the_truth_alone_has_no_frames(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"--truth-only: frames\.jsonl\.gz is written while"):
        simulate(tmp_path / "out", WISHES, truth_only=True, frames_truth=True)
    assert not (tmp_path / "out").exists()


def test_the_video_lasts_as_long_as_the_shift_and_shows_the_table(
    shift: tuple[Path, list[float]],
) -> None:
    out, _ = shift
    table = load_table(out / "table.toml")
    wanted = json.loads((out / "recipe.json").read_text(encoding="utf-8"))["duration_s"]
    with av.open(str(out / "video.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (640, 360)
        assert stream.average_rate == 3
        assert stream.frames == round(wanted * 3)
        assert stream.duration is not None
        assert stream.time_base is not None
        assert float(stream.duration * stream.time_base) == pytest.approx(wanted, abs=0.5)
    with FileSource(out / "video.mp4") as source:
        frame = next(iter(source.frames()))
        assert frame.at_s == Fraction(0)
        assert table.camera is not None
        calibration = Calibration.fit(table.camera)
        assert felt_match(frame.luma, table, calibration) > FELT_MATCH_MIN


def test_shards_hold_whole_rounds_and_the_clock_goes_on(shards: Path) -> None:
    plan = TWO.plan(load_table(shards / "table.toml"))
    truths = [read_rounds(shards / f"truth-{k}-of-2.jsonl") for k in (1, 2)]
    assert tuple(truths[0] + truths[1]) == plan.rounds
    spans = []
    for number in (1, 2):
        with FileSource(shards / f"video-{number}-of-2.mp4") as source:
            times = [float(frame.at_s) for frame in source.frames()]
        assert np.diff(times) == pytest.approx(0.5, abs=0.002)
        spans.append((times[0], times[-1]))
    assert spans[0][0] == 0.0
    assert spans[1][0] == pytest.approx(spans[0][1] + 0.5, abs=0.002)
    assert float(plan.rounds[1].start_s or 0) > spans[1][0]
    events = (shards / "events-2-of-2.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(events[0])["kind"] == "camera/black"
    assert (shards / "events-1-of-2.jsonl").read_text(encoding="utf-8") == ""


def test_a_black_frame_is_black_in_the_video(shards: Path) -> None:
    event = json.loads((shards / "events-2-of-2.jsonl").read_text(encoding="utf-8"))
    with FileSource(shards / "video-2-of-2.mp4") as source:
        for frame in source.frames():
            inside = float(event["t0_s"]) <= float(frame.at_s) <= float(event["t1_s"])
            assert (np.median(frame.luma) < 30) == inside, frame.at_s


def test_the_frames_truth_lists_every_frame(shards: Path) -> None:
    lines = list(read_frames(shards / "frames-1-of-2.jsonl.gz"))
    assert [line["pts"] for line in lines] == list(range(len(lines)))
    after = list(read_frames(shards / "frames-2-of-2.jsonl.gz"))
    assert after[0]["pts"] == len(lines)
    assert after[0]["t_s"] == pytest.approx(len(lines) / 2)
    classes = {one["class"] for line in lines for one in line["objects"]}
    assert {"card", "index", "back", "chip", "arm"} <= classes
    shares = [one["visible"] for line in lines for one in line["objects"]]
    assert 0 <= min(shares) < 0.3
    assert max(shares) <= 1
    assert any(line.get("trouble") == "camera/black" for line in after)


def test_a_finished_shard_is_not_made_again(shards: Path) -> None:
    video = shards / "video-1-of-2.mp4"
    before = video.stat().st_mtime_ns
    assert not simulate(shards, TWO, shard=Shard(1, 2), frames_truth=True)
    assert video.stat().st_mtime_ns == before
    with pytest.raises(FeltwatchError, match=r"another shift \(seed differ\)"):
        simulate(shards, replace(TWO, seed=9), shard=Shard(1, 2), frames_truth=True)


def test_a_table_of_ones_own_is_played_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.simulate.shift.Film", _Broken)
    own = table_for("imperial_pai_gow_draw").model_copy(update={"table": "own"})
    with pytest.raises(MemoryError):
        simulate(tmp_path, replace(WISHES, table=own))
    plan = replace(WISHES, table=own).plan(replace(WISHES, table=own).table_file())
    assert plan.rounds[0].table == "own"
    assert plan.rounds[0].game == "imperial_pai_gow_draw"


def test_a_table_file_written_is_read_back_equal(tmp_path: Path) -> None:
    table = standard_table(default_rules(), seats=3)
    camera = synthetic_camera(FELT, width_px=1280, height_px=720)
    whole = table.model_copy(update={"camera": table_camera(camera, table, 0.4, 9)})
    games = [table_for(game) for game in ("pai_gow_poker", "imperial_pai_gow_draw")]
    for number, own in enumerate((table, whole, *games)):
        write_table(own, tmp_path / f"{number}.toml")
        assert load_table(tmp_path / f"{number}.toml") == own
    assert games[0].dealer.house is not None


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.simulate.shift.Film", _Broken)
    (tmp_path / "file").write_text("in the way")
    out = tmp_path / "file" / "shift"
    with pytest.raises(FeltwatchError, match=f"^{out}: Not a directory$"):
        simulate(out, WISHES)


def test_a_video_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "video.partial.mp4").mkdir()
    (tmp_path / "video.partial.mp4" / "kept").touch()
    monkeypatch.setattr("datasets.simulate.shift.Film", _Broken)
    with pytest.raises(FeltwatchError, match=f"^{tmp_path}: "):
        simulate(tmp_path, WISHES)


class _Broken:
    """A film that tears after two frames."""

    def __init__(
        self, _table: Any, camera: Any, _deck: Any, look: Look, _rng: Any, _markers: Any, _dice: Any
    ) -> None:
        self.camera, self.look = camera, look

    def frames(self, plan: Any, fps: int) -> Iterator[tuple[float, Any]]:
        for k in range(2):
            yield k / fps, np.zeros((540, 640), np.uint8)
        raise MemoryError


def test_a_run_cut_short_leaves_no_video(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.simulate.shift.Film", _Broken)
    with pytest.raises(MemoryError):
        simulate(tmp_path, WISHES)
    assert list(tmp_path.iterdir()) == []


def test_a_codec_that_is_not_known_is_named(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="codec 'vp8' is not known: 'h264' or 'hevc'"):
        simulate(tmp_path, replace(WISHES, codec="vp8"))


def test_a_deck_that_cannot_be_read_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="no such folder of card faces"):
        simulate(tmp_path / "out", replace(WISHES, deck=tmp_path / "faces"))
    assert not (tmp_path / "out").exists()


def test_the_film_takes_the_camera_of_the_table_file(shift: tuple[Path, list[float]]) -> None:
    """The marks in the table file are those of the camera that filmed, up to a hand's error."""
    table = load_table(shift[0] / "table.toml")
    assert table.camera is not None
    fitted = Calibration.fit(table.camera)
    assert fitted.rms_px < 1.0
    assert (fitted.width_px, fitted.height_px) == (640, 360)


def test_only_a_game_with_a_commission_collects_it_later() -> None:
    later = Wishes(seed=1, rounds=1, game="pai_gow_poker", commission_later=True)
    commission = later.table_file().rules.commission
    assert commission is not None
    assert commission.taken == "afterwards"
    assert later.recipe()["commission_later"] is True
    assert "commission_later" not in Wishes(seed=1, rounds=1).recipe()
    with pytest.raises(FeltwatchError, match="--commission: imperial_pai_gow_draw takes no"):
        Wishes(seed=1, rounds=1, game="imperial_pai_gow_draw", commission_later=True).table_file()
