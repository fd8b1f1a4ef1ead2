"""What is to be said of a round as a whole: begun or ended unseen, abandoned, followed at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from settlement.felt_timeline import EventLine, EventName
from settlement.procedures import Phase
from settlement.record import RoundRecord
from vision.rounds.procedure.round_reader import RoundProcedure
from vision.rounds.round_state import STRAY_CARDS, Round


def events(record: RoundRecord, own: Round, went: RoundProcedure) -> Iterator[EventLine]:
    """The events of a round in the order of their times."""
    end_s = float(record.end_s or own.start_s)
    found: list[tuple[float, EventName, str]] = []
    for seat, track in own.tracks.items():
        first = track.episodes[0] if track.episodes else None
        if first is not None and first.gap and (first.backs or first.cards_up > STRAY_CARDS):
            where = "the dealer" if seat is None else f"seat {seat}"
            found.append((first.start_s, "begun_unseen", f"{first.gap}: {where} has cards already"))
            break
    for one, other in pairwise(went.phases):
        if (one.phase, other.phase) == (Phase.CLEARED, Phase.SETTLING):
            found.append((other.since_s, "dealer_cards_again", ""))
    if own.misdealt_s is not None:
        why = "all cards were taken back before a hand was compared, and dealt again"
        found.append((own.misdealt_s, "misdeal", why))
    if own.gap is not None:
        found.append((own.gap.from_s, "ended_unseen", str(own.gap)))
    if own.broken_off:
        found.append((end_s, "abandoned", "cards and bets were taken back before settling"))
    if own.is_followed_at_once:
        found.append((end_s, "next_deal_at_once", "cards were dealt again, the felt was not empty"))
    for at_s, name, why in sorted(found):
        yield EventLine(round_id=record.round_id, name=name, at_s=f"{at_s:.3f}", why=why)
