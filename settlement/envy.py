"""The envy prize: fixed sums for what other hands at the table hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from settlement.games.base import EnvyRule
from settlement.paytables.registry import PayRow
from settlement.record import SeatRecord
from settlement.ruling import Pay, Ruling, money
from settlement.seven_card_hand import is_empty
from settlement.wager_state import Due, Play


@dataclass(frozen=True, slots=True)
class Trigger:
    """What one seat's hand does for others: the row it holds, or why that is not known.

    >>> Trigger(3, None, None, "seat 3's hand: covered").cents
    0
    """

    seat: int
    player: int | None
    row: PayRow | None
    unread: str | None

    @property
    def cents(self) -> int:
        """The prize, 0 when there is none."""
        return 0 if self.row is None else self.row.value.fixed_cents


def envy_triggers(play: Play) -> list[Trigger]:
    """Every hand that wins a prize for others, or may."""
    table, envy = play.terms.tables.get("envy"), play.terms.envy
    if table is None:
        return []
    side = play.terms.game.side[envy.wager]
    found = []
    for seat, view in zip(play.record.seats, play.views, strict=True):
        held = side(view)
        row = table.row_for(held.sure)
        if (row is None and not held.possible) or is_empty(seat, play.doubts):
            continue
        carries = _carries(play, envy, seat)
        if carries is False:
            continue
        unread = None
        if held.possible or carries is None:
            unread = held.reason or f"seat {seat.seat}: the {envy.wager} stake is not known"
        found.append(Trigger(seat.seat, seat.player, row if carries else None, unread))
    return found


def envy_due(play: Play, index: int, triggers: Sequence[Trigger]) -> Due | None:
    """The envy prize of a seat: the sum of the fixed prizes for other hands.

    The stake decides whether the seat qualifies, not the lammer (reading ST-10b); whose
    hands count, and whether they must carry the wager, are readings ST-10 and ST-9; the
    dealer's hand never triggers. While some other hand is not known, the prizes of the
    known ones are the least sum: the payout is then given together with a reason in
    `undecided`. None when the seat has nothing to do with envy.
    """
    seat = play.record.seats[index]
    recorded = seat.wager("envy") is not None
    if not (triggers or recorded):
        return None
    table, envy = play.terms.tables.get("envy"), play.terms.envy
    if table is None:
        return Due("envy", None, Ruling.unknown("the table offers no wager 'envy'"))
    others = [t for t in triggers if t.seat != seat.seat and not _one_player(envy, seat, t)]
    if not (others or recorded):
        return None
    own = [t for t in others if _may_be_own(play, envy, seat, t)]
    prizes = [t for t in others if t.row is not None and t not in own]
    unread = [t.unread for t in others if t.unread]
    unread += [f"nobody declared whether seat {t.seat} is the same player's" for t in own]
    best = max(prizes, key=lambda p: p.cents).row if prizes else None
    rule = table.rule(best, play.terms.game.printed_in)
    qualifies, reason = _qualifies(play, envy, seat)
    if qualifies is False:
        return Due("envy", None, Ruling("lose", None, rule, reason), 0) if recorded else None
    if qualifies is None:
        return Due("envy", None, Ruling.unknown(reason))
    least = sum(prize.cents for prize in prizes)
    why = "; ".join(
        f"seat {prize.seat}'s {table.name_of(prize.row)} pays {money(prize.cents)}"
        for prize in prizes
        if prize.row is not None
    )
    ruling = Ruling(
        "win" if prizes else (None if unread else "lose"),
        None,
        rule,
        why or "no other seat has a hand with an envy prize",
        "; ".join(unread) or None,
        Pay.fixed(least + len(unread) * max(row.value.fixed_cents for row in table.rows)),
    )
    return Due("envy", None, ruling, least)


def _one_player(envy: EnvyRule, seat: SeatRecord, trigger: Trigger) -> bool:
    """Whether a hand is of the seat's own player, where that leaves it out."""
    return not envy.own_hands and seat.player is not None and seat.player == trigger.player


def _may_be_own(play: Play, envy: EnvyRule, seat: SeatRecord, trigger: Trigger) -> bool:
    """Whether a hand may be of the seat's own player, where that leaves it out."""
    unknown = play.record.players_known is False and seat.player is None
    return not envy.own_hands and unknown and trigger.row is not None and not trigger.unread


def _carries(play: Play, envy: EnvyRule, seat: SeatRecord) -> bool | None:
    """Whether a hand may trigger a prize; None when its stake is not known."""
    if not envy.trigger_needs_wager:
        return True
    wager = seat.wager(envy.wager)
    if play.doubts.wager(seat.seat, envy.wager, "stake"):
        return None
    if wager is None:
        return False
    return None if wager.stake_cents is None else wager.stake_cents > 0


def _qualifies(play: Play, envy: EnvyRule, seat: SeatRecord) -> tuple[bool | None, str]:
    """Whether a seat's stake qualifies for envy; None when that is not known, and why."""
    name, least = envy.wager, play.rules.envy_min_cents
    doubt = play.doubts.wager(seat.seat, name, "stake")
    wager = seat.wager(name)
    if doubt:
        return None, doubt
    if wager is None:
        return False, f"no {name} stake"
    if wager.stake_cents is None:
        return None, f"the {name} stake is not known"
    if wager.stake_cents < max(least, 1):
        return False, f"the {name} stake of {money(wager.stake_cents)} is under {money(least)}"
    return True, ""
