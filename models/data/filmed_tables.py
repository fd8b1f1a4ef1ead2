"""Still images of simulated tables full of chip stacks, and the stacks as the detector finds them.

Where `datasets.training.sides` renders a stack by itself, these come the whole way: the simulator's
felt and chips, its sensor, a video coder, the detector's boxes and the masks of nearer stacks. So
bases are wrong as the detector puts them, and a stack's foot is hidden as it is at a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from datasets.render.appearance import print_rgb, restyled_rims
from datasets.render.chips import chip_places
from datasets.render.scene import StackItem
from datasets.simulate.chipwork import pay_places
from datasets.simulate.filming.still import coded_still
from datasets.simulate.house_tables import GAME_IDS
from datasets.simulate.laid_out import laid_out
from datasets.simulate.shift import Scenery, Wishes
from vision.chips.boxes import Box, FoundStack, without_spanning
from vision.chips.enrolment import sample_at
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    MOST_CHIPS,
    ROWS_PER_CHIP,
    ChipSize,
    cut_strip,
)
from vision.chips.silhouette import hidden_mask, silhouette
from vision.detect.detections import Detections
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, ChipKind, Place, SeatPlace, TableFile

FPS = 5
MOST_FRAMES = 4
"""Frames of a layout that are coded; the last of them is taken."""

FIRST_SCORE = 0.5
"""Boxes of chips with less are not read at a table either (`vision.rounds.view_reader`)."""

FEW_SHARE, SECOND_SHARE, THIRD_SHARE, SAME_SHARE = 0.25, 0.65, 0.25, 0.3
LONE = 12
"""Stacks that are laid anywhere in a seat's view, beside those of its spots."""

LEAN_SHARE, UNTIDY_SHARE = 0.3, 0.2
FAR_SHARE, WANDER_SHARE = 0.22, 0.15
"""How often a stack of a restyled table leans far, perhaps bent, and how often it wanders."""

FARTHEST_MM = 10.0
LIKE_CHIPS = 0.3
"""How often the felt of a restyled table is of a chip's colour."""

SECOND_CUT = 0.55
"""How often a strip is one of the second cut: where the first reading puts the base, with masks."""

MOVED_CHIPS, MOST_MOVED_CHIPS, ACROSS_MM = 0.5, 3.5, 9.0
"""A base that is further off is cut again; one off by more than the others is not this stack's."""

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FilmedStack:
    """A stack of a layout as the detector found it: the item, the box's stack, its error along the
    line of sight in chips, and whether it is the nearest to the item of all boxes."""

    item: StackItem
    found: FoundStack
    off_chips: float


class FilmedTable:
    """A simulated table under one camera, and still images of it through a video coder."""

    def __init__(self, seed: int, rng: np.random.Generator, *, restyled: bool = False) -> None:
        """Draw the table of a seed; `rng` draws what is laid on it and how it is coded.

        `restyled`: with rims of chips, and with postures of stacks, that the simulator does not
        draw.
        """
        self.rng, self.restyled = rng, restyled
        self.scenery = Scenery(
            Wishes(
                seed=seed, rounds=1, fps=FPS, game=str(rng.choice(GAME_IDS)),
                distortion=float(rng.choice([0.0, 0.0, -0.05, -0.1])),
            )
        )  # fmt: skip
        self.table: TableFile = self.scenery.table
        assert self.table.camera is not None
        self.calibration = Calibration.fit(self.table.camera)
        self.size = ChipSize(self.table.chip_diameter_mm, self.table.chip_thickness_mm)
        self.codec = "hevc" if rng.random() < 0.04 else "h264"
        self.crf = int(rng.integers(22, 30))
        self._laid: tuple[StackItem, ...] = ()
        if restyled:
            if rng.random() < LIKE_CHIPS:
                self._lay_felt_like_chips()
            chips = self.scenery.film.chips
            chips.update(restyled_rims(rng, chips))

    def _lay_felt_like_chips(self) -> None:
        """A felt of the colour of one of the chips, lighter or darker, under print of its own."""
        rng = self.rng
        kinds = list(self.table.chips.values())
        body = np.asarray(kinds[int(rng.integers(len(kinds)))].rgb)
        red, green, blue = np.clip(
            body * rng.uniform(0.5, 1.1) + rng.normal(0, 8, 3), 10, 170
        ).round().astype(int).tolist()  # fmt: skip
        felt = (red, green, blue)
        self.scenery.felted(felt, print_rgb(rng, felt))

    def image(self, items: Sequence[StackItem]) -> Bytes:
        """A frame uint8 (h, w, 3) BGR of these stacks, coded and decoded."""
        gone, self._laid = self._laid, tuple(items)
        return coded_still(
            self.scenery.film, items, gone, frames=int(self.rng.integers(1, MOST_FRAMES + 1)),
            fps=FPS, codec=self.codec, crf=self.crf,
        )  # fmt: skip

    def enrolled(self) -> dict[str, ChipKind]:
        """The table's chips with samples of stacks that are laid out for it."""
        stacks = {one.chip: one.item for one in laid_out(self.table)}
        frame = self.image(list(stacks.values()))
        kinds = {}
        for name, item in stacks.items():
            base = np.asarray(item.center_mm) + self.rng.normal(0, 0.7, 2)
            own = sample_at(frame, self.calibration, base, self.size)
            kinds[name] = self.table.chips[name].model_copy(update=own.as_table_data())
        return kinds

    def layout(self) -> list[StackItem]:
        """Stacks on every spot, most of them with others beside, as stakes and payouts lie."""
        rng, names = self.rng, list(self.table.chips)
        items: list[StackItem] = []
        for seat in self.table.seats:
            for wager, spot in seat.spots.items():
                if rng.random() < 0.12:
                    continue
                center = np.asarray(spot.center_mm, np.float64) + rng.normal(0, 3, 2)
                colours = self._colours(names)
                items.append(self._stack(center, colours))
                for share in (SECOND_SHARE, THIRD_SHARE):
                    if rng.random() > share:
                        break
                    at = self._beside(center, seat, wager)
                    if any(math.dist(at, one.center_mm) < self.size.diameter_mm for one in items):
                        continue
                    other = colours if rng.random() < SAME_SHARE else self._colours(names)
                    items.append(self._stack(at, other))
            for _ in range(LONE):
                local = rng.uniform(-0.4 * VIEW_MM, 0.4 * VIEW_MM, (1, 2))
                at = np.asarray(seat.place.to_felt(local)[0])
                if all(math.dist(at, one.center_mm) > 1.15 * self.size.diameter_mm
                       for one in items):  # fmt: skip
                    items.append(self._stack(at, self._colours(names)))
        return items

    def _beside(self, center: Floats, seat: SeatPlace, wager: str) -> Floats:
        rng = self.rng
        if rng.random() < 0.6:
            places = pay_places(wager)
            local = np.asarray([places[int(rng.integers(len(places)))]])
            own = Place(center_mm=(float(center[0]), float(center[1])),
                        angle_deg=seat.place.angle_deg)  # fmt: skip
            return np.asarray(own.to_felt(local)[0] + rng.normal(0, 2, 2))
        turn, far = rng.uniform(0, 2 * math.pi), self.size.diameter_mm + abs(rng.normal(0, 5)) + 0.3
        return np.asarray(center + far * np.array([math.cos(turn), math.sin(turn)]))

    def _colours(self, names: Sequence[str]) -> tuple[str, ...]:
        rng = self.rng
        n = int(rng.integers(1, 5 if rng.random() < FEW_SHARE else MOST_CHIPS + 1))
        runs = int(min(n, rng.choice([1, 2, 3, 4], p=[0.5, 0.3, 0.15, 0.05]), len(names)))
        cuts = (
            sorted(rng.choice(np.arange(1, n), runs - 1, replace=False).tolist()) if n > 1 else []
        )
        own: list[int] = rng.choice(len(names), runs, replace=False).tolist()
        if rng.random() < 0.8:
            # Larger values lie below.
            own.sort(key=lambda k: -self.table.chips[names[k]].value_cents)
        return tuple(names[k] for k in np.repeat(own, np.diff([0, *cuts, n])))

    def _stack(self, at: Floats, colours: tuple[str, ...]) -> StackItem:
        rng, n = self.rng, len(colours)
        lean = (0.0, 0.0)
        if n > 2:
            loose = min(2.0, 0.12 * n) * (
                rng.uniform(0.4, 1.6) if rng.random() < LEAN_SHARE else 0.5
            )
            lean = (float(rng.normal(0, loose)), float(rng.normal(0, loose)))
        untidy = float(rng.uniform(0.1, 0.5)) if n > 2 and rng.random() < UNTIDY_SHARE else 0.0
        bend, wander = 1.0, 0.0
        if self.restyled and n > 1:
            if rng.random() < FAR_SHARE:
                turn, bend = rng.uniform(0, 2 * math.pi), float(rng.uniform(0.7, 1.7))
                far = min(FARTHEST_MM, 0.8 * n) * rng.uniform(0.3, 1.0)
                lean = (float(far * math.cos(turn)), float(far * math.sin(turn)))
            if rng.random() < WANDER_SHARE:
                wander = float(rng.uniform(0.2, 0.9))
        x, y = (round(float(v), 2) for v in at)
        return StackItem(f"s{rng.integers(2**40)}", (x, y), colours, lean, untidy, bend, wander)

    def found(
        self, frame: Bytes, items: Sequence[StackItem], detector: SizedDetector
    ) -> list[FilmedStack]:
        """The stacks that the detector finds in the seats' views, each with its item."""
        out: dict[str, FilmedStack] = {}
        bases = np.array([item.center_mm for item in items])
        views = [
            self.calibration.warp_view(frame, s.place, detector.size) for s in self.table.seats
        ]
        for seat, found in zip(self.table.seats, detector.find(views), strict=True):
            for k, one, off in matched_stacks(
                found, detector.size, self.calibration, seat.place, self.size, bases
            ):
                # A spot may lie in two seats' views.
                out.setdefault(items[k].key, FilmedStack(items[k], one, off))
        return list(out.values())

    def strip(
        self, frame: Bytes, stack: FilmedStack, items: Sequence[StackItem]
    ) -> tuple[Bytes, Floats, float]:
        """The strip with its mask, the base it is cut at, and the share of the wall in view."""
        foot = np.asarray(self.calibration.foot_mm)
        true = np.asarray(stack.item.center_mm)
        nearer = [
            silhouette(
                self.calibration, np.asarray(other.center_mm),
                max(1, len(other.colours) + int(self.rng.choice([-1, 0, 0, 0, 0, 0, 0, 1]))),
                self.size,
            )
            for other in items
            if other.key != stack.item.key
            and math.dist(other.center_mm, foot) < math.dist(true, foot)
            and math.dist(other.center_mm, true) < 140
        ]  # fmt: skip
        found = stack.found
        if self.rng.random() < SECOND_CUT and abs(stack.off_chips) > MOVED_CHIPS:
            found = found.moved(stack.off_chips + float(self.rng.normal(0, 0.15)))
        hidden = hidden_mask(self.calibration, found.base, self.size, nearer)
        own = cut_strip(frame, self.calibration, found.base, self.size)
        low = round(self.base_row(found, true))
        wall = hidden[max(0, low) : low + ROWS_PER_CHIP * len(stack.item.colours), 8:40]
        seen = 1 - float((wall > 0).mean()) if wall.size else 0.0
        if self.rng.random() > SECOND_CUT:
            hidden = np.zeros_like(hidden)
        return np.dstack([own, hidden]), found.base, seen

    @staticmethod
    def base_row(found: FoundStack, true: Floats) -> float:
        """The row of the true base in the strip that is cut at the found one."""
        off = float((true - found.base) @ found.up) / found.per_chip_mm
        return ROWS_PER_CHIP * (BELOW_CHIPS + off)


def matched_stacks(
    found: Detections, view_px: int, calibration: Calibration, place: Place, size: ChipSize,
    bases_mm: Floats,
) -> Iterator[tuple[int, FoundStack, float]]:  # fmt: skip
    """The stacks in a view of `view_px`, each with the base (of (n, 2) mm) that it is of and how
    far that is along the line of sight, in chips."""
    mm = VIEW_MM / view_px
    chips = found.of("chip")
    boxes: list[Box] = [
        (x0 * mm - VIEW_MM / 2, y0 * mm - VIEW_MM / 2, x1 * mm - VIEW_MM / 2, y1 * mm - VIEW_MM / 2)
        for (x0, y0, x1, y1), score in zip(
            chips.xyxy.astype(float).tolist(), chips.scores, strict=True
        ) if score >= FIRST_SCORE
    ]  # fmt: skip
    for box in without_spanning(boxes):
        one = FoundStack.of(box, calibration, place, size)
        off = bases_mm - one.base
        along = off @ one.up / one.per_chip_mm
        across = off @ np.array([-one.up[1], one.up[0]])
        k = int(np.hypot(along * one.per_chip_mm, across).argmin())
        if abs(along[k]) <= MOST_MOVED_CHIPS and abs(across[k]) <= ACROSS_MM:
            yield k, one, float(along[k])


def leaning(item: StackItem) -> float:
    """The most that a chip of the stack lies out of line with the one below, mm."""
    centers = np.asarray(chip_places(item)[0])
    if len(centers) < 2:
        return 0.0
    return float(np.hypot(*np.diff(centers, axis=0).T).max())
