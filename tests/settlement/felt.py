"""Rounds for the tests: a table with every wager, and records written short."""

from __future__ import annotations

from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.result import Settlement, WagerSettlement
from settlement.rules import TableRules
from settlement.settle import settle

GAME = "emperors_challenge_exposed"
RULES = TableRules(
    game=GAME,
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-05",
        "emperors_treasure": "PT-FLT-EC-ET-02",
        "envy": "E02",
    },
)

PAIR_DEALER = "AS KD / 9H 9C 7S 5D 2C"
"""Ace-king low, a pair of nines high: set by the house way."""
ACE_HIGH_DEALER = "QD TS / AS 9H 7C 5D 3S"
"""An ace-high pai gow without the joker, set by the house way."""
WINNER = "KS KH / AD AC QH 6D 4H"
PUSHER = "QS JH / TD TC 8S 6H 3D"
LOSER = "QC JS / 7D 7C 6S 4D 3H"


def hands(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    low, high = text.split("/")
    return tuple(low.split()), tuple(high.split())


def wager(
    name: str, stake: int | None, action: str | None = None, paid: int | None = None
) -> WagerRecord:
    return WagerRecord.model_validate(
        {"wager": name, "stake_cents": stake, "action": action, "paid_cents": paid}
    )


def seat(
    number: int, cards: str | None, *wagers: WagerRecord, lammers: tuple[str, ...] = ()
) -> SeatRecord:
    low, high = hands(cards) if cards is not None else (None, None)
    return SeatRecord(seat=number, low=low, high=high, lammers=lammers, wagers=wagers)


def round_of(
    dealer: str | None, *seats: SeatRecord, undecided: tuple[tuple[int | None, str], ...] = ()
) -> RoundRecord:
    low, high = hands(dealer) if dealer is not None else (None, None)
    return RoundRecord(
        round_id="t1-000001",
        table="t1",
        game=GAME,
        dealer=DealerRecord(low=low, high=high),
        seats=seats,
        undecided=tuple(Undecided(seat=s, what=w, why="covered") for s, w in undecided),
    )


def due(record: RoundRecord, number: int, name: str, rules: TableRules = RULES) -> WagerSettlement:
    """What is due for a wager of a seat."""
    found = seat_due(settle(record, rules), number, name)
    assert found is not None
    return found


def seat_due(settlement: Settlement, number: int, name: str) -> WagerSettlement | None:
    return next(s for s in settlement.seats if s.seat == number).wager(name)


def findings(record: RoundRecord, rules: TableRules = RULES) -> list[Finding]:
    return compare(record, settle(record, rules), rules)


def reported(
    record: RoundRecord, rules: TableRules = RULES
) -> list[tuple[str, int | None, str | None]]:
    """Code, seat and wager of every finding."""
    return [(str(f.code), f.seat, f.wager) for f in findings(record, rules)]
