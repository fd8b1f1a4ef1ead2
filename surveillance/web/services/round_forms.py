"""Rounds in the form that pages and API show: hands as labels, wagers with their rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from settlement.compare.finding import cause_words
from settlement.record import JOKER, RANKS, RoundRecord
from settlement.result import HandResult, Settlement
from surveillance.alerts.model import Alert
from surveillance.reports.round_view import SeatCard, round_card
from surveillance.store import AlertRow, RoundRow
from surveillance.web.schemas.rounds import (
    DealerForm,
    HandForm,
    HandsForm,
    RoundLine,
    SeatForm,
    UnreadForm,
    WagerForm,
)

LOW_SIZE, HIGH_SIZE = 2, 5


def round_line(row: RoundRow) -> RoundLine:
    """A round in a list."""
    if row.alerts:
        kind, words = "bad", f"{row.alerts} alert{'s' if row.alerts > 1 else ''}"
    elif row.undecided:
        kind, words = "undecided", f"{row.undecided} not read"
    else:
        kind, words = "ok", "in order"
    return RoundLine(
        id=row.id,
        round_id=row.round_id,
        table=row.table,
        camera=row.camera,
        dealer=row.dealer,
        game=row.game,
        started_at=row.started_at,
        ended_at=row.ended_at,
        start_s=row.start_s,
        end_s=row.end_s,
        recording_id=row.recording_id,
        undecided=row.undecided,
        suspicions=len(row.suspicions),
        alerts=row.alerts,
        kind=kind,
        words=words,
    )


def hands_form(row: RoundRow, alerts: Iterable[AlertRow]) -> HandsForm | None:
    """All hands and wagers of a stored round; None when its record is of another form."""
    try:
        record = RoundRecord.model_validate(row.record)
        settlement = Settlement.model_validate(row.settlement)
    except ValidationError:
        return None
    return hands_of(record, settlement, [row.alert for row in alerts])


def hands_of(record: RoundRecord, settlement: Settlement, alerts: Sequence[Alert]) -> HandsForm:
    """All hands and wagers of a round that was settled."""
    card = round_card(record, settlement, alerts)
    dealer, way = settlement.dealer, settlement.dealer.house_way
    differs = way is not None and dealer.matches is False
    settled = {seat.seat: seat for seat in settlement.seats}
    return HandsForm(
        dealer=DealerForm(
            low=_hand(record.dealer.low, dealer.low, LOW_SIZE),
            high=_hand(record.dealer.high, dealer.high, HIGH_SIZE),
            kind=card.dealer.kind,
            verdict=card.dealer.verdict,
            house_way=card.dealer.house_way,
            due_low=_hand(way.low, None, LOW_SIZE) if way and differs else None,
            due_high=_hand(way.high, None, HIGH_SIZE) if way and differs else None,
        ),
        seats=tuple(
            SeatForm(
                seat=seat.seat,
                kind=shown.kind,
                result=shown.result,
                lammers=tuple(lammer.word for lammer in shown.lammers),
                low=_hand(seat.low, getattr(settled.get(seat.seat), "low", None), LOW_SIZE),
                high=_hand(seat.high, getattr(settled.get(seat.seat), "high", None), HIGH_SIZE),
                foul=shown.foul,
                wagers=_wagers(record, settlement, shown),
                undecided=tuple(UnreadForm(what=u.what, why=u.why) for u in shown.undecided),
            )
            for seat, shown in zip(record.seats, card.seats, strict=True)
        ),
        undecided=tuple(UnreadForm(what=u.what, why=u.why) for u in card.undecided),
    )


def _wagers(record: RoundRecord, settlement: Settlement, shown: SeatCard) -> tuple[WagerForm, ...]:
    seat = next(s for s in record.seats if s.seat == shown.seat)
    settled = next((s for s in settlement.seats if s.seat == shown.seat), None)
    names = dict.fromkeys(
        [w.wager for w in seat.wagers] + [w.wager for w in (settled.wagers if settled else ())]
    )
    forms = []
    for name, row in zip(names, shown.wagers, strict=True):
        staked, due = seat.wager(name), settled.wager(name) if settled else None
        forms.append(
            WagerForm(
                wager=name,
                name=row.name,
                stake=row.stake,
                stake_cents=staked.stake_cents if staked else None,
                done=row.done,
                due=row.due,
                pay_cents=due.pay_cents if due else None,
                outcome=due.outcome if due else None,
                kind=row.kind,
                verdict=row.verdict,
                rule=row.rule,
                why=(due.why or cause_words(due.undecided or "")) if due else "",
            )
        )
    return tuple(forms)


def _hand(labels: Sequence[str] | None, named: HandResult | None, size: int) -> HandForm:
    # The settled hand has the cards in the order of their rank, a joker where it counts.
    cards = named.cards if named is not None else tuple(sorted(labels or (), key=_from_highest))
    return HandForm(cards=cards, size=size, name=named.name if named is not None else "")


def _from_highest(label: str) -> tuple[int, str]:
    return (-1, "") if label == JOKER else (len(RANKS) - RANKS.index(label[0]), label[1])
