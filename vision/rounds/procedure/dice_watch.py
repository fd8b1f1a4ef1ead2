"""The place of a table's dice, read whenever it comes to rest changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray
from vision.detect.motion import RestState, RestWatch, hull
from vision.dice.throw import LIKELY_DIE, SURE_DIE, DieReads, Total, read_frame, rectified, total_of
from vision.geometry.calibration import Calibration
from vision.geometry.dice import DicePlace
from vision.rounds.region_change import kept_picture

READS_PER_REST = 3
RIM_POINTS = 16

SAME_MM = 4.0
"""A die that was not moved is read this near to where it lay."""

NOT_SEEN = "no dice were seen before the first hand was dealt"


@dataclass
class DiceRest:
    """One state of rest of the place: what may be dice in each frame that was read."""

    start_s: float
    until_s: float
    frames: list[DieReads] = field(default_factory=list)
    picture: bytes = b""
    """A JPEG of the place, rectified, at the first reading."""

    @property
    def shows_dice(self) -> bool:
        """Whether something in it may be a die."""
        return any(one.die > LIKELY_DIE for frame in self.frames for one in frame)


@dataclass(frozen=True, slots=True)
class SeenDice:
    """What a round's dice showed, and the rest that shows it; none where no dice were seen."""

    total: Total
    rest: DiceRest | None = None


class DiceWatch:
    """Watches the place of one table's dice."""

    def __init__(self, place: DicePlace, calibration: Calibration) -> None:
        """Find the place in the image."""
        self._place, self._calibration = place, calibration
        turn = np.linspace(0, 2 * np.pi, RIM_POINTS, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * place.radius_mm + place.center_mm
        top = place.height_mm + place.die_mm
        outline = np.vstack([ring, calibration.lift(ring, top)])
        self._watch = RestWatch(calibration, hull([outline], 0.0))
        self.rests: list[DiceRest] = []
        self._fresh = False

    def look(self, small: npt.NDArray[np.int16]) -> bool:
        """Take a sample of the reduced luma in; whether the place is to be read."""
        if not self._watch.look(small):
            return False
        self._fresh = self._watch.changed() or not self.rests
        return self._fresh or len(self.rests[-1].frames) < READS_PER_REST

    def read(self, bgr: ByteArray, at_s: float) -> None:
        """Read the place in a frame, uint8 (h, w, 3) BGR."""
        if self._fresh:
            self._watch.remember()
            patch, _ = rectified(bgr, self._calibration, self._place)
            self.rests.append(DiceRest(at_s, at_s, picture=kept_picture(patch)))
        self.rests[-1].frames.append(read_frame(bgr, self._calibration, self._place))

    def seen(self, at_s: float) -> None:
        """Note that the place is at rest as it was read, if it is."""
        if self._watch.still and self.rests and not self._watch.changed():
            self.rests[-1].until_s = at_s

    @property
    def shown_s(self) -> float | None:
        """Since when dice have been at rest there now; None where none are."""
        last = self.rests[-1] if self.rests else None
        return last.start_s if last is not None and last.shows_dice else None

    def of_round(self, start_s: float) -> list[DiceRest]:
        """The states of rest since a round began; older ones are forgotten."""
        self.rests = [rest for rest in self.rests if rest.until_s >= start_s] or self.rests[-1:]
        return [rest for rest in self.rests if rest.until_s >= start_s]

    def state(self) -> tuple[RestState, list[DiceRest]]:
        """All that was seen so far."""
        return self._watch.state(), self.rests

    def set_state(self, state: tuple[RestState, list[DiceRest]]) -> None:
        """Go on from a `state`. Raises ValueError when it is of another place."""
        watch, self.rests = state
        self._watch.set_state(watch)


def read_dice(rests: Sequence[DiceRest], dealt_s: float, count: int) -> SeenDice:
    """What the dice of a round showed when its first hand was dealt.

    That is what the last decided rest before shows. Rests that an arm cut short after it are passed
    over where each die that they do show lies as it lay.
    """
    before = [rest for rest in rests if rest.start_s < dealt_s and rest.shows_dice]
    if not before:
        return SeenDice(Total(doubt=NOT_SEEN))
    last = SeenDice(total_of(before[-1].frames, count), before[-1])
    for rest in reversed(before):
        total = total_of(rest.frames, count)
        if total.values is not None:
            return SeenDice(total, rest)
        known = next((r for r in reversed(before) if total_of(r.frames, count).values), None)
        if known is None or not _lie_alike(rest, known):
            return last
    return last


def _lie_alike(rest: DiceRest, known: DiceRest) -> bool:
    """Whether each sure die of a rest lies where one of the same face lay in another."""
    there = [one for frame in known.frames for one in frame if one.die >= SURE_DIE]
    return all(
        any(
            math.dist(one.at_mm, other.at_mm) <= SAME_MM and one.value == other.value
            for other in there
        )
        for frame in rest.frames
        for one in frame
        if one.die >= SURE_DIE
    )
