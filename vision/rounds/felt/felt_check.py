"""Whether the first frames of a stream show the felt of the table file."""

from __future__ import annotations

from settlement.errors import FeltwatchError
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import TableFile
from vision.health.felt_match import FELT_MATCH_MIN, felt_match

FELT_CHECKS = 5
"""Frames that are looked at before it is another table's."""


class NotThisTableError(FeltwatchError):
    """The frames do not show the felt of the table file."""


class FeltCheck:
    """Looks for the table's print until a frame shows it.

    `known`: whoever feeds the frames sees to it that they show this table.
    """

    def __init__(
        self, table: TableFile, calibration: Calibration, source_name: str, *, known: bool
    ) -> None:
        """`source_name` names the stream in messages."""
        self._table, self._calibration, self._source_name = table, calibration, source_name
        self.known = known
        self.matches: list[float] = []
        """The print match of each frame so far."""

    def look(self, luma: ByteArray) -> None:
        """Take the next frame's luma in. Raises NotThisTableError by the last of FELT_CHECKS."""
        if self.known:
            return
        self.matches.append(felt_match(luma, self._table, self._calibration))
        self.known = self.matches[-1] >= FELT_MATCH_MIN
        if len(self.matches) >= FELT_CHECKS:
            self.end()

    def end(self) -> None:
        """No frame comes any more. Raises NotThisTableError where those that came do not match."""
        if self.known or not self.matches:
            return
        raise NotThisTableError(
            f"{self._source_name}: the video does not show the felt of table "
            f"{self._table.table!r} where its table file says (print match "
            f"{max(self.matches):.2f}, at least {FELT_MATCH_MIN:.2f} is needed); another table's "
            "video, or the camera was moved"
        )
