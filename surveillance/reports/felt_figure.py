"""What lay at one seat in a round and when, laid out for the report's drawing.

A row for each place of the seat, a bar for each thing that lay there. All lengths are px of the
drawing; `felt_figure.html.j2` draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from settlement.felt_timeline import (
    EventLine,
    Lay,
    PhaseLine,
    Span,
    StepLine,
    TimelineLine,
    UndecidedLine,
)
from settlement.ruling import money
from settlement.stream_clock import clock
from surveillance.reports.cards_view import wager_name

TRACK_PX, LETTER_PX, LEAST_BAR_PX = 1000.0, 7.4, 2.0
"""The width of a row's time, the most that a letter takes, the least width of a bar."""

HATCH_PX, ROW_PX = 6.0, 18.0
BESIDE_PX = 5.0
LABEL_PX = 160.0
LEAST_LETTERS = 3
"""A text that is cut shorter is left out."""

TICK_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)
MOST_TICKS = 12

PLACES = {
    "packet": "packet", "discard": "discard", "boxes": "both boxes", "low": "low hand",
    "high": "high hand", "aside": "set aside",
}  # fmt: skip
NO_WAGER = {
    "spots": "by no spot",
    "lammers": "lammers",
    "marker": "banker's marker",
    "dice": "dice",
}
ABOUT = {" pay": "pay: ", " unread": "not read: ", " lamp": "lamp: "}
"""What lies or shines about a wager's spot: the end of its place, and its name's beginning."""
EVENTS = {
    "begun_unseen": "The start was not seen", "ended_unseen": "The end was not seen",
    "abandoned": "The round was abandoned", "misdeal": "The cards were dealt again",
    "next_deal_at_once": "The next deal began at once",
    "dealer_cards_again": "The dealer's cards lay there again",
}  # fmt: skip


@dataclass(frozen=True)
class Hatched:
    """A part of a bar that was not seen at rest; `path` are its strokes in a row of ROW_PX."""

    left: float
    width: float
    title: str

    @property
    def path(self) -> str:
        """The strokes as data of an SVG path."""
        many = max(1, round(self.width / HATCH_PX))
        step = self.width / many
        lefts = (self.left + step * k for k in range(many))
        return "".join(f"M{left:.1f} {ROW_PX:g}l{step:.1f}-{ROW_PX:g}" for left in lefts)


@dataclass(frozen=True)
class Bar:
    """A bar; `text` is what stands in it, or beside it where it is too short."""

    left: float
    width: float
    kind: str
    title: str
    text: str
    text_left: float = 0.0
    undecided: bool = False
    hatched: tuple[Hatched, ...] = ()

    @property
    def beside(self) -> bool:
        """Whether the text stands beside the bar."""
        return self.text_left > self.left + self.width


@dataclass(frozen=True)
class Row:
    """A place with its bars, from left to right."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    """A time on the axis."""

    left: float
    text: str


@dataclass(frozen=True)
class FeltFigure:
    """A seat's timeline; `band` (left, width) is the time of the finding, `events` marks."""

    title: str
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    events: tuple[tuple[float, str], ...]
    band: tuple[float, float] | None

    @property
    def label_px(self) -> float:
        """The width that the names of the rows need."""
        return max([LABEL_PX, *(len(row.name) * LETTER_PX for row in self.rows)])

    @property
    def has_undecided(self) -> bool:
        """Whether something of a bar is undecided."""
        return any(bar.undecided for row in self.rows for bar in row.bars)


@dataclass(frozen=True)
class _Scale:
    from_s: float
    until_s: float

    def at(self, seconds: str | float) -> float:
        share = (float(seconds) - self.from_s) / (self.until_s - self.from_s)
        return min(max(share, 0.0), 1.0) * TRACK_PX

    def bar(self, from_s: str, until_s: str, kind: str, text: str, title: str) -> Bar:
        left = min(self.at(from_s), TRACK_PX - LEAST_BAR_PX)
        width = max(self.at(until_s) - left, LEAST_BAR_PX)
        return Bar(left, width, kind, f"{title}, {clock(from_s)} to {clock(until_s)}", text)


def felt_figure(
    timeline: Sequence[TimelineLine],
    seat: int | None,
    finding_s: tuple[float, float] | None = None,
) -> FeltFigure | None:
    """The figure of a seat (None: the dealer) in a round; None where nothing lay there.

    `finding_s` is the time, from and until, of the finding that is looked up.
    """
    lays = [one for one in timeline if isinstance(one, Lay)]
    own = [one for one in lays if one.seat == seat]
    doubts = [one for one in timeline if isinstance(one, UndecidedLine)]
    alone = [one for one in doubts if one.seat == seat and one.from_s and not one.lays]
    if not own and not alone:
        return None
    phases = [one for one in timeline if isinstance(one, PhaseLine)]
    timed: list[Lay | PhaseLine] = [*lays, *phases]
    start_s = min((float(one.from_s) for one in timed), default=0.0)
    scale = _Scale(start_s, max(start_s + 1.0, *(float(one.until_s) for one in timed)))
    steps = [one for one in timeline if isinstance(one, StepLine) and one.seat == seat]
    covers = {one.id: one for one in lays}
    named = [
        ("phase", [_named(scale, one, one.phase) for one in phases]),
        ("steps", [_named(scale, one, one.step) for one in steps]),
        *((name, _bars(scale, there, doubts, covers)) for name, there in _places(own)),
        ("not read", [_doubt(scale, alone)] if alone else []),
    ]
    return FeltFigure(
        title="the dealer's places" if seat is None else f"seat {seat}",
        rows=tuple(Row(name, _with_words(bars)) for name, bars in named if bars),
        ticks=tuple(_ticks(scale)),
        events=tuple(
            (scale.at(one.at_s), EVENTS[one.name]) for one in timeline if isinstance(one, EventLine)
        ),
        band=None if finding_s is None else _band(scale, *finding_s),
    )


def _band(scale: _Scale, from_s: float, until_s: float) -> tuple[float, float]:
    left = scale.at(from_s)
    return left, max(scale.at(until_s) - left, LEAST_BAR_PX)


def _named(scale: _Scale, line: PhaseLine | StepLine, name: str) -> Bar:
    words = name.replace("_", " ")
    return scale.bar(line.from_s, line.until_s, "step", words, words)


def _ticks(scale: _Scale) -> Iterable[Tick]:
    long_s = scale.until_s - scale.from_s
    step = next((one for one in TICK_STEPS_S if long_s / one <= MOST_TICKS), TICK_STEPS_S[-1])
    first = -int(-scale.from_s // step) * step
    for at_s in range(first, int(scale.until_s) + 1, step):
        yield Tick(scale.at(at_s), clock(at_s).removesuffix(".0"))


def _places(lays: Sequence[Lay]) -> list[tuple[str, list[Lay]]]:
    """The places with what lay there: cards, each wager with its pay beneath, all others."""
    found: dict[str, list[Lay]] = {}
    for lay in lays:
        # Lammers lie by no spot, as stray chips do: in a row of their own.
        found.setdefault("lammers" if lay.item == "lammer" else lay.place, []).append(lay)
    others = [place for place in found if place not in {**PLACES, **NO_WAGER}]
    words = dict(PLACES)
    for wager in dict.fromkeys(place.split(" ")[0] for place in others):
        words[wager] = _meter_name(wager) or wager_name(wager)
        words |= {wager + end: begin + words[wager] for end, begin in ABOUT.items()}
    return [(name, found[place]) for place, name in {**words, **NO_WAGER}.items() if place in found]


def _meter_name(place: str) -> str | None:
    """The name of a display's row; None of other places."""
    if not place.startswith("meters."):
        return None
    _, wager, level = place.split(".")
    return f"meter: {wager_name(wager)}" + ("" if level == "1" else f" {level}")


def _doubt(scale: _Scale, doubts: Sequence[UndecidedLine]) -> Bar:
    """What is undecided of things of which nothing lay there."""
    text = "; ".join(f"{one.what}: {one.why}" for one in doubts)
    first = doubts[0]
    bar = scale.bar(first.from_s or "0", first.until_s or "0", "doubt", text, text)
    return replace(bar, undecided=True)


def _bars(
    scale: _Scale, lays: Sequence[Lay], doubts: Sequence[UndecidedLine], covers: Mapping[str, Lay]
) -> list[Bar]:  # fmt: skip
    """A bar for each thing, one for cards that lay there from the same time to the same time."""

    def since(lay: Lay) -> tuple[float, float, str]:
        own = "" if lay.item == "card" else lay.id
        return float(lay.from_s), float(lay.until_s), own

    ordered = sorted((part for lay in lays for part in _parts(lay)), key=since)
    return [_bar(scale, list(same), doubts, covers) for _, same in groupby(ordered, key=since)]


def _parts(lay: Lay) -> list[Lay]:
    """A stack that changed as one for each of its sums, each until the next was first read."""
    if lay.sums is None:
        return [lay]
    starts = [lay.from_s, *(one.from_s for one in lay.sums[1:])]
    ends = [*starts[1:], lay.until_s]
    return [
        lay.model_copy(
            update={
                "from_s": start, "until_s": end, "what": one.what, "cents": one.cents,
                "hidden": tuple(_within(lay.hidden, start, end)),
            }
        )
        for start, end, one in zip(starts, ends, lay.sums, strict=True)
    ]  # fmt: skip


def _within(spans: Sequence[Span], from_s: str, until_s: str) -> Iterable[Span]:
    """What of the spans lies within a time."""
    for span in spans:
        start, end = max(span.from_s, from_s, key=float), min(span.until_s, until_s, key=float)
        if float(start) < float(end):
            yield span.model_copy(update={"from_s": start, "until_s": end})


def _words(lay: Lay) -> str:
    """What a line is of, with the money that it comes to."""
    if lay.cents is None:
        return lay.what
    sum_ = money(lay.cents, short=True)
    return sum_ if lay.item == "display" else f"{sum_} ({lay.what})"


def _bar(
    scale: _Scale, lays: Sequence[Lay], doubts: Sequence[UndecidedLine], covers: Mapping[str, Lay]
) -> Bar:  # fmt: skip
    first, ids = lays[0], {lay.id for lay in lays}
    about = [doubt for doubt in doubts if ids & set(doubt.lays)]
    what = " ".join(_words(lay) for lay in lays)
    if first.cameras:
        alone = "alone" if first.unread_by_first else "too"
        what += f" · by {', '.join(first.cameras)} {alone}"
    kind = f"{first.item} lit" if (first.item, first.what) == ("lamp", "lit") else first.item
    bar = scale.bar(first.from_s, first.until_s, kind, what, what)
    known = [f"until {clock(first.after_s)}"] if first.after_s else []
    known += [f"from {clock(first.before_s)} on"] if first.before_s else []
    more = [f"place seen without it {' and '.join(known)}"] if known else []
    more += [f"{doubt.what} undecided: {doubt.why}" for doubt in about]
    return replace(
        bar, title="; ".join((bar.title, *more)), undecided=bool(about),
        hatched=tuple(_hatched(scale, span, covers) for span in first.hidden),
    )  # fmt: skip


def _hatched(scale: _Scale, span: Span, covers: Mapping[str, Lay]) -> Hatched:
    left = scale.at(span.from_s)
    width = max(scale.at(span.until_s) - left, 0.0)
    cover = covers.get(span.behind or "")
    if cover is not None:
        return Hatched(
            left, width, f"not seen: behind {_words(cover)} ({_place_name(cover.place)})"
        )
    arms = "".join(
        ", the dealer's arm" if by == "dealer" else f", arm of seat {by}" for by in span.by
    )
    return Hatched(left, width, f"not seen at rest: {span.why}{arms}")


def _place_name(place: str) -> str:
    wager, *about = place.split(" ")
    begin = ABOUT[f" {about[0]}"] if about else ""
    return NO_WAGER.get(place) or begin + wager_name(wager)


def _with_words(bars: Sequence[Bar]) -> tuple[Bar, ...]:
    """The bars with their texts in them, beside them, or cut where there is no room for them."""
    bars = sorted(bars, key=lambda bar: bar.left)
    nexts = [*(bar.left for bar in bars[1:]), TRACK_PX]
    return tuple(_with_text(bar, free) for bar, free in zip(bars, nexts, strict=True))


def _with_text(bar: Bar, free_until: float) -> Bar:
    needed = (len(bar.text) + 1) * LETTER_PX
    inside, behind = bar.left + BESIDE_PX, bar.left + bar.width + BESIDE_PX
    if needed > bar.width and behind + needed <= free_until:
        return replace(bar, text_left=behind)
    letters = int((min(bar.width, free_until - bar.left) - BESIDE_PX) / LETTER_PX)
    if len(bar.text) > letters:
        cut = bar.text[: max(letters - 1, 0)].rstrip()
        return replace(bar, text=f"{cut}…" if len(cut) >= LEAST_LETTERS else "", text_left=inside)
    return replace(bar, text_left=inside)
