"""The views that decided a round, with what was read in each."""

from __future__ import annotations

from vision.geometry.table import VIEW_MM
from vision.rounds.changes import Changes
from vision.rounds.observed import Seen, ViewPicture, What
from vision.rounds.procedure.round_reader import RoundProcedure
from vision.rounds.region_change import as_picture
from vision.rounds.round_state import Round, Shot
from vision.rounds.view_reader import ViewReading


def round_pictures(
    own: Round, changes: Changes, went: RoundProcedure, view_px: int
) -> list[ViewPicture]:
    """Each place's bets, cards and payouts, and what shows its changes and breaches.

    `view_px` is the side of a view in px.
    """
    out = []
    for seat, track in own.tracks.items():
        for what in ("bets", "cards", "settled", "envy"):
            shot = track.shots.get(what)
            if shot is not None and (seat is not None or what == "cards"):
                out.append(_picture(seat, what, shot, view_px))
    for seat, what, rest in (*changes.shown(), *went.shown()):
        image = as_picture(rest.picture)
        if image is not None:
            out.append(_picture(seat, what, Shot(image, rest.readings[0]), view_px))
    for reach in went.reaches:
        image = as_picture(reach.shown.picture)
        if image is not None:
            at_s = f"{reach.shown.at_s:.3f}"
            out.append(ViewPicture(reach.seat, "reach", at_s, image, ()))
    return out


def _picture(seat: int | None, what: What, shot: Shot, view_px: int) -> ViewPicture:
    seen = tuple(_seen(shot.reading, view_px))
    return ViewPicture(seat, what, f"{shot.reading.at_s:.3f}", shot.image, seen)


def _seen(reading: ViewReading, view_px: int) -> list[Seen]:
    seen = [Seen(s.label, float(s.shares.max()), s.xyxy) for s in reading.indices]
    found = reading.found
    for item in range(len(found)):
        name = found.name(item)
        if name == "back" or name.startswith("lammer_"):
            x0, y0, x1, y1 = (float(v) for v in found.xyxy[item])
            label = "BACK" if name == "back" else name
            seen.append(Seen(label, float(found.scores[item]), (x0, y0, x1, y1)))
    k = view_px / VIEW_MM
    for stacks in (*reading.stakes.values(), *reading.pays.values()):
        for stack in stacks:
            x0, y0, x1, y1 = (v * k + view_px / 2 for v in stack.box_mm)
            seen.append(Seen(stack.label, stack.probability, (x0, y0, x1, y1)))
    return seen
