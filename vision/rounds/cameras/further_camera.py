"""A further camera of a table: it reads the stacks that the first one has found, and those that
the first one cannot see, at the moments at which the first one read them.

`OtherCamera` reads frames; `RecordedCamera` finds them in a recording.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from vision.chips.boxes import TOUCHING_MM, Box, FoundStack
from vision.chips.network_input.side_strip import MOST_CHIPS, ChipSize
from vision.chips.reading import ReadStack, read_at, read_known
from vision.chips.side_palette import Palette
from vision.chips.side_runtime import StripReader
from vision.chips.silhouette import HIDDEN_SHARE, behind, hidden_share, hides_behind, silhouette
from vision.chips.states import SAME_MM
from vision.chips.tilted_view import TiltedView
from vision.chips.top_height import height_by_both
from vision.detect.detections import ByteArray
from vision.detect.motion import RestWatch, hull, shrink
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration
from vision.geometry.table import (
    VIEW_MM,
    FloatArray,
    FurtherCamera,
    Place,
    Point,
    SeatPlace,
    TableFile,
)
from vision.health.felt_match import FELT_MATCH_MIN, felt_match
from vision.rounds.view_reader import MIN_CHIP_SCORE, NEAR_SPOTS_MM, ViewReading
from vision.sources.base import Frame
from vision.sources.moments import Moments

OTHER_STACK_MM = 30.0
"""What is found so near to a stack that is known is that stack."""

CLEAR = 0.9
"""A stack that is read with so much stands where it was read. This and the next three were chosen
on shifts 20 to 24 of "feltwatch judge 2026-11-27 d ways"."""

SEARCHED_CHIPS = 4
"""A base is looked for so many chips' shifts of the first camera to either side."""

STEP_CHIPS = 2
"""At every second one: it reads the same on shift 20 of "feltwatch judge 2026-11-27 d ways"."""

TOP_CHIPS = 1
"""By how many chips the height that is read may differ from that of the top that the first camera
sees."""

STEPS = 4
"""Places behind a tall stack are looked at so many to a chip's diameter."""

SEEN = 0.2
"""A place is seen where at most so much of a chip there would be hidden (chosen)."""

FELT_CHECKS = 5
GROW_MM = 36.0
HIGH_MM = 66.0
"""What moves before a stack of twenty chips moves there."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a further camera read of a seat at a moment of the first one.

    `shown` gives its patch about the seat, uint8 (h, w, 3) BGR, and the boxes (n, 4) px of the
    stacks in it. `blind` are, by the base (mm) of a stack that hides felt from the first camera,
    boxes in mm of that patch in which chips behind it would show.
    """

    stacks: tuple[ReadStack, ...]
    shown: Callable[[], tuple[ByteArray, FloatArray]]
    blind: Mapping[Point, tuple[Box, ...]] = field(default_factory=dict)


@dataclass
class OtherCamera:
    """Reads a table's stacks in frames of one of its further cameras.

    `first` is the first camera's calibration: where it is blind is looked for more.
    """

    table: TableFile
    part: FurtherCamera
    first: Calibration
    detector: SizedDetector
    reader: StripReader
    palette: Palette
    size: ChipSize
    calibration: Calibration = field(init=False)
    _watches: dict[int, RestWatch] = field(default_factory=dict)
    _small: tuple[Frame, npt.NDArray[np.int16]] | None = None

    def __post_init__(self) -> None:
        """Fit the camera to the felt; raises CalibrationError."""
        self.calibration = Calibration.fit(self.part)

    @property
    def name(self) -> str:
        """The camera's name in the table file."""
        return self.part.name

    def is_at_rest(self, seat: SeatPlace, before: Frame, now: Frame) -> bool:
        """Whether a frame after one a little before it shows the seat at rest."""
        watch = self._watches.get(seat.seat)
        if watch is None:
            felt = [spot.array for spot in seat.spots.values()]
            parts = [*felt, *(self.calibration.lift(at, HIGH_MM) for at in felt)]
            watch = RestWatch(self.calibration, hull(parts, GROW_MM))
            self._watches[seat.seat] = watch
        watch.look(shrink(before.luma))
        watch.look(self._shrunk(now))
        return watch.still > 0

    def read(self, frame: Frame, seat: SeatPlace, known: Sequence[ReadStack]) -> list[ReadStack]:
        """The stacks about a seat in a frame, those `known` to the first camera and those that
        are hidden from it."""
        bases = [np.asarray(stack.center_mm) for stack in known]
        bases += self._hidden_from_first(frame, seat, known)
        found = [FoundStack.at(base, self.calibration, seat.place, self.size) for base in bases]
        read = read_known(
            frame.bgr(), self.calibration, self.palette, self.size, found, self.reader
        )
        for stack in known:
            near = [one for one in read if math.dist(one.center_mm, stack.center_mm) <= SAME_MM]
            own = min(near, key=lambda one: math.dist(one.center_mm, stack.center_mm), default=None)
            sure = own is not None and own.probability >= CLEAR
            others = [one for one in read if one is not own]
            if stack.below or not (sure or stack.probability >= CLEAR):
                moved = self._searched(frame, seat, stack, others)
                if moved is not None:
                    read, own = [*others, moved], None
            if own is not None and not stack.below:
                read = [*others, self._with_height(own, stack)]
        return read

    def _with_height(self, own: ReadStack, first: ReadStack) -> ReadStack:
        """A stack with the height of its uppermost face, which the first camera sees too."""
        tops = first.posterior.top, own.posterior.top
        if tops[0] is None or tops[1] is None:
            return own
        cameras = self.first, self.calibration
        return replace(
            own,
            height=height_by_both(
                (tops[0], tops[1]), cameras, own.center_mm, self.size.thickness_mm
            ),
        )

    def _searched(
        self, frame: Frame, seat: SeatPlace, stack: ReadStack, others: Sequence[ReadStack]
    ) -> ReadStack | None:
        """A stack whose base the first camera does not see, at the base where it reads clearly.

        The first camera sees its top: the nearer to that camera it stands, the more chips it has.
        """
        first = FoundStack.at(np.asarray(stack.center_mm), self.first, seat.place, self.size)
        about = [(np.asarray(one.center_mm), len(one.colours)) for one in others]
        least = 0 if stack.below else -SEARCHED_CHIPS
        ways = [
            (chips, first.moved(-chips).base)
            for chips in range(least, MOST_CHIPS if stack.below else SEARCHED_CHIPS + 1, STEP_CHIPS)
            if len(stack.colours) + chips > 0
        ]
        free = [
            (chips, base) for chips, base in ways
            if all(math.dist(base, at) >= self.size.diameter_mm - TOUCHING_MM for at, _ in about)
        ]  # fmt: skip
        if not free:
            return None
        read = read_at(
            frame.bgr(), self.calibration, self.palette, self.size, seat.place,
            [base for _, base in free], about, self.reader,
        )  # fmt: skip
        is_clear = stack.probability * (1 + stack.below) >= 0.5
        best: ReadStack | None = None
        for (chips, base), own in zip(free, read, strict=True):
            seen = own.best
            if seen is None or seen.probability < CLEAR:
                continue
            off = abs(len(seen.chips) - len(stack.colours) - chips)
            if is_clear and off > TOP_CHIPS:
                continue
            if best is None or seen.probability > best.probability:
                names = tuple(self.palette.names[chip] for chip in seen.chips)
                at = (float(base[0]), float(base[1]))
                best = ReadStack(at, names, stack.box_mm, own, first_mm=stack.center_mm)
        return best

    def blind_boxes(
        self, seat: SeatPlace, known: Sequence[ReadStack], read: Sequence[ReadStack]
    ) -> dict[Point, tuple[Box, ...]]:
        """Where chips behind those `known` stacks that hide felt from the first camera would show,
        by base: boxes in mm of the patch about the seat.

        Without those of which this camera does not see all; `read` is what it read about the seat.
        """
        view = TiltedView.of(self.calibration, seat.place, self.detector.size)
        stacks = [(np.asarray(s.center_mm), len(s.colours)) for s in (*read, *known)]
        out = {}
        for stack in known:
            places = self._blind(stack)
            covered = (hidden_share(self.calibration, p, 1, self.size, stacks) for p in places)
            if not places or any(share > SEEN for share in covered):
                continue
            px = view.boxes([silhouette(self.calibration, p, 1, self.size) for p in places])
            if px.min() >= 0 and px.max() < self.detector.size:
                mm = px * (VIEW_MM / self.detector.size) - VIEW_MM / 2
                out[stack.center_mm] = tuple((x0, y0, x1, y1) for x0, y0, x1, y1 in mm.tolist())
        return out

    def _blind(self, stack: ReadStack) -> list[FloatArray]:
        """Where a chip may lie behind a stack that hides it from the first camera, mm."""
        base, chips = np.asarray(stack.center_mm), len(stack.colours)
        if not hides_behind(self.first, base, chips, self.size):
            return []
        near = behind(self.first, base, self.size)
        away = (near - base) / np.hypot(*(near - base))
        side = np.array([-away[1], away[0]])
        step = self.size.diameter_mm / STEPS
        out = []
        for across in (-step, 0.0, step):
            for far in range(MOST_CHIPS):
                at = near + away * step * far + side * across
                if hidden_share(self.first, at, 1, self.size, [(base, chips)]) < HIDDEN_SHARE:
                    break
                out.append(at)
        return out

    def patch(self, frame: Frame, place: Place) -> ByteArray:
        """The patch of a frame about a place, uint8 (size, size, 3) BGR."""
        return TiltedView.of(self.calibration, place, self.detector.size).cut(frame.bgr())

    def boxes(self, place: Place, stacks: Sequence[ReadStack]) -> FloatArray:
        """Boxes (n, 4) of stacks in the patch about a place, px."""
        view = TiltedView.of(self.calibration, place, self.detector.size)
        return view.boxes([
            silhouette(self.calibration, np.asarray(s.center_mm), len(s.colours), self.size)
            for s in stacks
        ])  # fmt: skip

    def _hidden_from_first(
        self, frame: Frame, seat: SeatPlace, known: Sequence[ReadStack]
    ) -> list[FloatArray]:
        """Bases of stacks that the detector finds where the first camera is blind."""
        tall = [(np.asarray(s.center_mm), len(s.colours)) for s in known]
        if not any(hides_behind(self.first, base, chips, self.size) for base, chips in tall):
            return []
        view = TiltedView.of(self.calibration, seat.place, self.detector.size)
        chips = self.detector.find([view.cut(frame.bgr())])[0].of("chip")
        sure = chips.where(chips.scores >= MIN_CHIP_SCORE)
        centers = [spot.center_mm for spot in seat.spots.values()]
        out: list[FloatArray] = []
        for base in view.bases(sure.xyxy[np.argsort(-sure.scores)].astype(np.float64), self.size):
            taken = [*(at for at, _ in tall), *out]
            if (
                min(math.dist(base, at) for at in centers) < NEAR_SPOTS_MM
                and all(math.dist(base, at) >= OTHER_STACK_MM for at in taken)
                and hidden_share(self.first, base, 1, self.size, tall) >= HIDDEN_SHARE
            ):
                out.append(base)
        return out

    def _shrunk(self, frame: Frame) -> npt.NDArray[np.int16]:
        if self._small is None or self._small[0] is not frame:
            self._small = (frame, shrink(frame.luma))
        return self._small[1]


@dataclass
class RecordedCamera:
    """A further camera whose recording is opened at the moments of a round that has ended."""

    other: OtherCamera
    moments: Moments
    matches: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The camera's name in the table file."""
        return self.other.name

    def beside(self, seat: SeatPlace, reading: ViewReading, at_s: float) -> Beside | None:
        """What it shows at `at_s` of a seat that looks as at a reading; None where it shows no
        rest."""
        found = self.moments.at(at_s)
        if found is None or not self._is_this_table(found[1]):
            return None
        frame = found[1]
        if not self.other.is_at_rest(seat, *found):
            return None
        stacks = tuple(self.other.read(frame, seat, reading.stacks))
        return Beside(
            stacks,
            lambda: (
                self.other.patch(frame, seat.place),
                self.other.boxes(seat.place, stacks),
            ),
            self.other.blind_boxes(seat, reading.stacks, stacks),
        )

    def faults(self) -> list[str]:
        """What of its recording could not be used, in words."""
        if self.matches and max(self.matches) < FELT_MATCH_MIN and not self._undecided_table():
            return [
                f"camera {self.name}: the picture does not show the felt where the table file "
                f"says (print match {max(self.matches):.2f}): it was left out"
            ]
        if not self.moments.missed:
            return []
        why = f": {self.moments.fault}" if self.moments.fault else ""
        return [
            f"camera {self.name}: no picture at {self.moments.missed} of {self.moments.asked} "
            f"moments{why}; there the first camera was read alone"
        ]

    def _is_this_table(self, frame: Frame) -> bool:
        if self._undecided_table():
            own = self.other
            self.matches.append(felt_match(frame.luma, own.table, own.calibration))
        return max(self.matches) >= FELT_MATCH_MIN

    def _undecided_table(self) -> bool:
        known = bool(self.matches) and max(self.matches) >= FELT_MATCH_MIN
        return not known and len(self.matches) < FELT_CHECKS
