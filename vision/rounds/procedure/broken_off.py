"""The record of a round that was broken off: cards and bets taken back before it was settled."""

from __future__ import annotations

from settlement.record import RoundRecord, Undecided
from vision.geometry.table import TableFile
from vision.rounds.round_state import Round


def broken_off(table: TableFile, number: int, own: Round, end_s: float) -> RoundRecord:
    """A record that says no more than that, and is judged in nothing."""
    why = "the round was broken off: cards and bets were taken back before it was settled"
    return RoundRecord(
        round_id=f"{table.table}-{number:06d}",
        table=table.table,
        game=table.rules.game,
        start_s=f"{own.start_s:.3f}",
        end_s=f"{end_s:.3f}",
        undecided=(Undecided(seat=None, what="hand", why=why),),
    )
