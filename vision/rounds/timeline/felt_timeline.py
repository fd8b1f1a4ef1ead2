"""A round's timeline: its states of rest joined to intervals, with what it leaves undecided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from settlement.felt_timeline import (
    Lay,
    LaySum,
    PhaseLine,
    Span,
    StepLine,
    TimelineLine,
    undecided_line,
)
from settlement.procedures import Phase
from settlement.record import RoundRecord
from vision.geometry.table import TableFile
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.round_reader import RoundProcedure
from vision.rounds.round_state import ArmOver, Episode, Round
from vision.rounds.timeline.lying_things import Thing, ThingReader
from vision.rounds.timeline.round_events import events

LEAST_HIDDEN_S = 0.5
"""A shorter time between two rests is the watch's own step."""


@dataclass
class _Open:
    """A thing with the rests that show it."""

    seat: int | None
    thing: Thing
    rests: list[Episode]
    before: Episode | None
    after: Episode | None = None
    readings: list[Thing] = field(default_factory=list)


def felt_timeline(
    table: TableFile,
    record: RoundRecord,
    own: Round,
    went: RoundProcedure,
    house: Sequence[Episode],
    states: PlaceStates,
) -> tuple[TimelineLine, ...]:
    """The lines of a finished round: phases, steps, what lay where, what is undecided."""
    found: list[_Open] = []
    dealer = ThingReader(table.dealer, {}, states)
    found += _joined(None, own.tracks[None].episodes, dealer)
    for seat in table.seats:
        reader = ThingReader(seat, seat.spots, states)
        found += _joined(seat.seat, own.tracks[seat.seat].episodes, reader)
    if table.dealer.house is not None:
        reader = ThingReader(None, {"house": table.dealer.house}, states)
        found += _joined(None, house, reader)
    found += _before(table, own, states)
    found.sort(key=lambda one: one.rests[0].start_s)
    lays = [_lay(record.round_id, n, one, own.arms) for n, one in enumerate(found, start=1)]
    bets = (Phase.WAITING, Phase.BETS)
    dealt_s = next((one.since_s for one in went.phases if one.phase not in bets), math.inf)
    lays = _with_moves(lays, dealt_s)
    return (
        *_phases(record, own, went),
        *_steps(record.round_id, went),
        *events(record, own, went),
        *lays,
        *(undecided_line(record.round_id, entry, lays, own.start_s) for entry in record.undecided),
    )


def _before(table: TableFile, own: Round, states: PlaceStates) -> Iterator[_Open]:
    """What lay at the places since the round before."""
    parts: list[tuple[int | None, ThingReader]] = [(None, ThingReader(table.dealer, {}, states))]
    parts += [(seat.seat, ThingReader(seat, seat.spots, states)) for seat in table.seats]
    for place, reader in parts:
        # What lies there in the round as well belongs to the round.
        first = {e.start_s for e in own.tracks[place].episodes[:1]}
        rests = [e for e in own.before.get(place, ()) if e.start_s not in first]
        yield from _joined(place, rests, reader)


def _joined(seat: int | None, episodes: Sequence[Episode], reader: ThingReader) -> Iterator[_Open]:
    """The things of one view, each with all rests in a row that show it."""
    lying: list[_Open] = []
    before: Episode | None = None
    for rest in (e for e in episodes if e.readings):
        stay: list[_Open] = []
        for thing in reader.things(rest):
            same = next((o for o in lying if o not in stay and o.thing.stays(thing)), None)
            if same is None:
                same = _Open(seat, thing, [], before)
            same.rests.append(rest)
            same.readings.append(thing)
            stay.append(same)
        for gone in (one for one in lying if one not in stay):
            gone.after = rest
            yield gone
        lying, before = stay, rest
    yield from lying


def _lay(round_id: str, number: int, one: _Open, arms: Sequence[ArmOver]) -> Lay:
    thing = max(one.readings, key=lambda read: read.probability or 0.0)
    cameras = tuple(sorted({name for read in one.readings for name in read.cameras}))
    by_first = any(read.by_first for read in one.readings)

    def moved(from_s: float, until_s: float) -> Span:
        """A time of motion, with the seats whose arms were seen over the boxes meanwhile."""
        of_boxes = arms if thing.item in ("card", "backs") else ()
        by = {a.seat for a in of_boxes if a.over == one.seat and from_s <= a.at_s <= until_s}
        return Span(from_s=_s(from_s), until_s=_s(until_s), why="motion", by=tuple(sorted(by)))

    hidden = [moved(start, end) for rest in one.rests for start, end in rest.stirred]
    for earlier, later in zip(one.rests, one.rests[1:], strict=False):
        if later.start_s - earlier.until_s > LEAST_HIDDEN_S or later.gap is not None:
            from_s, until_s = earlier.until_s, max(later.start_s, earlier.until_s)
            hidden.append(
                moved(from_s, until_s) if later.gap is None
                else Span(from_s=_s(from_s), until_s=_s(until_s), why=later.gap.cause)
            )  # fmt: skip
    return Lay(
        round_id=round_id, id=f"{round_id}/{number}", seat=one.seat, place=thing.place,
        item=thing.item, what=thing.what, probability=thing.probability, cents=thing.cents,
        cameras=cameras or None, unread_by_first=None if by_first else True,
        sums=_sums(one),
        after_s=None if one.before is None else _s(one.before.until_s),
        from_s=_s(one.rests[0].start_s), until_s=_s(one.rests[-1].until_s),
        before_s=None if one.after is None else _s(one.after.start_s),
        hidden=tuple(sorted(hidden, key=lambda span: float(span.from_s))),
    )  # fmt: skip


def _sums(one: _Open) -> tuple[LaySum, ...] | None:
    """The sums of a stack that changed, one after another; None where it did not."""
    counted = [
        (rest, thing) for rest, thing in zip(one.rests, one.readings, strict=True)
        if thing.cents is not None
    ]  # fmt: skip
    sums = []
    for cents, same in groupby(counted, key=lambda own: own[1].cents):
        rests, things = zip(*same, strict=True)
        assert cents is not None
        sums.append(
            LaySum(
                from_s=_s(rests[0].start_s), until_s=_s(rests[-1].until_s), what=things[0].what,
                cents=cents,
            )
        )  # fmt: skip
    return tuple(sums) if len(sums) > 1 else None


def _with_moves(lays: Sequence[Lay], dealt_s: float) -> list[Lay]:
    """The lines, each with the one of where the same thing lay before.

    A card is known by its name. A stack is where, before the deal, one of the same chips was gone
    from another place of its seat since, and no second one was; later, chips alike come and go.
    """
    last: dict[str, Lay] = {}
    out: list[Lay] = []
    for lay in lays:
        earlier = None
        if lay.item == "card":
            earlier = last.get(lay.what)
            last[lay.what] = lay
        elif lay.item == "stack" and lay.after_s is not None and float(lay.from_s) <= dealt_s:
            taken = {one.moved_from for one in out}
            gone = [
                one for one in out
                if (one.item, one.seat, one.what) == (lay.item, lay.seat, lay.what)
                and one.place != lay.place and one.before_s is not None and one.id not in taken
                and float(one.until_s) <= float(lay.from_s)
            ]  # fmt: skip
            earlier = gone[0] if len(gone) == 1 else None
        if earlier is not None and float(earlier.until_s) <= float(lay.from_s):
            lay = lay.model_copy(update={"moved_from": earlier.id})
        out.append(lay)
    return out


def _phases(record: RoundRecord, own: Round, went: RoundProcedure) -> Iterator[PhaseLine]:
    since = min((e.start_s for rests in own.before.values() for e in rests), default=own.start_s)
    if since < own.start_s:
        yield PhaseLine(
            round_id=record.round_id, phase=Phase.WAITING.value, from_s=_s(since),
            until_s=_s(own.start_s),
        )  # fmt: skip
    ends = [phase.since_s for phase in went.phases[1:]]
    last = float(record.end_s or 0.0)
    for phase, end_s in zip(went.phases, [*ends, max(last, *ends, 0.0)], strict=False):
        yield PhaseLine(
            round_id=record.round_id, phase=phase.phase.value, from_s=_s(phase.since_s),
            until_s=_s(end_s),
        )  # fmt: skip


def _steps(round_id: str, went: RoundProcedure) -> Iterator[StepLine]:
    for step in went.steps:
        broken = next(
            (one.rule.breach for one in went.breaches
             if one.seat == step.seat and any(rest is one.shown for rest in step.rests)), None,
        )  # fmt: skip
        yield StepLine(
            round_id=round_id, seat=step.seat, step=step.name, from_s=_s(step.from_s),
            until_s=_s(step.until_s), in_order=step.in_order, course=step.course, breach=broken,
        )  # fmt: skip


def _s(seconds: float) -> str:
    return f"{seconds:.3f}"
