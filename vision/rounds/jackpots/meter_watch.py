"""The displays of jackpot meters: watched all the time, read when a round is settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from settlement.declared import meter_place
from settlement.procedures import Phase
from settlement.record import Meter, RoundRecord, Undecided
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.displays import MeterDisplay
from vision.meters.reading import Crop, MeterReading, corners_px, read_meter
from vision.rounds.round_state import Round

KEPT = 10
"""Images of each display that are kept."""
APART_S = 0.5
KEPT_S = 12.0
"""Older images do not count: an arm may hide a display for some seconds, no longer."""


@dataclass
class MeterMemory:
    """What was seen of all displays, by place in the table file."""

    images: list[list[tuple[float, ByteArray]]]
    """Of each display, times (s) and crops uint8 (h, w), the oldest first."""
    begun: dict[float, list[MeterReading]] = field(default_factory=dict)
    """By the time at which a round began: what the displays showed then."""
    settled: dict[float, list[MeterReading]] = field(default_factory=dict)
    """The same for when its settling began."""


class MeterWatch:
    """Watches the displays of one table through its first camera."""

    def __init__(self, displays: Sequence[MeterDisplay], calibration: Calibration) -> None:
        """`displays` are those of the table file."""
        self.displays = tuple(displays)
        size = calibration.width_px, calibration.height_px
        self._crops = [Crop.around(corners_px(d, calibration), size) for d in self.displays]
        self.memory = MeterMemory([[] for _ in self.displays])

    def follow(self, luma: ByteArray, at_s: float, own: Round | None) -> None:
        """Take the next frame's brightness, uint8 (h, w), and the round that runs."""
        if not self.displays:
            return
        for crop, kept in zip(self._crops, self.memory.images, strict=True):
            if crop is not None and (not kept or not 0 <= at_s - kept[-1][0] < APART_S):
                kept.append((at_s, crop.cut(luma)))
                kept[:] = [one for one in kept[-KEPT:] if 0 <= at_s - one[0] <= KEPT_S]
        if own is None:
            return
        if own.start_s not in self.memory.begun:
            self.memory.begun[own.start_s] = self._read(at_s)
        if own.phase is Phase.SETTLING and own.start_s not in self.memory.settled:
            self.memory.settled[own.start_s] = self._read(at_s)

    def _read(self, at_s: float) -> list[MeterReading]:
        out = []
        for display, crop, kept in zip(self.displays, self._crops, self.memory.images, strict=True):
            images = [image for when, image in kept if 0 <= at_s - when <= KEPT_S]
            if crop is None:
                why = "the display is not wholly in the image"
                found = MeterReading(None, 0.0, "?" * display.digits, why)
            else:
                found = read_meter(images, crop.corners, display.digits, display.decimals)
            out.append(replace(found, at_s=at_s))
        return out

    def of_round(self, start_s: float) -> list[tuple[MeterDisplay, list[MeterReading]]]:
        """What each display was read as in the round that began then, the first reading first."""
        times = (self.memory.begun.get(start_s), self.memory.settled.get(start_s))
        reads = [own for own in times if own is not None]
        return [(one, [own[k] for own in reads]) for k, one in enumerate(self.displays)]

    def with_meters(self, record: RoundRecord, start_s: float) -> RoundRecord:
        """A record with what the displays showed when the settling of its round began.

        `start_s` is when the round began. Earlier rounds are forgotten.
        """
        if not self.displays:
            return record
        before = self.memory.begun.get(start_s)
        shown = self.memory.settled.get(start_s)
        for readings in (self.memory.begun, self.memory.settled):
            for key in [key for key in readings if key <= start_s]:
                del readings[key]
        meters, doubts = [], []
        for place, display in enumerate(self.displays):
            own = None if shown is None else shown[place]
            first = None if before is None else before[place]
            why = _why_not(own, first)
            if why is None and own is not None and own.cents is not None:
                share = round(min(own.probability, 0.9999), 4)
                meters.append(
                    Meter(
                        wager=display.wager, level=display.level, cents=own.cents,
                        probability=share,
                    )
                )  # fmt: skip
            else:
                what = meter_place(*display.key)
                doubts.append(Undecided(seat=None, what=what, why=why or "it was not read"))
        return record.model_copy(
            update={"meters": tuple(meters) or None, "undecided": (*record.undecided, *doubts)}
        )


def _why_not(own: MeterReading | None, first: MeterReading | None) -> str | None:
    """Why a display's reading does not count, or None."""
    if own is None:
        return "the beginning of the settling was not seen"
    if own.cents is None:
        return own.why
    # A meter rises while coins come in; it falls only when it has paid.
    if first is not None and first.cents is not None and own.cents < first.cents:
        return f"read as {own.cents} cents, and as {first.cents} cents when the round began"
    return None
