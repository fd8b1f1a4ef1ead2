"""The memory of a table's joker in the watcher: learned at a round's end, kept in the snapshot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from datasets.render.camera import play_area, synthetic_camera, table_camera
from datasets.render.cards.deck import draw_deck
from settlement.procedures import Phase
from tests.vision.cards.joker_hands import Played
from tests.vision.rounds.readings import TABLE, reading
from tests.vision.rounds.stand_ins import World
from vision.cards.joker_memory import JokerMemory
from vision.geometry.table import JOKER_PX, TableFile, encode_png
from vision.rounds.changes import find_changes
from vision.rounds.joker_learning import learn_joker
from vision.rounds.round_state import Episode, Round, Shot, ViewTrack
from vision.rounds.watcher import TableWatcher

CAMERA = synthetic_camera(
    TABLE.felt, height_mm=2700, tilt_deg=33, width_px=1280, height_px=720,
    keep_mm=play_area(TABLE), margin=0.05,
)  # fmt: skip
FILMED = TABLE.model_copy(update={"camera": table_camera(CAMERA, TABLE, 0.4, 3)})


def played_round(joker: int | None, ends: int = 1) -> Round:
    """A finished round of three hands, one with the joker."""
    played = Played(joker, ends=ends)
    tracks: dict[int | None, ViewTrack] = {}
    for seat, hand in played.shown.items():
        seen = replace(reading(cards=tuple(hand.indices)), joker_marks=tuple(hand.marks))
        shot = Shot(hand.view, seen)
        tracks[seat] = ViewTrack([Episode(0.0, [seen] * 3)], {"cards": shot})
    return Round(0.0, tracks, Phase.CLEARED)


def learned(rounds: int) -> JokerMemory:
    memory = JokerMemory()
    for k in range(rounds):
        own = played_round((1, 2, None)[k % 3])
        learn_joker(memory, TABLE, own, find_changes(TABLE, own))
    return memory


def watcher(table: TableFile = FILMED) -> TableWatcher:
    return TableWatcher(table, World(table, CAMERA, draw_deck()).networks, "film")


def test_the_shots_of_a_rounds_hands_teach_the_jokers_look() -> None:
    assert learned(1).samples == ()
    memory = learned(2)
    assert len(memory.samples) == 1
    assert [(look.rounds, look.needs) for look in memory.looks] == [(2, 2)]


def test_a_round_that_was_broken_off_teaches_nothing() -> None:
    memory = JokerMemory()
    own = played_round(1)
    own.broken_off = True
    learn_joker(memory, TABLE, own, find_changes(TABLE, own))
    assert memory.looks == []


def test_the_memory_goes_on_from_a_snapshot() -> None:
    first, whole = watcher(), watcher()
    for own in (first, whole):
        own._observed(played_round(1), 9.0, cut_short=False)
    snapshot = first.snapshot()
    again = watcher()
    again.restore(snapshot)
    assert again.snapshot() == snapshot
    for own in (again, whole):
        assert own.jokers.samples == ()
        own._observed(played_round(2), 19.0, cut_short=False)
    (one,), (other,) = again.jokers.samples, whole.jokers.samples
    assert (one.mark, one.image.tobytes()) == (other.mark, other.image.tobytes())
    assert again.snapshot() == whole.snapshot()


def test_an_enrolled_joker_keeps_precedence() -> None:
    enrolled = FILMED.model_copy(
        update={"joker_png": encode_png(np.full((JOKER_PX[1], JOKER_PX[0], 3), 200, np.uint8))}
    )
    own = watcher(enrolled)
    for seat in (1, 2, None):
        own._observed(played_round(seat), 9.0, cut_short=False)
    assert own.jokers.looks == []
    assert len(own.joker_samples()) == 1
    own = watcher()
    for seat in (1, 2):
        assert own.joker_samples() == ()
        own._observed(played_round(seat), 9.0, cut_short=False)
    assert own.joker_samples() == own.jokers.samples != ()
