"""Rendered frames of lit, unlit and covered sensors of jackpot wagers, filmed and decoded.

Every table has a camera, light, glare, blur and felt of its own; every frame has another house's
sensors, some with their colour declared. Coins, pays, cards and arms cover some of them, stacks
beside them cover others in part.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import av
import cv2
import numpy as np

from datasets.render.chips import stack_hull_rings
from datasets.render.painter import card_corners
from datasets.render.scene import CardItem, Change, Item, Reach, SensorItem, ShiftPlan, StackItem
from datasets.render.sensors import at_place, draw_design
from datasets.simulate.filming.encode import encode
from datasets.simulate.filming.film import ARM_HEIGHT_MM, Film
from datasets.simulate.lamps import sensor_key
from datasets.simulate.shift import Scenery, Wishes
from settlement.games import JACKPOTS
from settlement.record import DECK_LABELS
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.lamps import SensorLamp, lamp_places
from vision.geometry.table import FloatArray, Point, TableFile
from vision.sensors.lamp_look import LampLook, cut_lamp, look_at

COVERS = ("coin", "pay", "card", "arm")
HIDDEN_SHARE, SEEN_SHARE = 0.6, 0.15
"""A lamp is hidden from this share of its disc on, and visible up to the other; between them
either is right."""

HALF_HIDDEN = 0.4

ARM_CLEAR_MM = 170.0
"""Other sensors this near an arm are left out: what it covers of them is not known."""

FRAME_S = 2.0
"""Frames are so far apart, and read in the middle: the coder has settled by then."""


@dataclass(frozen=True)
class Lamp:
    """One lamp of a frame: whether it is lit, and how much of it is covered, by what."""

    place: tuple[int, str]
    lit: bool
    cover: str
    hidden: float


@dataclass(frozen=True)
class Scene:
    """One frame: what lies there, the declared lamp, and the truth about every lamp."""

    design: SensorItem
    lamp: SensorLamp
    items: tuple[Item, ...]
    lamps: tuple[Lamp, ...]
    arm_mm: Point | None


@dataclass(frozen=True)
class Seen:
    """One lamp as it was seen, with its truth."""

    look: LampLook
    lamp: Lamp
    scene: Scene
    height_px: int

    @property
    def truth(self) -> int | None:
        """0 lit, 1 unlit, 2 hidden; None where it is half hidden."""
        if self.lamp.hidden >= HIDDEN_SHARE:
            return 2
        return None if self.lamp.hidden > SEEN_SHARE else 0 if self.lamp.lit else 1


@dataclass
class LampTable:
    """A table with jackpots and its camera; `seed` draws everything."""

    seed: int
    rng: np.random.Generator = field(init=False)
    table: TableFile = field(init=False)
    film: Film = field(init=False)

    def __post_init__(self) -> None:
        """Hang the camera, often a worse one than a shift's."""
        self.rng = rng = np.random.default_rng([self.seed, 82])
        size = (3840, 2160) if rng.random() < 0.5 else (1920, 1080)
        self.wishes = Wishes(
            seed=self.seed, rounds=1, jackpots="plain", size=size, crf=int(rng.integers(22, 33))
        )
        scenery = Scenery(self.wishes)
        self.table = scenery.table
        look = scenery._look
        faults = look.faults
        level = float(rng.uniform(0.75, 1.2))
        gains = [float(level * g * rng.uniform(0.94, 1.06)) for g in faults.gain]
        faults = replace(
            faults,
            gain=(gains[0], gains[1], gains[2]),
            gamma=float(rng.uniform(0.8, 1.25)),
            blur_px=float(rng.uniform(0.4, 1.6)) * size[0] / 3840,
            noise=float(rng.uniform(1.0, 4.0)),
        )
        look = replace(
            look, faults=faults, unevenness=float(rng.uniform(0.1, 1.0)),
            glare=float(rng.uniform(0.3, 1.0)) if rng.random() < 0.6 else 0.1,
        )  # fmt: skip
        self.camera = scenery.cameras[""]
        self.film = Film(self.table, self.camera, scenery.cards, look, scenery._rng)

    def scenes(self, count: int) -> list[Scene]:
        """So many frames' scenes."""
        return [self._scene(number) for number in range(count)]

    def _scene(self, n: int) -> Scene:
        rng = self.rng
        design = draw_design(rng)
        declared = design.rgb if rng.random() < 0.6 else None
        if declared is not None:
            # A person names a colour roughly.
            off = np.clip(np.array(declared) + rng.normal(0, 18, 3), 0, 255).astype(int).tolist()
            declared = (off[0], off[1], off[2])
        diameter = round(design.diameter_mm * float(rng.uniform(0.94, 1.06)), 1)
        places = lamp_places(self.table)
        items: list[Item] = []
        planned: list[tuple[tuple[int, str], bool, str]] = []
        arm: tuple[int, str] | None = None
        lit_share = float(rng.choice([0.15, 0.5, 0.9]))
        for place, at_mm in places.items():
            lit, cover = bool(rng.random() < lit_share), ""
            if rng.random() < 0.28:
                cover = str(rng.choice(COVERS))
            if cover == "arm":
                cover, arm = ("", arm) if arm is not None else ("arm", place)
            items.append(at_place(design, sensor_key(*place), at_mm, lit=lit))
            items += self._cover(f"{n}.{place}", cover, at_mm)
            planned.append((place, lit, cover))
        items += self._bets(n)
        arm_mm = None if arm is None else places[arm]
        lamps = []
        for place, lit, cover in planned:
            hidden = self._hidden(items, places[place], diameter)
            if arm_mm is not None:
                if place == arm:
                    hidden = 1.0
                elif abs(places[place][0] - arm_mm[0]) < ARM_CLEAR_MM:
                    hidden = max(hidden, HALF_HIDDEN)
            lamps.append(Lamp(place, lit, cover, hidden))
        lamp = SensorLamp(diameter_mm=diameter, rgb=declared)
        return Scene(design, lamp, tuple(items), tuple(lamps), arm_mm)

    def _cover(self, key: str, cover: str, at_mm: Point) -> Iterator[Item]:
        x, y = (at_mm + self.rng.normal(0, 3.0, 2)).tolist()
        names = list(self.table.chips)
        if cover in ("coin", "pay"):
            chips = 1 if cover == "coin" else int(self.rng.integers(2, 8))
            yield StackItem(f"{key}.on", (x, y), tuple(map(str, self.rng.choice(names, chips))))
        elif cover == "card":
            label = str(self.rng.choice(DECK_LABELS))
            up = bool(self.rng.random() < 0.5)
            yield CardItem(f"{key}.on", label, (x, y), float(self.rng.uniform(0, 360)), up)

    def _bets(self, n: int) -> Iterator[Item]:
        """Chips on the other spots and cards in the boxes."""
        rng, names = self.rng, list(self.table.chips)
        for seat in self.table.seats:
            if rng.random() < 0.2:
                continue
            for name, spot in seat.spots.items():
                if name not in JACKPOTS and rng.random() < 0.6:
                    chips = rng.choice(names, int(rng.integers(1, 11)))
                    x, y = (spot.center_mm + rng.normal(0, 4.0, 2)).tolist()
                    yield StackItem(f"{n}.{seat.seat}.{name}", (x, y), tuple(map(str, chips)))
            up = bool(rng.random() < 0.5)
            for k, box in enumerate((seat.low, seat.high)):
                angle = seat.place.angle_deg + float(rng.normal(0, 3))
                label = str(rng.choice(DECK_LABELS))
                yield CardItem(f"{n}.{seat.seat}.c{k}", label, box.center_mm, angle, up)

    def _hidden(self, items: list[Item], at_mm: Point, diameter_mm: float) -> float:
        """Which share of a lamp's disc chips and cards hide from the camera."""
        turn = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        radii = diameter_mm / 2 * np.sqrt(np.array([0.1, 0.4, 0.7, 0.95]))
        ring = np.column_stack([np.cos(turn), np.sin(turn)])
        points = self.camera.project(np.vstack([ring * r for r in radii]) + np.asarray(at_mm))
        covered = np.zeros(len(points), bool)
        for item in items:
            if np.hypot(item.center_mm[0] - at_mm[0], item.center_mm[1] - at_mm[1]) > 120:
                continue
            if isinstance(item, StackItem):
                parts = [self.camera.project(r, h) for r, h in stack_hull_rings(item, 24)]
            elif isinstance(item, CardItem):
                parts = [self.camera.project(card_corners(item, self.film.deck.size_mm))]
            else:
                continue
            outline = cv2.convexHull(np.vstack(parts).astype(np.float32))
            covered |= np.array([cv2.pointPolygonTest(outline, (float(x), float(y)), False) >= 0
                                 for x, y in points])  # fmt: skip
        return float(covered.mean())

    def decoded(self, scenes: list[Scene]) -> Iterator[ByteArray]:
        """The scenes as a recording in H.264 shows them, uint8 (h, w, 3) BGR."""
        changes, reaches = [], []
        lying: tuple[str, ...] = ()
        for n, scene in enumerate(scenes):
            t = n * FRAME_S
            changes.append(Change(t, scene.items, lying))
            lying = tuple(item.key for item in scene.items)
            if scene.arm_mm is not None:
                hand = self._over(scene.arm_mm)
                reaches.append(Reach(t, t + 1.5, "dealer", (hand[0], -250.0), (hand, hand)))
        plan = ShiftPlan(len(scenes) * FRAME_S, tuple(changes), tuple(reaches), ())
        frames = ((round(t), planes) for t, planes in self.film.frames(plan, 1))
        wishes = self.wishes
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "film.mp4"
            encode(path, frames, wishes.size, 1, wishes.codec, wishes.crf, wishes.preset)
            with av.open(str(path)) as video:
                for number, frame in enumerate(video.decode(video=0)):
                    if number % round(FRAME_S) == 1:
                        yield np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)

    def _over(self, at_mm: Point) -> Point:
        """Where a hand is that the camera sees over a point of the felt."""
        foot = np.asarray(self.camera.foot_mm)
        k = (self.camera.height_mm - ARM_HEIGHT_MM) / self.camera.height_mm
        x, y = (foot + (np.asarray(at_mm) - foot) * k).tolist()
        return (x, y)

    def seen(self, count: int) -> Iterator[Seen]:
        """Every lamp of so many frames."""
        scenes = self.scenes(count)
        camera = self.table.camera
        assert camera is not None
        calibration = Calibration.fit(camera)
        places = lamp_places(self.table)
        for scene, image in zip(scenes, self.decoded(scenes), strict=True):
            patches: list[FloatArray] = [cut_lamp(image, calibration, at) for at in places.values()]
            looks = look_at(patches, scene.lamp)
            for look, lamp in zip(looks, scene.lamps, strict=True):
                yield Seen(look, lamp, scene, image.shape[0])
