"""What the rules of rounds lose where everything is read as it lies.

    python -m tests.tools.perfect_readings --out readings --name "tune 1" --shifts 0-39 --dense

Shifts of the plan of `feltwatch bench money` are rendered in 1080p and watched from the frame to
the alert, but cards, chips and lammers are given to the watcher as they lie
(`tests.vision.rounds.stand_ins`). Every mistake that is not found and every false alert is a fault
of the rules, of rest detection or of the simulator. A shift of four rounds takes some 20 s of a
core; finished ones are kept in `--out`. `--dense` puts mistakes of all kinds into every shift,
`--broken` takes the shifts of `benchmarks.broken_rounds` instead, which have no mistakes, and
`--catalogue` those of `feltwatch bench money --catalogue`.
Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from benchmarks import broken_rounds
from benchmarks.money.catalogue import shift_of_catalogue
from benchmarks.money.plan import FAULTS, ROUNDS, Shift, numbers
from datasets.render.scene import FeltState, SensorItem
from datasets.simulate.displays import with_displays
from datasets.simulate.lamps import with_lamps
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.shift import Scenery, Wishes, simulate
from settlement.declared import declared_faults, read_feed
from surveillance.alerts.declared_facts import with_facts
from surveillance.alerts.judge import judge
from surveillance.cli.recordings.score_cmd import score_files
from surveillance.reports.score import Score
from surveillance.reports.score_merge import together
from tests.vision.rounds.stand_ins import World
from vision.geometry.table import load_table
from vision.rounds.watcher import TableWatcher
from vision.sources.base import Frame

FPS, SIZE = 5, (1920, 1080)
MOST_SHIFTS = 100_000


def wishes_of(shift: Shift) -> Wishes:
    """What a shift of the plan of `feltwatch bench money` is to be, in 1080p."""
    faults = FaultPlan() if shift.faults == "none" else FaultPlan.parse(shift.faults)
    return Wishes(
        seed=shift.seed, rounds=ROUNDS, fps=FPS, game=shift.game, faults=faults, size=SIZE,
        jackpots="plain" if shift.table == "jackpots" else "none",
        commission_later=shift.table == "afterwards", events=EventPlan.parse(shift.events),
    )  # fmt: skip


def broken_wishes(shift: broken_rounds.Shift) -> Wishes:
    """The same of a shift of `benchmarks.broken_rounds`."""
    return Wishes(
        seed=shift.seed, rounds=broken_rounds.ROUNDS, fps=FPS, game=shift.game, size=SIZE,
        events=EventPlan.parse(shift.events), seats=broken_rounds.SEATS, dealers=shift.dealers,
        pace=broken_rounds.PACE,
    )  # fmt: skip


def watch(wishes: Wishes, out: Path) -> None:
    """Play a shift and write its truth, and the records and alerts of perfect readings."""
    simulate(out, wishes, truth_only=True)
    scenery = Scenery(wishes)
    plan = with_displays(wishes.plan(scenery.table), scenery.table)
    plan = with_lamps(plan, scenery.table, wishes.sensors(scenery.table))
    table = load_table(out / "table.toml")
    seats = [seat.seat for seat in table.seats]
    feed = read_feed(
        out / "feed.jsonl", table.declared, lambda one: declared_faults(one, seats, table.rules)
    )
    world = World(scenery.table, scenery.cameras[""], scenery.cards)
    with pytest.MonkeyPatch.context() as patch:
        world.watch_patches(patch)
        watcher = TableWatcher(table, world.networks, "film")
        state, left = FeltState(), sorted(plan.changes, key=lambda change: change.t_s)
        rounds = []
        for k, (t, planes) in enumerate(scenery.film.frames(plan, FPS)):
            while left and left[0].t_s <= t:
                state.apply(left.pop(0))
            world.items = {k: i for k, i in state.items.items() if not isinstance(i, SensorItem)}
            shot = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            rounds += watcher.feed(Frame("film", k, Fraction(k, FPS), shot))
        rounds += watcher.finish()
    judged = [judge(with_facts(one, table, feed), table) for one in rounds]
    alerts = [alert for one in judged for alert in one.alerts]
    (out / "alerts.jsonl").write_text("".join(alert.to_json() + "\n" for alert in alerts))
    (out / "rounds.jsonl").write_text("".join(one.record.to_json() + "\n" for one in judged))


def losses(number: int, score: Score) -> list[dict[str, Any]]:
    """The codes of a shift of which mistakes were missed or alerts false."""
    assert score.alerts is not None
    return [
        {
            "shift": number, "code": code,
            "missed": own["faults"] - own["found"], "false": own["false"],
        }
        for code, own in sorted(score.alerts.by_code.items())
        if own["found"] < own["faults"] or own["false"]
    ]  # fmt: skip


def main() -> None:
    """Watch the shifts that are not there yet, and print the score of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="Folder; what it holds is kept.")
    parser.add_argument("--name", required=True, help="Its hash draws the shifts.")
    parser.add_argument("--shifts", default="0-9", help="Numbers such as 0-3,7.")
    parser.add_argument("--dense", action="store_true", help="Mistakes of all kinds everywhere.")
    parser.add_argument("--catalogue", action="store_true", help="Shifts of the whole catalogue.")
    parser.add_argument("--broken", action="store_true", help="Rounds that do not go as usual.")
    given = parser.parse_args()
    scores, lost = [], []
    for number in numbers(given.shifts, MOST_SHIFTS):
        drawn = shift_of_catalogue if given.catalogue else Shift.of
        shift = drawn(given.name, number)
        if given.dense:
            has_lammers = shift.game != "imperial_pai_gow_draw"
            shift = replace(
                shift, faults=FAULTS[2] if has_lammers else FAULTS[2].replace("LAMMER:0.1,", "")
            )
        out = given.out / f"{number:03d}"
        if not (out / "rounds.jsonl").exists():
            own = broken_rounds.Shift.of(given.name, number)
            watch(broken_wishes(own) if given.broken else wishes_of(shift), out)
        files = (
            out / name for name in ("truth.jsonl", "rounds.jsonl", "alerts.jsonl", "table.toml")
        )
        scores.append(score_files(*files))
        lost += losses(number, scores[-1])
    whole = together(scores).as_dict()
    print(json.dumps({"name": given.name, "dense": given.dense, **whole, "lost": lost}, indent=1))


if __name__ == "__main__":
    main()
