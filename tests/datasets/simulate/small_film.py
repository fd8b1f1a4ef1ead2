"""A film of six seconds of two seats, with its table file, its truth and its recipe."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from datasets.render.scene import CardItem, Change, LammerItem, Reach, ShiftPlan, StackItem
from datasets.simulate.shift import Scenery, Wishes, _film, write_table
from vision.geometry.table import TableFile

WISHES = Wishes(seed=4, rounds=1, seats=2, fps=5, size=(1280, 720), preset="ultrafast", crf=12,
                deck=Path("jumbo"))  # fmt: skip


def plan_of(table: TableFile) -> ShiftPlan:
    """Seat 1 gets a stake, then two cards that fan; an arm comes over it and goes."""
    seat = table.seat(1)
    x, y = seat.spots["main"].center_mm
    cx, cy = seat.high.center_mm
    a = seat.place.angle_deg
    beside = seat.place.to_local(np.array([[cx, cy]])) + np.array([[26.0, 2.0]])
    bx, by = seat.place.to_felt(beside)[0].tolist()
    stake = StackItem("r1.1.main.stake0", (x, y), ("red", "red", "green"))
    low = CardItem("r1.1.card0", "9C", (cx, cy), a, True)
    high = CardItem("r1.1.card1", "KD", (bx, by), a + 2, True)
    back = CardItem("r1.2.card0", "2S", table.seat(2).high.center_mm, 10.0, False)
    envy = LammerItem("r1.1.lammer0", "envy", (x + 60, y), 10.0)
    return ShiftPlan(
        duration_s=6.0,
        changes=(Change(1.4, (stake, envy)), Change(2.8, (low, high, back))),
        reaches=(Reach(4.0, 4.8, "player", (cx, cy + 500), ((cx, cy + 300), (cx, cy), (cx, cy),
                                                            (cx, cy + 300))),),
        rounds=(),
    )  # fmt: skip


def small_film(out: Path, wishes: Wishes = WISHES) -> Path:
    """Film it into the new folder `out`."""
    out.mkdir()
    scenery = Scenery(wishes)
    paths = [out / "video.mp4", out / "frames.jsonl.gz"]
    _film(scenery, plan_of(scenery.table), 0.0, paths, True, None)
    write_table(scenery.table, out / "table.toml")
    (out / "recipe.json").write_text(json.dumps(wishes.recipe() | {"deck": "/some/where/jumbo"}))
    return out
