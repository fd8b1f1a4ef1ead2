"""What lamps, the banker's marker, dice and displays showed, as lines of a round's timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from settlement.declared import meter_place
from settlement.felt_timeline import Lay, Span
from vision.dice.throw import total_of
from vision.geometry.displays import MeterDisplay
from vision.geometry.lamps import LampPlace
from vision.meters.reading import MeterReading
from vision.rounds.jackpots.lamp_watch import LampFrame
from vision.rounds.procedure.dice_watch import DiceRest
from vision.rounds.procedure.marker_bank import SURE, UNLIKELY, MarkerRest
from vision.sensors.lamp_reading import LEAST_FRAMES, SHOWN, VISIBLE, decide

KNOWN = ("lit", "unlit")
LEAST_HIDDEN_S = 0.5
"""A shorter time between two rests is the watch's own step."""

MARKER = "banker's marker"


@dataclass(frozen=True, slots=True)
class Signs:
    """What was read of a table's lamps, of the places of its marker, its displays and dice."""

    lamps: Mapping[LampPlace, Sequence[LampFrame]] = field(default_factory=dict)
    marker: Mapping[int | None, Sequence[MarkerRest]] = field(default_factory=dict)
    displays: Sequence[tuple[MeterDisplay, Sequence[MeterReading]]] = ()
    dice: Sequence[DiceRest] = ()
    dice_count: int = 3


def sign_lines(
    round_id: str, signs: Signs, from_s: float, until_s: float, first: int = 1
) -> list[Lay]:
    """The lines of a round that was seen between two times, numbered from `first` on."""
    lines = [
        *_lamps(round_id, signs.lamps, from_s, until_s),
        *_marker(round_id, signs.marker, from_s, until_s),
        *_displays(round_id, signs.displays),
        *_dice(round_id, signs, from_s, until_s),
    ]
    lines.sort(key=lambda lay: float(lay.from_s))
    return [
        lay.model_copy(update={"id": f"{round_id}/{number}"})
        for number, lay in enumerate(lines, start=first)
    ]


def _lamps(
    round_id: str, lamps: Mapping[LampPlace, Sequence[LampFrame]], from_s: float, until_s: float
) -> Iterator[Lay]:
    for (seat, wager), kept in lamps.items():
        runs = _runs([one for one in kept if from_s <= one.at_s <= until_s])
        for number, (shows, frames) in enumerate(runs):
            before = runs[number - 1][1][-1] if number else None
            after = runs[number + 1][1][0] if number + 1 < len(runs) else None
            found = decide([one.reading for one in frames if _shows(one) == shows])
            likely = {"lit": found.probability, "unlit": 1 - found.probability}.get(shows)
            if found.frames < LEAST_FRAMES:
                likely = None
            yield Lay(
                round_id=round_id, id=round_id, seat=seat, place=f"{wager} lamp", item="lamp",
                what=shows, probability=None if likely is None else round(likely, 4),
                after_s=None if before is None else _s(before.at_s),
                from_s=_s(frames[0].at_s), until_s=_s(frames[-1].at_s),
                before_s=None if after is None else _s(after.at_s),
                hidden=tuple(_unsure(frames)),
            )  # fmt: skip


def _shows(frame: LampFrame) -> str:
    """What a frame shows of a lamp, which is lit or unlit where it is visible."""
    reading = frame.reading
    visible = reading.lit + reading.unlit
    if visible < VISIBLE:
        return "not visible"
    likely = "lit" if reading.lit > reading.unlit else "unlit"
    return likely if max(reading.lit, reading.unlit) >= SHOWN * visible else "not sure"


def _runs(frames: Sequence[LampFrame]) -> list[tuple[str, list[LampFrame]]]:
    """The frames in which a lamp showed the same, one after another.

    What was not visible, or not sure, between two frames that showed the same does not count.
    """
    runs = [(shows, list(own)) for shows, own in groupby(frames, key=_shows)]
    known = [k for k, (shows, _) in enumerate(runs) if shows in KNOWN]
    for k, later in reversed(list(pairwise(known))):
        if runs[k][0] == runs[later][0]:
            joined = [one for _, own in runs[k : later + 1] for one in own]
            runs[k : later + 1] = [(runs[k][0], joined)]
    return runs


def _unsure(frames: Sequence[LampFrame]) -> Iterator[Span]:
    """The times in which a lamp that was known before and after was not."""
    if _shows(frames[0]) not in KNOWN:
        return
    seen = [k for k, one in enumerate(frames) if _shows(one) in KNOWN]
    for k, later in pairwise(seen):
        if later > k + 1:
            why = _shows(frames[k + 1])
            yield Span(from_s=_s(frames[k].at_s), until_s=_s(frames[later].at_s), why=why)


def _marker(
    round_id: str, places: Mapping[int | None, Sequence[MarkerRest]], from_s: float, until_s: float
) -> Iterator[Lay]:
    """Where the marker lay, or may have lain.

    A rest without it between two with it is one that hid it, unless it lay elsewhere meanwhile.
    """
    rests = {
        place: [
            one for one in own if one.shares and from_s <= one.until_s and one.start_s <= until_s
        ]
        for place, own in places.items()
    }
    for place, own in rests.items():
        elsewhere = [
            one for other, more in rests.items() if other != place
            for one in more if one.probability >= SURE
        ]  # fmt: skip
        stays: list[list[int]] = []
        for k, rest in enumerate(own):
            if rest.probability < UNLIKELY:
                continue
            since_s = own[stays[-1][-1]].until_s if stays else None
            if since_s is not None and not any(
                since_s <= one.start_s <= rest.start_s for one in elsewhere
            ):
                stays[-1].append(k)
            else:
                stays.append([k])
        for stay in stays:
            first, last = stay[0], stay[-1]
            yield Lay(
                round_id=round_id, id=round_id, seat=place, place="marker", item="marker",
                what=MARKER, probability=round(max(own[k].probability for k in stay), 4),
                after_s=_s(own[first - 1].until_s) if first else None,
                from_s=_s(max(own[first].start_s, from_s)),
                until_s=_s(min(own[last].until_s, until_s)),
                before_s=_s(own[last + 1].start_s) if last + 1 < len(own) else None,
                hidden=tuple(_without(own, stay)),
            )  # fmt: skip


def _without(rests: Sequence[MarkerRest], stay: Sequence[int]) -> Iterator[Span]:
    for k, later in pairwise(stay):
        since_s, again_s = rests[k].until_s, rests[later].start_s
        if later > k + 1:
            yield Span(from_s=_s(since_s), until_s=_s(again_s), why="not found")
        elif again_s - since_s > LEAST_HIDDEN_S:
            yield Span(from_s=_s(since_s), until_s=_s(again_s), why="motion")


def _displays(
    round_id: str, displays: Sequence[tuple[MeterDisplay, Sequence[MeterReading]]]
) -> Iterator[Lay]:
    for display, reads in displays:
        timed = [(one.at_s, one) for one in reads if one.at_s is not None]
        runs = [list(own) for _, own in groupby(timed, key=lambda one: one[1].cents)]
        for number, same in enumerate(runs):
            best = max((one for _, one in same), key=lambda own: own.probability)
            yield Lay(
                round_id=round_id, id=round_id, place=meter_place(*display.key), item="display",
                what=best.shown, cents=best.cents,
                probability=None if best.cents is None else round(min(best.probability, 0.9999), 4),
                after_s=_s(runs[number - 1][-1][0]) if number else None,
                from_s=_s(same[0][0]), until_s=_s(same[-1][0]),
                before_s=_s(runs[number + 1][0][0]) if number + 1 < len(runs) else None,
            )  # fmt: skip


def _dice(round_id: str, signs: Signs, from_s: float, until_s: float) -> Iterator[Lay]:
    """What the dice showed in each rest in which they were seen."""
    for number, rest in enumerate(signs.dice):
        if not rest.shows_dice or rest.until_s < from_s or rest.start_s > until_s:
            continue
        found = total_of(rest.frames, signs.dice_count)
        values = " ".join(str(value) for value in found.values or ())
        yield Lay(
            round_id=round_id, id=round_id, place="dice", item="dice",
            what=f"{values} = {found.total}" if found.values else "not sure",
            probability=round(found.probability, 4) if found.values else None,
            after_s=_s(signs.dice[number - 1].until_s) if number else None,
            from_s=_s(max(rest.start_s, from_s)), until_s=_s(min(rest.until_s, until_s)),
            before_s=_s(signs.dice[number + 1].start_s) if number + 1 < len(signs.dice) else None,
        )  # fmt: skip


def _s(seconds: float) -> str:
    return f"{seconds:.3f}"
