"""How reliably a banker's button or dice cup is found: rendered 4K frames, filmed and decoded.

Every table has a camera, light, felt and marker of its own. Its first frame shows the marker
alone, and is enrolled as `feltwatch banker enrol` does it. The others show it before a seat or at
the house, beside chips and cards and markers of other designs; or nowhere, between two seats,
under an arm, or twice. Each place is read as the audit reads it.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import av
import numpy as np

from datasets.render.banker_markers import MARKER_KINDS, MarkerLook
from datasets.render.scene import CardItem, Change, Item, Reach, ShiftPlan, StackItem
from datasets.simulate.filming.encode import encode
from datasets.simulate.shift import Scenery, Wishes
from models.intervals import wilson
from settlement.record import DECK_LABELS
from vision.bank.marker_enrolment import NotEnrolledError, marker_at
from vision.bank.marker_match import Likeness, MarkerSample, find_marker, probability
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.marker_places import marker_places
from vision.geometry.table import BankerMarker, Place, Point, TableFile
from vision.rounds.procedure.marker_bank import one_place

CASES = (("seat", 0.55), ("house", 0.13), ("absent", 0.1), ("between", 0.08), ("hidden", 0.07),
         ("twice", 0.07))  # fmt: skip
OTHERS = 4
"""Markers of other designs at each table."""

OFF_MM = 12.0
"""Standard deviation of how far from its place a marker is put down."""

MOST_OFF_MM = 40.0


@dataclass(frozen=True)
class Scene:
    """One frame: what lies there, which case it is, and the places where the marker lies."""

    case: str
    items: tuple[Item, ...]
    lies: frozenset[int | None]
    arm_mm: Point | None = None


@dataclass
class MarkerTable:
    """A table with its marker, and frames of it; `seed` draws everything."""

    seed: int
    frames: int
    rng: np.random.Generator = field(init=False)
    looks: dict[str, MarkerLook] = field(init=False)

    def __post_init__(self) -> None:
        """Draw the table, its marker and those of other designs."""
        self.rng = np.random.default_rng([self.seed, 5])
        self.scenery = Scenery(Wishes(seed=self.seed, rounds=1, game="pai_gow_poker"))
        self.table: TableFile = self.scenery.table
        self.places = marker_places(self.table)
        kind = MARKER_KINDS[self.seed % len(MARKER_KINDS)]
        self.own = MarkerLook.draw(kind, self.rng)
        self.others = [
            MarkerLook.draw(MARKER_KINDS[int(self.rng.integers(2))], self.rng)
            for _ in range(OTHERS)
        ]
        self.others[0] = MarkerLook.draw(kind, self.rng)
        self.looks = self.scenery.film.markers

    def scenes(self) -> list[Scene]:
        """The scene that is enrolled, and those that are read."""
        seat = self.table.seats[int(self.rng.integers(len(self.table.seats)))].seat
        first = self._lay("enrol", self.own, self.places[seat].center_mm)
        names, shares = zip(*CASES, strict=True)
        drawn = [str(self.rng.choice(names, p=shares)) for _ in range(self.frames)]
        return [
            Scene("enrol", (first,), frozenset({seat})),
            *(self._scene(n, case) for n, case in enumerate(drawn)),
        ]

    def _lay(self, key: str, look: MarkerLook, at_mm: Point) -> Item:
        self.looks[key] = look
        return look.item(key, at_mm, float(self.rng.uniform(0, 360)))

    def _scene(self, n: int, case: str) -> Scene:
        seats = [seat.seat for seat in self.table.seats]
        lies: list[int | None] = []
        if case == "house":
            lies = [None]
        elif case == "twice":
            lies = [int(v) for v in self.rng.choice(seats, 2, replace=False)]
        elif case != "absent":
            lies = [int(self.rng.choice(seats))]
        items: list[Item] = list(self._bets(n))
        at_mm: Point | None = None
        for k, place in enumerate(lies):
            at_mm = self._about(self.places[place])
            if case == "between":
                at_mm = self._between(int(place or 0))
            own = self._lay(f"{n}.own{k}", self.own, at_mm)
            items += [own, *self._beside(f"{n}.{k}", at_mm)]
        for place, where in self.places.items():
            if place not in lies:
                items += self._else(f"{n}.at{place}", where)
        found = frozenset() if case in ("between", "hidden") else frozenset(lies)
        return Scene(case, tuple(items), found, at_mm if case == "hidden" else None)

    def _about(self, place: Place) -> Point:
        off = np.clip(self.rng.normal(0, OFF_MM, 2), -MOST_OFF_MM / 1.5, MOST_OFF_MM / 1.5)
        x, y = place.to_felt(off[None])[0].tolist()
        return (x, y)

    def _between(self, seat: int) -> Point:
        other = seat + 1 if seat + 1 in self.places else seat - 1
        a, b = (np.asarray(self.places[one].center_mm) for one in (seat, other))
        x, y = (a + (b - a) * self.rng.uniform(0.47, 0.53)).tolist()
        return (x, y)

    def _bets(self, n: int) -> Iterator[Item]:
        """Chips on spots and hands in boxes, as they lie before the settling."""
        colours = list(self.table.chips)
        for seat in self.table.seats:
            if self.rng.random() < 0.2:
                continue
            for name, spot in seat.spots.items():
                if self.rng.random() < 0.7:
                    yield self._stack(f"{n}.{seat.seat}.{name}", spot.center_mm, colours)
            up = bool(self.rng.random() < 0.5)
            for k, box in enumerate((seat.low, seat.high)):
                label = str(self.rng.choice(DECK_LABELS))
                angle = seat.place.angle_deg + float(self.rng.normal(0, 3))
                yield CardItem(f"{n}.{seat.seat}.c{k}", label, box.center_mm, angle, up)

    def _stack(self, key: str, at_mm: Point, colours: list[str]) -> StackItem:
        chips = [str(v) for v in self.rng.choice(colours, int(self.rng.integers(1, 9)))]
        return StackItem(key, at_mm, tuple(chips))

    def _beside(self, key: str, at_mm: Point) -> Iterator[Item]:
        """Chips or a card whose edge is 1 to 14 mm from the marker's."""
        chance = self.rng.random()
        if chance > 0.6:
            return
        turn, gap = self.rng.uniform(0, 2 * math.pi), self.rng.uniform(1, 14)
        far = self.own.diameter_mm / 2 + gap + (20 if chance < 0.4 else 45)
        to = (at_mm[0] + far * math.cos(turn), at_mm[1] + far * math.sin(turn))
        if chance < 0.4:
            yield self._stack(f"{key}.beside", to, list(self.table.chips))
        else:
            label = str(self.rng.choice(DECK_LABELS))
            angle = math.degrees(turn) + 90
            yield CardItem(f"{key}.beside", label, to, angle, bool(self.rng.random() < 0.5))

    def _else(self, key: str, place: Place) -> Iterator[Item]:
        """What lies at a place where the marker does not: mostly nothing."""
        chance, at_mm = self.rng.random(), self._about(place)
        if chance < 0.25:
            look = self.others[int(self.rng.integers(len(self.others)))]
            yield self._lay(f"{key}.other", look, at_mm)
        elif chance < 0.4:
            yield self._stack(f"{key}.chips", at_mm, list(self.table.chips))
        elif chance < 0.5:
            label = str(self.rng.choice(DECK_LABELS))
            yield CardItem(f"{key}.card", label, at_mm, float(self.rng.uniform(0, 360)),
                           bool(self.rng.random() < 0.5))  # fmt: skip

    def decoded(self, scenes: list[Scene]) -> Iterator[ByteArray]:
        """The scenes as a recording of 4K in H.264 shows them, uint8 (2160, 3840, 3) BGR."""
        changes, reaches = [], []
        lying: tuple[str, ...] = ()
        for t, scene in enumerate(scenes):
            changes.append(Change(float(t), scene.items, lying))
            lying = tuple(item.key for item in scene.items)
            if scene.arm_mm is not None:
                off = (scene.arm_mm[0], -250.0)
                hand = (scene.arm_mm[0], scene.arm_mm[1] + 30.0)
                reaches.append(Reach(t - 0.4, t + 0.4, "dealer", off, (hand, hand)))
        plan = ShiftPlan(float(len(scenes)), tuple(changes), tuple(reaches), ())
        film, wishes = self.scenery.film, self.scenery.wishes
        frames = ((round(t), planes) for t, planes in film.frames(plan, 1))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "film.mp4"
            encode(path, frames, wishes.size, 1, wishes.codec, wishes.crf, wishes.preset)
            with av.open(str(path)) as video:
                for frame in video.decode(video=0):
                    yield np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)


@dataclass(frozen=True)
class Read:
    """One place of one scene: whether the marker lies there (None: under an arm), how alike."""

    seed: int
    case: str
    place: int | None
    lies: bool | None
    likeness: Likeness
    off_mm: float


def read_table(seed: int, frames: int) -> tuple[list[list[Read]], float]:
    """Every place of every scene of a table, and the CPU seconds that the reading took.

    Raises NotEnrolledError where the marker cannot be enrolled.
    """
    own = MarkerTable(seed, frames)
    scenes = own.scenes()
    assert own.table.camera is not None
    calibration = Calibration.fit(own.table.camera)
    images = own.decoded(scenes)
    (seat,) = scenes[0].lies
    at_mm = own.places[seat].center_mm
    taken = marker_at(next(images), calibration, at_mm, own.own.diameter_mm, own.own.height_mm)
    sample = MarkerSample.of(BankerMarker(**taken.as_table_data()))
    out, spent = [], 0.0
    for scene, image in zip(scenes[1:], images, strict=True):
        reads = []
        true = [i.center_mm for i in scene.items if ".own" in i.key]
        for place, where in own.places.items():
            begun = process_time()
            found = find_marker(image, calibration, where.center_mm, sample)
            spent += process_time() - begun
            off = min((math.dist(found.center_mm, at) for at in true), default=math.inf)
            hidden = scene.case == "hidden" and math.dist(where.center_mm, true[0]) < MOST_OFF_MM
            lies = None if hidden else place in scene.lies
            reads.append(Read(seed, scene.case, place, lies, found.likeness, off))
        out.append(reads)
    return out, spent


def bench_banker_marker(
    *, tables: int, frames: int, seed: int, on_progress: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Count the scenes in which the bank is decided right, wrong or not at all.

    Tables have the seeds from `seed` on; buttons and cups take turns.
    """
    cases: Counter[tuple[str, str]] = Counter()
    refused, spent, reads = 0, 0.0, 0
    for number in range(tables):
        try:
            scenes, seconds = read_table(seed + number, frames)
        except NotEnrolledError:
            refused += 1
            continue
        spent += seconds
        for scene in scenes:
            reads += len(scene)
            said = one_place({read.place: probability(read.likeness) for read in scene})
            truth = [read.place for read in scene if read.lies]
            if said.doubt is not None:
                outcome = "undecided"
            else:
                outcome = "right" if [said.place] == truth else "wrong"
            cases[scene[0].case, outcome] += 1
        if on_progress is not None:
            on_progress((number + 1) / tables)
    one = [(cases[case, "right"], sum(cases[case, o] for o in ("right", "wrong", "undecided")))
           for case in ("seat", "house")]  # fmt: skip
    right, shown = sum(a for a, _ in one), sum(b for _, b in one)
    everything = sum(cases.values())
    wrong = sum(n for (_, outcome), n in cases.items() if outcome == "wrong")
    return {
        "tables": tables, "not_enrolled": refused, "scenes": everything,
        "marker_alone": {"right": right, "of": shown, "interval": wilson(right, shown)},
        "wrong": {"count": wrong, "of": everything, "interval": wilson(wrong, everything)},
        "by_case": {
            case: {o: cases[case, o] for o in ("right", "wrong", "undecided")} for case, _ in CASES
        },
        "cpu_ms_per_place": round(1000 * spent / max(1, reads), 2),
    }  # fmt: skip
