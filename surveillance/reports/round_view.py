"""A judged round as the report's card: hands, wagers and verdicts, seat by seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from settlement.compare.finding import card_words, cause_words
from settlement.felt_timeline import StepLine, TimelineLine
from settlement.games import GAMES
from settlement.record import RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.result import DealerSettlement, SeatSettlement, Settlement, WagerSettlement
from settlement.ruling import money
from settlement.stream_clock import clock
from surveillance.alerts.model import ALERTED_APART, Alert
from surveillance.reports.cards_view import HandCards, hand_cards, wager_name
from surveillance.reports.felt_figure import FeltFigure, felt_figure

HIGH, MEDIUM, LOW = "high", "medium", "low"
CHECK, UNDECIDED, OK = "check", "undecided", "ok"
"""Kinds, the gravest first; names of styles and icons."""

ORDER = (HIGH, MEDIUM, LOW, CHECK, UNDECIDED, OK)
_OF_THE_STAKE = frozenset({"LATE_BET", "LIMIT", "PROCEDURE"})
"""Codes that find the stake wrong, not what was done with it."""

_OUTCOMES = {"win": "pay {}", "lose": "take", "push": "leave"}


@dataclass(frozen=True)
class WagerRow:
    """One wager: staked, done, due and the verdict; what of it is wrong."""

    name: str
    stake: str
    done: str
    due: str
    kind: str
    verdict: str
    rule: str
    wrong_stake: bool = False
    wrong_done: bool = False


@dataclass(frozen=True)
class Lammer:
    """A lammer at a seat: its word, and what it says."""

    word: str
    title: str


@dataclass(frozen=True)
class Unread:
    """One thing that was not read."""

    what: str
    why: str


@dataclass(frozen=True)
class SeatCard:
    """One seat of a round; `steps` are those of its dealing procedure, with their times.

    `dues_undecided`: why it is not decided what is due, where `undecided` does not say it.
    """

    seat: int
    kind: str
    lammers: tuple[Lammer, ...]
    low: HandCards
    high: HandCards
    result: str
    foul: str
    wagers: tuple[WagerRow, ...]
    undecided: tuple[Unread, ...]
    banks: bool = False
    steps: str = ""
    dues_undecided: tuple[Unread, ...] = ()


@dataclass(frozen=True)
class DealerCard:
    """The dealer's hands, and those due where they differ."""

    low: HandCards
    high: HandCards
    kind: str
    verdict: str
    house_way: str
    due_low: HandCards | None
    due_high: HandCards | None


@dataclass(frozen=True)
class AlertLink:
    """A way from the round to one of its alerts."""

    anchor: str
    code: str
    seat: int | None


@dataclass(frozen=True)
class RoundCard:
    """One round; `left` and `width` place it on the strip, in percent.

    `also` says that something is undecided beside what `words` say.
    `figures` are of seats of which something was not read, and nothing is found."""

    id: str
    anchor: str
    start: str
    end: str
    left: float | None
    width: float
    kind: str
    words: str
    open: bool
    dealer: DealerCard
    seats: tuple[SeatCard, ...]
    alerts: tuple[AlertLink, ...]
    undecided: tuple[Unread, ...]
    figures: tuple[FeltFigure, ...]
    dealt_by: str | None = None
    also: str = ""


def kind_of(alert: Alert) -> str:
    """The kind an alert is shown as.

    >>> kind_of(Alert(alert_id="a", code="OVERPAID", severity="high", message="m"))
    'high'
    """
    if alert.code in ALERTED_APART:
        return CHECK
    return {"high": HIGH, "medium": MEDIUM}.get(alert.severity, LOW)


def _gravest(kinds: Sequence[str]) -> str:
    return min(kinds, key=ORDER.index, default=OK)


def _unread(entries: Sequence[Undecided]) -> tuple[Unread, ...]:
    return tuple(Unread(_what(u.what), u.why) for u in entries)


def _what(what: str) -> str:
    head, dot, part = what.partition(".")
    if dot and part in ("stake", "paid", "action"):
        words = {"stake": "stake", "paid": "pay", "action": "what was done"}[part]
        return f"{wager_name(head)}: {words}"
    return card_words(what).replace("_", " ")


def _of_dealer(what: str) -> str:
    return "dealer's hand" if what == "hand" else _what(what)


def _sum(cents: int | None, unknown: str = "?") -> str:
    return unknown if cents is None else money(cents, short=True)


def _done(wager: WagerRecord | None) -> str:
    if wager is None:
        return "–"
    if wager.action == "paid":
        return f"paid {_sum(wager.paid_cents)}"
    return wager.action or "not read"


def _due(due: WagerSettlement | None) -> str:
    if due is None:
        return "–"
    if due.outcome is None:
        return "undecided"
    if due.outcome == "win" and due.pay_cents is None:
        return "pay, sum undecided"
    return _OUTCOMES[due.outcome].format(_sum(due.pay_cents))


def _wager_row(
    name: str,
    wager: WagerRecord | None,
    due: WagerSettlement | None,
    alerts: Sequence[Alert],
    undecided: Sequence[Undecided],
) -> WagerRow:
    own = [a for a in alerts if a.wager == name]
    mistakes = [a for a in own if a.code not in ALERTED_APART]
    unread = any(u.what == name or u.what.startswith(f"{name}.") for u in undecided)
    # The sum of an envy prize is a least one where another seat's hand was not read.
    open_due = due is not None and (
        due.outcome is None or due.pay_cents is None or due.undecided is not None
    )
    if mistakes:
        kind = _gravest([kind_of(a) for a in mistakes])
        verdict = ", ".join(dict.fromkeys(a.code.replace("_", " ").lower() for a in mistakes))
    elif own:
        kind, verdict = CHECK, "check"
    elif unread or (wager is not None and wager.action is None) or open_due:
        kind, verdict = UNDECIDED, "undecided"
    else:
        kind, verdict = OK, "ok"
    return WagerRow(
        name=wager_name(name),
        stake=_sum(wager.stake_cents if wager else None, "–" if name == "envy" else "?"),
        done=_done(wager),
        due=_due(due),
        kind=kind,
        verdict=verdict,
        rule=str(due.rule) if due is not None and due.rule else "",
        wrong_stake=any(a.code in _OF_THE_STAKE for a in mistakes),
        wrong_done=any(a.code not in _OF_THE_STAKE for a in mistakes),
    )


def _lammer(kind: str, game: str) -> Lammer:
    word = kind.upper()
    rules = GAMES[game].lammers if game in GAMES else ()
    own = next((rule for rule in rules if rule.kind == kind.lower()), None)
    if own is None:
        return Lammer(word, f"{word} lammer")
    wager = wager_name(own.wager)
    what = f"Envy Bonus of {wager}" if own.envy else f"{wager} on the dealer's hand"
    return Lammer(word, f"{word} lammer: {what}")


def _dues_undecided(
    settled: SeatSettlement | None, rows: Sequence[WagerRow], undecided: Sequence[Undecided]
) -> tuple[Unread, ...]:
    """The wagers whose dues are undecided, by cause; without causes that `undecided` has."""
    open_rows = {row.name for row in rows if row.kind == UNDECIDED}
    wagers: dict[str, list[str]] = {}
    for due in settled.wagers if settled else ():
        name = wager_name(due.wager)
        if (
            due.undecided
            and name in open_rows
            and not any(u.why in due.undecided for u in undecided)
        ):
            wagers.setdefault(due.undecided, []).append(name)
    return tuple(Unread(", ".join(names), cause_words(why)) for why, names in wagers.items())


def _hand_name(settled: SeatSettlement | DealerSettlement | None, which: str) -> str:
    hand = getattr(settled, which, None)
    return hand.name if hand else ""


def _seat_card(
    seat: SeatRecord,
    game: str,
    settled: SeatSettlement | None,
    alerts: Sequence[Alert],
    undecided: Sequence[Undecided],
) -> SeatCard:
    due_wagers = settled.wagers if settled else ()
    names = dict.fromkeys([w.wager for w in seat.wagers] + [w.wager for w in due_wagers])
    rows = tuple(
        _wager_row(
            name, seat.wager(name), settled.wager(name) if settled else None, alerts, undecided
        )
        for name in names
    )
    kinds = [kind_of(a) for a in alerts] + [UNDECIDED] * bool(undecided)
    kinds += [UNDECIDED for row in rows if row.kind == UNDECIDED]
    main = settled.wager("main") if settled else None
    return SeatCard(
        seat=seat.seat,
        kind=_gravest(kinds),
        lammers=tuple(_lammer(kind, game) for kind in seat.lammers),
        low=hand_cards("Low", seat.low, 2, _hand_name(settled, "low")),
        high=hand_cards("High", seat.high, 5, _hand_name(settled, "high")),
        result=main.outcome or "" if main else "",
        foul=(settled.foul_reason or "") if settled else "",
        wagers=rows,
        undecided=_unread(undecided),
        dues_undecided=_dues_undecided(settled, rows, undecided),
    )


def _dealer_card(record: RoundRecord, settled: DealerSettlement) -> DealerCard:
    way = settled.house_way
    differs = settled.matches is False
    if settled.matches is None:
        kind, verdict = UNDECIDED, "house way undecided"
    elif differs:
        kind, verdict = HIGH, "not the house way"
    else:
        kind, verdict = OK, "house way"
    return DealerCard(
        low=hand_cards("Low", record.dealer.low, 2, _hand_name(settled, "low")),
        high=hand_cards("High", record.dealer.high, 5, _hand_name(settled, "high")),
        kind=kind,
        verdict=verdict,
        house_way=f"{way.why} ({way.rule})"
        if way
        else cause_words(settled.undecided or settled.house_way_undecided or "not decided"),
        due_low=hand_cards("Low", way.low, 2) if way and differs else None,
        due_high=hand_cards("High", way.high, 5) if way and differs else None,
    )


def _on_strip(record: RoundRecord, start_s: float, whole_s: float) -> tuple[float | None, float]:
    if record.start_s is None or record.end_s is None or whole_s <= 0:
        return None, 0.0
    left = max(0.0, (float(Decimal(record.start_s)) - start_s) / whole_s * 100)
    right = min(100.0, (float(Decimal(record.end_s)) - start_s) / whole_s * 100)
    return round(left, 3), round(max(right - left, 0.0), 3)


def _in_words(kind: str, alerts: Sequence[Alert], unread: Sequence[Undecided]) -> str:
    mistakes = sum(1 for a in alerts if a.code not in ALERTED_APART)
    if mistakes:
        return f"{mistakes} alert{'s' if mistakes > 1 else ''}"
    return {CHECK: "check", UNDECIDED: _open_words(unread)}.get(kind, "in order")


def _open_words(unread: Sequence[Undecided]) -> str:
    return "something not read" if unread else "something undecided"


def _steps(seat: int, timeline: Sequence[TimelineLine]) -> str:
    """A seat's steps with the times at which they were first seen."""
    own = (line for line in timeline if isinstance(line, StepLine) and line.seat == seat)
    return " · ".join(f"{line.step.replace('_', ' ')} {clock(line.from_s)}" for line in own)


def _figures(
    record: RoundRecord, found: Sequence[Alert], timeline: Sequence[TimelineLine]
) -> tuple[FeltFigure, ...]:
    """What lay at seats of which something is undecided; those of findings stand with these."""
    seats = {one.seat for one in record.undecided} - {one.seat for one in found}
    drawn = (felt_figure(timeline, seat) for seat in sorted(seats, key=lambda seat: seat or 0))
    return tuple(figure for figure in drawn if figure is not None)


def round_card(
    record: RoundRecord,
    settlement: Settlement,
    alerts: Sequence[Alert],
    *,
    start_s: float = 0.0,
    duration_s: float = 0.0,
    open_all: bool = True,
    timeline: Sequence[TimelineLine] = (),
    suspicions: Sequence[Alert] = (),
    unread: Sequence[Undecided] | None = None,
) -> RoundCard:
    """A judged round as the report shows it; folded when in order unless `open_all`.

    The steps of the seats come from `timeline`; `suspicions` are linked to beside the alerts.
    `unread` is that of the judged round; by default what the record itself says.
    """
    undecided = record.undecided if unread is None else unread
    settled = {s.seat: s for s in settlement.seats}
    seats = tuple(
        replace(
            _seat_card(
                seat,
                record.game,
                settled.get(seat.seat),
                [a for a in alerts if a.seat == seat.seat],
                [u for u in undecided if u.seat == seat.seat],
            ),
            banks=seat.seat == record.banker,
            steps=_steps(seat.seat, timeline),
        )
        for seat in record.seats
    )
    shown = {seat.seat for seat in record.seats}
    left_over = [u for u in undecided if u.seat not in shown]
    dealer = _dealer_card(record, settlement.dealer)
    kinds = [kind_of(a) for a in alerts] + [UNDECIDED] * bool(undecided)
    kinds += [k for k in (dealer.kind, *(seat.kind for seat in seats)) if k == UNDECIDED]
    kind = _gravest(kinds)
    left, width = _on_strip(record, start_s, duration_s)
    return RoundCard(
        id=record.round_id,
        anchor=f"round-{record.round_id}",
        start=clock(record.start_s),
        end=clock(record.end_s),
        left=left,
        width=width,
        kind=kind,
        words=_in_words(kind, alerts, undecided),
        open=open_all or kind != OK,
        dealer=dealer,
        seats=seats,
        alerts=(
            *(AlertLink(f"alert-{a.alert_id}", a.code, a.seat) for a in alerts),
            *(AlertLink(f"alert-{s.alert_id}", f"{s.code}?", s.seat) for s in suspicions),
        ),
        undecided=tuple(
            Unread(f"seat {u.seat}: {_what(u.what)}" if u.seat else _of_dealer(u.what), u.why)
            for u in left_over
        ),
        figures=_figures(record, (*alerts, *suspicions), timeline),
        dealt_by=record.dealt_by,
        also=_open_words(undecided) if UNDECIDED in kinds and kind != UNDECIDED else "",
    )
