"""The felt's timeline: what lay where and from when to when, as lines of `timeline.jsonl`.

A record says what a round came to; the timeline says what it was read from. Each line is one of

    lay        a card, backs, a stack, a lammer or the banker's marker that lay at one place, or a
               lamp, a display or dice and what they showed
    phase      a phase of the table, in the words of its dealing procedure
    step       a step of one seat, and how it came about
    event      something about the round as a whole, such as a start that was not seen
    undecided  an entry of the record's `undecided`, with the lines of what it is about

Times are seconds of the stream's own clock. What was seen at rest is `seen`; between two of
these spans something moved over the place or no frame came, and that it lay there all the time
is inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from settlement.form import Form
from settlement.procedures import Course
from settlement.record import Cents, RoundRecord, Seconds, Undecided

Item = Literal["card", "backs", "stack", "lammer", "marker", "lamp", "display", "dice"]


CARDS: tuple[Item, ...] = ("card", "backs")

Whose = tuple[int | Literal["dealer"], ...]
"""Whose arms were seen over something: seats', of their players, or the dealer's."""


class _Line(Form):
    round_id: str


class Span(Form):
    """A time in which a place was not seen at rest, or what lay there was hidden, and why.

    >>> Span(from_s="3.2", until_s="4.0", why="motion").why
    'motion'
    """

    from_s: Seconds
    until_s: Seconds
    why: str
    by: Whose = Field((), description="Whose arms were seen over it: of seats, or the dealer's.")
    behind: str | None = Field(None, description="The line of the stack that hid it.")


class LaySum(Form):
    """What a stack came to for a part of the time in which it lay there.

    >>> LaySum(from_s="12.0", until_s="20.4", what="3 red", cents=1500).cents
    1500
    """

    from_s: Seconds = Field(description="When it was first read so.")
    until_s: Seconds = Field(description="When it was last seen so.")
    what: str
    cents: Cents


class Lay(_Line):
    """Something that lay at one place.

    >>> lay = Lay(round_id="t1-000001", id="t1-000001/3", seat=2, place="low", item="card",
    ...           what="AS", from_s="12.0", until_s="30.2")
    >>> lay.hidden, lay.moved_from
    ((), None)
    """

    kind: Literal["lay"] = "lay"
    id: str = Field(description="The line's own name.")
    seat: int | None = Field(None, description="None: the dealer's side.")
    place: str = Field(
        description="'low', 'high', 'boxes' (face down in both), 'packet', 'discard', 'aside' (the "
        "card a draw dealer set aside), a wager's spot, 'WAGER pay' beside it, 'WAGER unread' "
        "(chips on or beside it that could not be read), 'spots' (by no spot), 'marker' (the "
        "banker's), 'dice', 'WAGER lamp' (of its sensor), or a display's 'meters.WAGER.LEVEL'."
    )
    item: Item
    what: str = Field(
        description="The card's or lammer's name, the stack's colours, or how many; 'lit', "
        "'unlit', 'not sure' or 'not visible' of a lamp; a display's digits, ? for one not read; "
        "of dice '3 5 2 = 10' or 'not sure'."
    )
    probability: float | None = Field(None, ge=0, le=1, description="Of `what`; none: not given.")
    cents: Cents | None = Field(
        None, description="Of a stack that was counted, or a display that was read."
    )
    cameras: tuple[str, ...] | None = Field(
        None, description="Further cameras that read the stack too, by name."
    )
    unread_by_first: bool | None = Field(
        None, description="True: the first camera did not read the stack, only these did."
    )
    sums: tuple[LaySum, ...] | None = Field(
        None, description="Of a stack that was counted with several sums, one after another."
    )
    after_s: Seconds | None = Field(None, description="When the place was seen last without it.")
    from_s: Seconds = Field(description="When it was first seen at rest.")
    until_s: Seconds = Field(
        description="When it was last seen, or a stack that may have hidden it was."
    )
    before_s: Seconds | None = Field(None, description="When the place was first seen without it.")
    hidden: tuple[Span, ...] = Field((), description="In between: not seen at rest, inferred.")
    moved_from: str | None = Field(None, description="The line of where this lay before.")
    laid_by: Whose | None = Field(None, description="Whose arms were over the place when it came.")
    gone_by: Whose | None = Field(None, description="Whose arms were over the place when it went.")
    gone_to: Literal["rack", "tray", "player"] | None = Field(
        None,
        description="Where it went, inferred: cards with the dealer's arm alone to the rack, a "
        "stack so to the tray, either with a player's alone to the player.",
    )


class PhaseLine(_Line):
    """A phase of the table.

    >>> PhaseLine(round_id="t1-000001", phase="bets", from_s="12.0", until_s="20.4").phase
    'bets'
    """

    kind: Literal["phase"] = "phase"
    phase: str
    from_s: Seconds
    until_s: Seconds


class StepLine(_Line):
    """A step of one seat; `in_order` is false where one before it was not seen at rest.

    >>> StepLine(round_id="t1-000001", seat=2, step="set", from_s="12.0", until_s="20.4").in_order
    True
    """

    kind: Literal["step"] = "step"
    seat: int
    step: str
    from_s: Seconds
    until_s: Seconds
    in_order: bool = True
    course: Course = Field("in_order", description="How the seat came to it.")
    breach: str | None = Field(None, description="What the procedure forbids about it.")


EventName = Literal[
    "begun_unseen", "ended_unseen", "abandoned", "misdeal", "next_deal_at_once",
    "dealer_cards_again",
]  # fmt: skip
"""'begun_unseen': hands lay there when the watching began, or again after a gap; 'ended_unseen':
the end was not seen; 'abandoned': cards and bets were taken back; 'misdeal': all cards were taken
back and dealt again; 'next_deal_at_once': the next deal began before the felt was empty;
'dealer_cards_again': the dealer's cards seemed to be gone and lay there again."""


class UndecidedLine(_Line):
    """What could not be read, the lines of what lay there, and their time.

    >>> UndecidedLine(round_id="t1-000001", what="main.stake", why="hidden").lays
    ()
    """

    kind: Literal["undecided"] = "undecided"
    seat: int | None = None
    what: str
    why: str
    lays: tuple[str, ...] = Field((), description="Ids of the `lay` lines that it is about.")
    from_s: Seconds | None = Field(
        None, description="When these lay there; without any, the round."
    )
    until_s: Seconds | None = None


class EventLine(_Line):
    """Something about a round as a whole.

    >>> EventLine(round_id="t1-000001", name="abandoned", at_s="12.0").name
    'abandoned'
    """

    kind: Literal["event"] = "event"
    name: EventName
    at_s: Seconds
    why: str = ""


TimelineLine = Annotated[
    Lay | PhaseLine | StepLine | EventLine | UndecidedLine, Field(discriminator="kind")
]
"""One line of `timeline.jsonl`."""

TIMELINE_LINE: TypeAdapter[TimelineLine] = TypeAdapter(TimelineLine)
"""Reads a line: `TIMELINE_LINE.validate_json(line)`."""


def undecided_line(record: RoundRecord, entry: Undecided, lays: Sequence[Lay]) -> UndecidedLine:
    """An entry of a record's `undecided` with the lines of its round that it is about.

    Where none is of just that, it is about the seat's cards, or whatever lay at the seat.
    """
    start_s = record.start_s or "0"
    of_round = [lay for lay in lays if float(lay.until_s) >= float(start_s)]
    about = [lay for lay in of_round if _is_about(entry, lay)]
    if not about and entry.seat is not None:
        of_seat = [lay for lay in of_round if lay.seat == entry.seat]
        about = [lay for lay in of_seat if lay.item in CARDS] or of_seat
    ends = (record.end_s or start_s,) if not about else tuple(lay.until_s for lay in about)
    return UndecidedLine(
        round_id=record.round_id, seat=entry.seat, what=entry.what, why=entry.why,
        lays=tuple(lay.id for lay in about),
        from_s=min((lay.from_s for lay in about), key=float, default=start_s),
        until_s=max(ends, key=float),
    )  # fmt: skip


def with_undecided(
    lines: Sequence[TimelineLine], record: RoundRecord, entries: Iterable[Undecided]
) -> tuple[TimelineLine, ...]:
    """The lines of a record's round, undecided ones for just these entries; none of no lines."""
    left = {(entry.seat, entry.what, entry.why): entry for entry in entries}
    kept: list[TimelineLine] = []
    for line in lines:
        key = (line.seat, line.what, line.why) if isinstance(line, UndecidedLine) else None
        if key is None or left.pop(key, None) is not None:
            kept.append(line)
    lays = [line for line in lines if isinstance(line, Lay)]
    new = (undecided_line(record, entry, lays) for entry in left.values())
    return (*kept, *new) if lines else ()


def _is_about(entry: Undecided, lay: Lay) -> bool:
    """Whether a line is of what an entry calls undecided."""
    head = entry.what.split(".")[0].split("[")[0]
    if entry.seat is None and head == "banker":
        return lay.place in ("main", "house", "marker")
    if entry.seat is None and head in ("dice", "first_hand"):
        return lay.item == "dice"
    if entry.seat is None and head == "end":
        # What lay there to the last, as far as was seen.
        return lay.before_s is None and lay.item not in ("lamp", "display", "dice")
    if entry.seat is None and head == "meters":
        return lay.place == entry.what
    if entry.seat != lay.seat:
        return False
    if head in ("low", "high"):
        return lay.item == "card" and lay.place == head
    if head in ("hand", "hands", "cards"):
        return lay.item in CARDS
    if head == "lammers":
        return lay.item == "lammer"
    if head == "chips":
        return lay.item == "stack" and lay.place == "spots"
    if head == "gap":
        return True
    part = entry.what.partition(".")[2]
    unread = f"{head} unread"
    wanted = {"stake": {head, unread, f"{head} lamp"}, "paid": {f"{head} pay", unread}}
    every = {head, f"{head} pay", unread, f"{head} lamp"}
    return lay.place in wanted.get(part, every)
