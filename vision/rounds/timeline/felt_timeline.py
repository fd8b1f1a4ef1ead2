"""A round's timeline: its states of rest joined to intervals, with what it leaves undecided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from settlement.felt_timeline import (
    CARDS,
    Item,
    Lay,
    LaySum,
    PhaseLine,
    Span,
    StepLine,
    TimelineLine,
    Whose,
    undecided_line,
)
from settlement.procedures import Phase
from settlement.record import RoundRecord
from vision.geometry.calibration import Calibration
from vision.geometry.table import TableFile
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.round_reader import RoundProcedure
from vision.rounds.round_state import ArmHides, Episode, Round
from vision.rounds.timeline.hidden_stacks import StackCover
from vision.rounds.timeline.lying_things import SAME_MM as THING_MM
from vision.rounds.timeline.lying_things import Thing, ThingReader
from vision.rounds.timeline.round_events import events
from vision.rounds.timeline.signs import LEAST_HIDDEN_S, Signs, sign_lines


@dataclass
class _Open:
    """A thing with the rests that show it, or in which another stack hides it.

    `is_followed`: at the rest `after` it another one lies at its place, or cards do where it is
    cards.
    """

    seat: int | None
    rests: list[Episode]
    before: Episode | None
    after: Episode | None = None
    is_followed: bool = False
    readings: list[tuple[Episode, Thing]] = field(default_factory=list)
    behind: list[tuple[Episode, _Open]] = field(default_factory=list)

    @property
    def thing(self) -> Thing:
        """As it was read first."""
        return self.readings[0][1]


def felt_timeline(
    table: TableFile,
    record: RoundRecord,
    own: Round,
    went: RoundProcedure,
    house: Sequence[Episode],
    states: PlaceStates,
    signs: Signs | None = None,
    calibration: Calibration | None = None,
) -> tuple[TimelineLine, ...]:
    """The lines of a finished round: phases, steps, what lay where, what is undecided.

    By `calibration`, the first camera's, a stack that another one hides keeps its line.
    """
    cover = None if calibration is None else StackCover(table, calibration)
    found: list[_Open] = []
    dealer = ThingReader(table.dealer, {}, states)
    found += _joined(None, own.tracks[None].episodes, dealer, cover)
    for seat in table.seats:
        reader = ThingReader(seat, seat.spots, states)
        found += _joined(seat.seat, own.tracks[seat.seat].episodes, reader, cover)
    if table.dealer.house is not None:
        reader = ThingReader(None, {"house": table.dealer.house}, states)
        found += _joined(None, house, reader, cover)
    found += _before(table, own, states, cover)
    found.sort(key=lambda one: one.rests[0].start_s)
    round_id = record.round_id
    numbers = {id(one): n for n, one in enumerate(found, start=1)}
    lays = [_lay(round_id, one, own.hides, numbers) for one in found]
    end_s = float(record.end_s or own.start_s)
    lays += sign_lines(round_id, signs or Signs(), own.since_s, end_s, first=len(lays) + 1)
    bets = (Phase.WAITING, Phase.BETS)
    dealt_s = next((one.since_s for one in went.phases if one.phase not in bets), math.inf)
    lays = _with_moves(lays, dealt_s)
    return (
        *_phases(record, own, went),
        *_steps(round_id, went),
        *events(record, own, went),
        *lays,
        *(undecided_line(record, entry, lays) for entry in record.undecided),
    )


def _before(
    table: TableFile, own: Round, states: PlaceStates, cover: StackCover | None
) -> Iterator[_Open]:
    """What lay at the places since the round before."""
    parts: list[tuple[int | None, ThingReader]] = [(None, ThingReader(table.dealer, {}, states))]
    parts += [(seat.seat, ThingReader(seat, seat.spots, states)) for seat in table.seats]
    for place, reader in parts:
        # What lies there in the round as well belongs to the round.
        first = {e.start_s for e in own.tracks[place].episodes[:1]}
        rests = [e for e in own.before.get(place, ()) if e.start_s not in first]
        yield from _joined(place, rests, reader, cover)


def _joined(
    seat: int | None, episodes: Sequence[Episode], reader: ThingReader, cover: StackCover | None
) -> Iterator[_Open]:
    """The things of one view, each with all rests in a row that show it.

    A stack that is not found stays where another one hides it.
    """
    lying: list[_Open] = []
    before: Episode | None = None
    for rest in (e for e in episodes if e.readings):
        stay: list[tuple[_Open, Thing]] = []
        for thing in reader.things(rest):
            known = [one for one, _ in stay]
            same = next((o for o in lying if o not in known and o.thing.stays(thing)), None)
            stay.append((same or _Open(seat, [], before), thing))
        for one, thing in stay:
            one.rests.append(rest)
            by = _hidden_by(one, thing, stay, cover)
            if by is None:
                one.readings.append((rest, thing))
            else:
                one.behind.append((rest, by))
        there = [one for one, _ in stay]
        for one in (one for one in lying if one not in there):
            by = _hidden_by(one, None, stay, cover)
            if by is None:
                one.after = rest
                one.is_followed = any(_follows(one.thing, thing) for _, thing in stay)
                yield one
            else:
                one.rests.append(rest)
                one.behind.append((rest, by))
                there.append(one)
        lying, before = there, rest
    yield from lying


def _follows(gone: Thing, thing: Thing) -> bool:
    """Whether a thing lies where one that is gone did, or is what that was made."""
    if gone.item in CARDS:
        return thing.item in CARDS
    return (gone.item, gone.place) == (thing.item, thing.place)


def _hidden_by(
    one: _Open, now: Thing | None, found: Sequence[tuple[_Open, Thing]], cover: StackCover | None
) -> _Open | None:
    """The stack that hides all of a thing's stacks that are not found at a rest; None: none does.

    `now` is what of the thing is found.
    """
    last = one.readings[-1][1].stacks if one.readings else ()
    there = () if now is None else now.stacks
    missing = [
        own for own in last if all(math.dist(own[0], at) > THING_MM["stack"] for at, _ in there)
    ]
    if cover is None or not missing:
        return None
    others = [(other, own) for other, thing in found for own in thing.stacks]
    by = [cover.hidden_by(own, [standing for _, standing in others]) for own in missing]
    return None if by[0] is None or None in by else others[by[0]][0]


def _lay(
    round_id: str, one: _Open, hides: Sequence[ArmHides], numbers: Mapping[int, int]
) -> Lay:  # fmt: skip
    """The line of a thing; `numbers` are those of all lines by the identity of their things."""
    things = [thing for _, thing in one.readings]
    thing = max(things, key=lambda read: read.probability or 0.0)
    cameras = tuple(sorted({name for read in things for name in read.cameras}))
    by_first = any(read.by_first for read in things)
    place = "cards" if thing.item in CARDS else thing.place.split(" ")[0]
    arms = [arm for arm in hides if (arm.seat, arm.what) == (one.seat, place)]

    def whose(from_s: float, until_s: float) -> Whose:
        """Whose arms were seen over the place meanwhile."""
        by = {arm.by for arm in arms if arm.from_s <= until_s and from_s <= arm.until_s}
        players = sorted(seat for seat in by if seat is not None)
        return (*players, "dealer") if None in by else tuple(players)

    def moved(from_s: float, until_s: float) -> Span:
        by = whose(from_s, until_s)
        return Span(from_s=_s(from_s), until_s=_s(until_s), why="motion", by=by)

    hidden = [moved(start, end) for rest in one.rests for start, end in rest.stirred]
    for earlier, later in zip(one.rests, one.rests[1:], strict=False):
        if later.start_s - earlier.until_s > LEAST_HIDDEN_S or later.gap is not None:
            from_s, until_s = earlier.until_s, max(later.start_s, earlier.until_s)
            hidden.append(
                moved(from_s, until_s) if later.gap is None
                else Span(from_s=_s(from_s), until_s=_s(until_s), why=later.gap.cause)
            )  # fmt: skip
    hidden += [
        Span(
            from_s=_s(rest.start_s), until_s=_s(rest.until_s), why="behind a stack",
            behind=f"{round_id}/{numbers[id(by)]}",
        )
        for rest, by in one.behind
    ]  # fmt: skip
    first, last = one.rests[0], one.rests[-1]
    laid_by = () if one.before is None else whose(one.before.until_s, first.start_s)
    gone_by = () if one.after is None else whose(last.until_s, one.after.start_s)
    return Lay(
        round_id=round_id, id=f"{round_id}/{numbers[id(one)]}", seat=one.seat, place=thing.place,
        item=thing.item, what=thing.what, probability=thing.probability, cents=thing.cents,
        cameras=cameras or None, unread_by_first=None if by_first else True,
        sums=_sums(one),
        after_s=None if one.before is None else _s(one.before.until_s),
        from_s=_s(first.start_s), until_s=_s(last.until_s),
        before_s=None if one.after is None else _s(one.after.start_s),
        hidden=tuple(sorted(hidden, key=lambda span: float(span.from_s))),
        laid_by=laid_by or None, gone_by=gone_by or None,
        gone_to=None if one.is_followed else _gone_to(thing.item, gone_by),
    )  # fmt: skip


def _gone_to(item: Item, by: Whose) -> Literal["rack", "tray", "player"] | None:
    """Where a thing went, by those whose arms alone were over it when it did."""
    if item not in (*CARDS, "stack") or not by:
        return None
    if "dealer" not in by:
        return "player"
    if len(by) > 1:
        return None
    return "rack" if item in CARDS else "tray"


def _sums(one: _Open) -> tuple[LaySum, ...] | None:
    """The sums of a stack that changed, one after another; None where it did not."""
    counted = [
        (rest, thing) for rest, thing in one.readings if thing.cents is not None
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

    A card is known by its name, and there is one marker. A stack is where, before the deal, one of
    the same chips was gone from another place of its seat since, and no second one was; later,
    chips alike come and go.
    """
    last: dict[str, Lay] = {}
    out: list[Lay] = []
    for lay in lays:
        earlier = None
        if lay.item in ("card", "marker"):
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
    moved = {lay.moved_from for lay in out}
    return [lay.model_copy(update={"gone_to": None}) if lay.id in moved else lay for lay in out]


def _phases(record: RoundRecord, own: Round, went: RoundProcedure) -> Iterator[PhaseLine]:
    if own.since_s < own.start_s:
        yield PhaseLine(
            round_id=record.round_id, phase=Phase.WAITING.value, from_s=_s(own.since_s),
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
