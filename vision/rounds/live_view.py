"""What lies on a table now, as read last: for people who look on, never for a record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from settlement.procedures import Phase
from vision.cards.view import fuse_indices, join_cards, split_hands
from vision.chips.reading import ReadStack
from vision.detect.detections import Floats
from vision.geometry.calibration import Calibration, map_points, view_to_felt
from vision.geometry.table import VIEW_MM, Place, Polygon, TableFile
from vision.rounds.round_state import Episode
from vision.rounds.tracker import RoundTracker
from vision.rounds.view_reader import ViewReading

Corners = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class OutlineNow:
    """One thing seen: its label and its outline's corners in the image, px."""

    kind: str
    label: str
    corners_px: Corners


@dataclass(frozen=True, slots=True)
class ViewNow:
    """One seat (None: the dealer): cards face up by box, backs, cents by wager, lammers.

    Cents are None where a stack could not be counted. `at_s` is when it was read last.
    """

    seat: int | None
    at_s: float
    low: tuple[str, ...]
    high: tuple[str, ...]
    backs: int
    stakes: Mapping[str, int | None]
    pays: Mapping[str, int | None]
    lammers: tuple[str, ...]
    outlines: tuple[OutlineNow, ...]


@dataclass(frozen=True, slots=True)
class TableNow:
    """A table now: the phase, the running round's id and start if there is one, the views."""

    phase: Phase
    round_id: str | None
    start_s: float | None
    views: tuple[ViewNow, ...]
    moving: tuple[int | None, ...]
    """Views that are not at rest."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was seen to lie in any view."""
        return not any(v.low or v.high or v.backs or v.stakes or v.pays for v in self.views)


def table_now(
    table: TableFile,
    calibration: Calibration,
    tracker: RoundTracker,
    number: int,
    moving: Collection[int | None],
    view_px: int,
) -> TableNow:
    """The table as `tracker` knows it; `number` is the running round's, `view_px` a view's side."""
    own = tracker.round
    views = []
    for seat, episode in tracker.latest.items():
        if not episode.readings:
            continue
        if seat is None:
            place, low, high = table.dealer.place, table.dealer.low, table.dealer.high
        else:
            part = table.seat(seat)
            place, low, high = part.place, part.low, part.high
        views.append(_view(seat, episode, place, low, high, calibration, view_px))
    views.sort(key=lambda v: 0 if v.seat is None else v.seat)
    return TableNow(
        phase=tracker.phase,
        round_id=f"{table.table}-{number:06d}" if own else None,
        start_s=own.start_s if own else None,
        views=tuple(views),
        moving=tuple(moving),
    )


def _view(
    seat: int | None,
    episode: Episode,
    place: Place,
    low: Polygon,
    high: Polygon,
    calibration: Calibration,
    view_px: int,
) -> ViewNow:
    last = episode.readings[-1]
    cards = join_cards(fuse_indices([r.indices for r in episode.readings]))
    in_low, in_high = split_hands(cards, low, high, place)
    return ViewNow(
        seat=seat,
        at_s=last.at_s,
        low=tuple(c.label for c in sorted(in_low, key=lambda c: c.center_mm[0])),
        high=tuple(c.label for c in sorted(in_high, key=lambda c: c.center_mm[0])),
        backs=last.backs,
        stakes={wager: _cents(stacks) for wager, stacks in last.stakes.items()},
        pays={wager: _cents(stacks) for wager, stacks in last.pays.items()},
        lammers=tuple(sorted(last.lammers)),
        outlines=tuple(_Outlines(calibration, place, view_px).all(last)),
    )


def _cents(stacks: Sequence[ReadStack]) -> int:
    return sum(stack.value_cents for stack in stacks)


class _Outlines:
    """Carries boxes of a view into the image."""

    def __init__(self, calibration: Calibration, place: Place, view_px: int) -> None:
        self._calibration = calibration
        self._to_felt = view_to_felt(place, view_px)
        self._view_px = view_px

    def all(self, reading: ViewReading) -> Iterator[OutlineNow]:
        """What a reading saw: cards, backs, lammers, stacks."""
        for index in reading.indices:
            yield self._outline("card", index.label, index.xyxy)
        found = reading.found
        for item in range(len(found)):
            name = found.name(item)
            if name == "back":
                yield self._outline("back", "back", found.xyxy[item])
            elif name.startswith("lammer_"):
                yield self._outline("lammer", name.removeprefix("lammer_"), found.xyxy[item])
        k = self._view_px / VIEW_MM
        for stacks in (*reading.stakes.values(), *reading.pays.values()):
            for stack in stacks:
                box_px = [v * k + self._view_px / 2 for v in stack.box_mm]
                yield self._outline("chips", f"{stack.value_cents / 100:g}", box_px)

    def _outline(self, kind: str, label: str, xyxy: Sequence[float] | Floats) -> OutlineNow:
        x0, y0, x1, y1 = (float(v) for v in xyxy)
        view = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
        seen = self._calibration.felt_to_image(map_points(self._to_felt, view))
        return OutlineNow(kind, label, tuple((float(x), float(y)) for x, y in seen))
