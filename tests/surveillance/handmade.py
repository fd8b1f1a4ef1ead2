"""Rounds made by hand, with little images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from settlement.felt_timeline import Lay
from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.rules import TableRules
from vision.rounds.observed import ObservedRound, Seen, ViewPicture

RULES = TableRules(
    game="emperors_challenge_exposed",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "emperors_treasure": "PT-FLT-EC-ET-02",
        "envy": "E02",
    },
)


def picture(seat: int | None, what: str, at_s: str) -> ViewPicture:
    """A view of 96 x 96 pixels with two boxes."""
    image = np.full((96, 96, 3), 60, np.uint8)
    seen = (Seen("AS", 0.97, (10, 10, 22, 30)), Seen("chip_red x3", 0.91, (50, 50, 80, 80)))
    return ViewPicture(seat, what, at_s, image, seen)  # type: ignore[arg-type]


def observed_round(
    number: int = 1,
    *,
    paid_cents: int = 2500,
    undecided: tuple[Undecided, ...] = (),
    start_s: float = 0.5,
) -> ObservedRound:
    """A round in which seat 3 wins its main bet of $25 and is paid `paid_cents`."""
    record = RoundRecord(
        round_id=f"t1-{number:06d}",
        table="t1",
        game=RULES.game,
        start_s=f"{start_s:.3f}",
        end_s=f"{start_s + 1.5:.3f}",
        dealer=DealerRecord(low=("QS", "JD"), high=("9H", "9C", "7S", "5D", "2C")),
        seats=(
            SeatRecord(
                seat=3,
                low=("AH", "KD"),
                high=("TS", "TD", "8C", "4C", "3H"),
                wagers=(
                    WagerRecord(
                        wager="main", stake_cents=2500, action="paid", paid_cents=paid_cents
                    ),
                ),
            ),
        ),
        undecided=undecided,
    )
    pictures = (
        picture(None, "cards", f"{start_s + 0.3:.3f}"),
        picture(3, "bets", f"{start_s + 0.1:.3f}"),
        picture(3, "cards", f"{start_s + 0.9:.3f}"),
        picture(3, "settled", f"{start_s + 1.1:.3f}"),
        picture(4, "bets", f"{start_s + 0.1:.3f}"),
    )
    stake = Lay(
        round_id=record.round_id, id=f"{record.round_id}/1", seat=3, place="main", item="stack",
        what="1 green", cents=2500, from_s=f"{start_s:.3f}", until_s=f"{start_s + 1.1:.3f}",
    )  # fmt: skip
    return ObservedRound(record, pictures, (stake,))


def doubtful_round(number: int = 1, *, start_s: float = 0.5, sure: float = 0.9) -> ObservedRound:
    """The same round, whose payout reads as $30 in place of $25: so `sure`, with a doubt."""
    doubt = Undecided(seat=3, what="main.paid", why="a chip")
    observed = observed_round(number, undecided=(doubt,), start_s=start_s)
    (seat,) = observed.record.seats
    sums = ((3000, sure), (2500, 0.6 * (1 - sure)), (3500, 0.4 * (1 - sure)))
    paid = seat.wagers[0].model_copy(update={"paid_cents": None, "paid_sums": sums})
    seats = (seat.model_copy(update={"wagers": (paid,)}),)
    return replace(observed, record=observed.record.model_copy(update={"seats": seats}))
