"""Comparing what lies by a wager: its stake against the limits, the lammers against the stakes."""

from __future__ import annotations

from collections.abc import Iterator

from settlement.compare.context import Case, Unjudged, place_name
from settlement.compare.finding import Finding, FindingCode, wager_name
from settlement.games.base import LammerRule
from settlement.record import SeatRecord, WagerRecord
from settlement.ruling import money


def judge_limits(case: Case, seat: SeatRecord | None, wager: WagerRecord) -> Iterator[Finding]:
    """A stake outside the bounds that the table's limits and the wager itself set.

    `seat` None is the dealer's own stake against a player who banks.
    """
    stake = wager.stake_cents
    place = None if seat is None else seat.seat
    if not stake or (place is not None and case.doubts.wager(place, wager.wager, "stake")):
        return
    for bound, word, rule in _bounds(case, seat, wager.wager):
        broken = stake > bound if word == "maximum" else stake < bound
        if word == "fixed wager":
            broken = stake != bound
        if not broken:
            continue
        side = {"maximum": "over", "fixed wager": "not"}.get(word, "under")
        yield Finding.of(
            FindingCode.LIMIT,
            seat=place,
            wager=wager.wager,
            seen=money(stake),
            due=f"{word} {money(bound)}",
            rule=rule,
            message=f"{place_name(place)}, {wager_name(wager.wager)}: {money(stake)} is {side} the "
            f"{word} of {money(bound)}.",
        )


def judge_single(case: Case, seat: SeatRecord) -> Iterator[Finding]:
    """More wagers of a kind than the one that may be placed (003, Pai Gow Insurance)."""
    for name, rule in case.terms.game.single.items():
        placed = [w for w in seat.wagers if w.wager == name]
        if len(placed) < 2 or case.doubts.wager(seat.seat, name, "stake"):
            continue
        stakes = " and ".join(
            "?" if w.stake_cents is None else money(w.stake_cents) for w in placed
        )
        yield Finding.of(
            FindingCode.LIMIT,
            seat=seat.seat,
            wager=name,
            seen=f"{len(placed)} wagers: {stakes}",
            due="only one",
            rule=str(rule),
            message=f"Seat {seat.seat}, {wager_name(name)}: {len(placed)} wagers ({stakes}) were "
            "placed; only one may be.",
        )


def _bounds(case: Case, seat: SeatRecord | None, wager: str) -> Iterator[tuple[int, str, str]]:
    """Each bound of a stake in cents, with its name and the rule that sets it."""
    limit = case.terms.limits.get(wager)
    least = None if limit is None else limit.min_cents
    player = None if seat is None else seat.player
    hands = case.hands_of[player] if player is not None else 1
    several = case.terms.several_hands
    if wager == "main" and several is not None and hands > 1:
        yield (
            several.least(hands, least or 0),
            f"minimum for {hands} hands",
            f"table limits, main, minimum for {hands} hands of one player",
        )
    elif least is not None:
        yield least, "minimum", f"table limits, {wager}, minimum"
    if limit is not None and limit.max_cents is not None:
        yield limit.max_cents, "maximum", f"table limits, {wager}, maximum"
    progressive = case.terms.progressives.get(wager)
    if progressive is not None:
        yield progressive.base_cents, "fixed wager", f"{wager}, fixed wager"


def judge_lammers(case: Case, seat: SeatRecord, unjudged: Unjudged) -> Iterator[Finding]:
    """Lammers that are missing, or lie where none belongs."""
    doubt = case.doubts.lammers(seat.seat)
    if doubt:
        unjudged.add(doubt)
        return
    lying = {kind.lower() for kind in seat.lammers}
    for lammer in case.terms.game.lammers:
        stake = _stake(case, seat, lammer.wager)
        if stake is not None:
            yield from _lammer(case, seat.seat, lammer, stake, lammer.kind in lying)
    known = {lammer.kind for lammer in case.terms.game.lammers}
    for kind in sorted(lying - known):
        yield Finding.of(
            FindingCode.LAMMER,
            seat=seat.seat,
            seen=f"{kind.upper()} lammer",
            due="no such lammer",
            rule=f"lammers of {case.terms.game.id}",
            message=f"Seat {seat.seat}: a {kind.upper()} lammer lies, and the game has none.",
        )


def _stake(case: Case, seat: SeatRecord, name: str) -> int | None:
    """The stake in cents, 0 where there is no wager, None when it is not known."""
    if case.doubts.wager(seat.seat, name, "stake"):
        return None
    wager = seat.wager(name)
    return 0 if wager is None else wager.stake_cents


def _lammer(case: Case, seat: int, lammer: LammerRule, stake: int, lies: bool) -> Iterator[Finding]:
    """A lammer that is missing, or lies where none belongs."""
    least = max(case.rules.envy_min_cents, 1) if lammer.envy else 1
    offered = "envy" in case.terms.tables if lammer.envy else True
    belongs = offered and stake >= least
    if lies == belongs or (belongs and not lammer.envy):
        return
    word = lammer.kind.upper()
    shown = money(stake) if stake else "no stake"
    if not lies:
        why = f"no {word} lammer lies by the {shown}; stakes from {money(least)} on have one"
    elif not offered:
        why = f"an {word} lammer lies, and the table has no Envy Bonus"
    elif lammer.envy:
        why = f"an {word} lammer lies by {shown}; only stakes from {money(least)} on have one"
    else:
        why = f"a {word} lammer lies by no stake"
    yield Finding.of(
        FindingCode.LAMMER,
        seat=seat,
        wager=lammer.wager,
        seen=f"{word} lammer" if lies else f"no {word} lammer",
        due=f"no {word} lammer" if lies else f"{word} lammer",
        rule=str(lammer.rule),
        message=f"Seat {seat}, {wager_name(lammer.wager)}: {why}.",
    )
