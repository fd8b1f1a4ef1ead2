"""A finished round's tracks to its round record: votes over readings, doubts said."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from settlement.record import (
    Action,
    Confidence,
    DealerRecord,
    RoundRecord,
    SeatRecord,
    Undecided,
    WagerRecord,
)
from vision.hands import CardRead, split_hands
from vision.seat_reader import ViewReading
from vision.stacks import StackSight
from vision.table import Place, Point, Polygon, TableFile
from vision.tracker import FACE_UP_CARDS, Episode, Round, ViewTrack

SURE_CARD = 0.5
SURE_STACK = 0.9
"""Least share of a stack's number and colours together. Of 866 stacks of shifts that were not
trained on 78% reach it, and 1% of these are wrong."""

SURE_VOTES = 0.65
SURE_SHARE = 0.34
HAND_CARDS = 7
STOOD_MM = 20.0
"""A stack this near to one seen before is the same one."""
STRAY_SHARE = 0.8
TWIN_SHARE = 0.93
"""A card read twice in a round: the reading under this share gives way."""


@dataclass(frozen=True, slots=True)
class _Hand:
    low: tuple[str, ...]
    high: tuple[str, ...]
    doubts: tuple[tuple[str, str], ...]
    least: float


def _hand(
    cards: Sequence[CardRead],
    low: Polygon,
    high: Polygon,
    place: Place,
    given_up: Mapping[int, str],
) -> _Hand:
    """Names of both hands; cards that are not sure are told as doubts."""
    # More than seven cannot lie there: what was read least surely is a mark, not a card.
    surplus = sorted(cards, key=lambda c: c.share)[: max(0, len(cards) - HAND_CARDS)]
    cards = [c for c in cards if c not in surplus or c.share >= STRAY_SHARE]
    in_low, in_high = split_hands(cards, low, high, place)
    names: dict[str, list[str]] = {"low": [], "high": []}
    doubts: list[tuple[str, str]] = []
    least = 1.0
    for box, own in (("low", in_low), ("high", in_high)):
        for place_in_row, card in enumerate(sorted(own, key=lambda c: c.center_mm[0])):
            why = given_up.get(id(card))
            if why is None and card.share < SURE_CARD:
                why = f"read as {card.label} with a share of {card.share:.2f} only"
            if why is None:
                names[box].append(card.label)
                least = min(least, card.share)
            else:
                doubts.append((f"{box}[{place_in_row}]", why))
    missing = HAND_CARDS - len(cards)
    if missing > 0:
        for box, full in (("low", 2), ("high", 5)):
            have = len(in_low if box == "low" else in_high)
            for k in range(have, full):
                doubts.append((f"{box}[{k}]", "no index of the card was found"))
    return _Hand(tuple(names["low"]), tuple(names["high"]), tuple(doubts), least)


def _value(stacks: Sequence[StackSight]) -> int | None:
    """Cents of the stacks as they are best read; None when one is too high to count."""
    if not all(stack.colours for stack in stacks):
        return None
    return sum(stack.value_cents for stack in stacks)


def _sure(stacks: Sequence[StackSight]) -> bool:
    """Whether every stack's height and colours are read surely."""
    return all(s.count_share * s.colour_share >= SURE_STACK for s in stacks)


def _vote(readings: Sequence[Sequence[StackSight]]) -> tuple[int | None, int | None]:
    """Cents that most readings agree on (None: undecided) and the tallest stack, if counted.

    Unsure readings vote too, or only the wrong that look sure would be heard; but some of
    the winner's own must be sure.
    """
    values = [_value(stacks) for stacks in readings]
    heights = [max(len(s.colours) for s in r) for r, v in zip(readings, values, strict=True) if v]
    height = round(statistics.median(heights)) if heights else None
    told = Counter(v for v in values if v is not None)
    if not told:
        return None, height
    value, count = told.most_common(1)[0]
    surely = sum(_sure(r) for r, v in zip(readings, values, strict=True) if v == value)
    agreed = count >= SURE_VOTES * len(values) and surely >= SURE_SHARE * count
    return (value if agreed else None), height


def _until(track: ViewTrack, cut_s: float | None) -> list[Episode]:
    return [e for e in track.episodes if e.readings and (cut_s is None or e.start_s <= cut_s)]


def _readings(episodes: Sequence[Episode]) -> list[ViewReading]:
    return [r for e in episodes for r in e.readings]


def _wagers(
    table: TableFile, seat: int, track: ViewTrack, cut_s: float | None
) -> tuple[list[WagerRecord], list[Undecided]]:
    """What was staked and done at each spot of a seat."""
    episodes = _until(track, cut_s)
    shown = next((k for k, e in enumerate(episodes) if e.cards_up >= FACE_UP_CARDS), len(episodes))
    episodes = _with_second_stacks(episodes, shown)
    last = episodes[-1]
    wagers: list[WagerRecord] = []
    doubts: list[Undecided] = []

    def doubt(what: str, why: str) -> None:
        doubts.append(Undecided(seat=seat, what=what, why=why))

    everything = _readings(episodes)
    before = _readings(episodes[: shown + 1]) or everything
    for name in table.seat(seat).spots:
        seen_before = [r.stakes[name] for r in before if name in r.stakes]
        if len(seen_before) * 3 < len(before) or not seen_before:
            if len(seen_before) >= 2:
                doubt(f"{name}.stake", "chips were seen on the spot in some views only")
            continue
        seen = [r.stakes[name] for r in everything if name in r.stakes]
        # A pay beside the stake may stand before it: stakes alone are read better.
        alone = [r.stakes[name] for r in everything if name in r.stakes and name not in r.pays]
        if len(alone) >= 2:
            seen = alone
        stake, height = _vote(seen)
        if stake is None:
            doubt(f"{name}.stake", "the stack could not be counted surely")
        action, paid, paid_height = _done(name, last, episodes[shown:], doubt)
        wagers.append(
            WagerRecord(
                wager=name, stake_cents=stake, action=action, paid_cents=paid,
                stake_chips=height, paid_chips=paid_height,
            )
        )  # fmt: skip
    prizes = [r.pays["envy"] for r in last.readings if "envy" in r.pays]
    if len(prizes) * 2 > len(last.readings):
        value, height = _vote([r.pays["envy"] for r in everything if "envy" in r.pays])
        if value is None:
            doubt("envy.paid", "the stack could not be counted surely")
        wagers.append(
            WagerRecord(
                wager="envy", stake_cents=None, action="paid", paid_cents=value,
                stake_chips=None, paid_chips=height,
            )
        )  # fmt: skip
    if _laid_by(episodes[:shown], last):
        doubt("chips", "chips came to stand by the spots that could be given to no wager")
    return wagers, doubts


def _with_second_stacks(episodes: list[Episode], shown: int) -> list[Episode]:
    """The episodes with stakes in two stacks told as stakes.

    A stack beside the spot is a pay; but nothing is paid before the hand is turned up, so what
    stands there in most views until then is more of the stake, and stays that.
    """
    before = _readings(episodes[:shown])
    early: dict[str, list[Point]] = {}
    for reading in before:
        for name, stacks in reading.pays.items():
            for stack in stacks:
                there = sum(_stands(stack.center_mm, r.pays.get(name, ())) for r in before)
                staked = sum(name in r.stakes for r in before)
                if name != "envy" and staked and there * 2 > staked:
                    early.setdefault(name, []).append(stack.center_mm)
    if not early:
        return episodes

    def told(reading: ViewReading) -> ViewReading:
        stakes, pays = dict(reading.stakes), dict(reading.pays)
        for name, places in early.items():
            own = pays.pop(name, ())
            old = tuple(
                s for s in own if any(math.dist(s.center_mm, at) <= STOOD_MM for at in places)
            )
            new = tuple(s for s in own if s not in old)
            if old:
                stakes[name] = (*stakes.get(name, ()), *old)
            if new:
                pays[name] = new
        return replace(reading, stakes=stakes, pays=pays)

    return [replace(e, readings=[told(r) for r in e.readings]) for e in episodes]


def _stands(at: Point, stacks: Sequence[StackSight]) -> bool:
    """Whether one of the stacks stands at a felt point."""
    return any(math.dist(stack.center_mm, at) <= STOOD_MM for stack in stacks)


def _laid_by(before: Sequence[Episode], last: Episode) -> bool:
    """Whether chips of no wager stand there at last, in most views, that did not stand there
    before the hand was turned up."""
    old = [s.center_mm for r in _readings(before) for s in r.strays]
    new = sum(
        any(all(math.dist(s.center_mm, at) > STOOD_MM for at in old) for s in r.strays)
        for r in last.readings
    )
    return new * 2 > len(last.readings)


def _done(
    name: str, last: Episode, after: Sequence[Episode], doubt: Callable[[str, str], None]
) -> tuple[Action | None, int | None, int | None]:
    """Action, cents and height of the pay of one wager."""
    total = len(last.readings)
    stake_there = sum(name in r.stakes for r in last.readings)
    pay_there = sum(name in r.pays for r in last.readings)
    if pay_there * 2 > total:
        value, height = _vote([r.pays[name] for r in _readings(after) if name in r.pays])
        if value is None:
            doubt(f"{name}.paid", "the stack could not be counted surely")
        return "paid", value, height
    if stake_there * 2 > total:
        return "left", 0, None
    if stake_there or pay_there:
        doubt(f"{name}.action", "chips were seen in some views only")
        return None, None, None
    return "taken", 0, None


def compile_round(
    table: TableFile, number: int, own: Round, end_s: float, *, cut_short: bool
) -> RoundRecord:
    """The record of a finished round, `number` of its table."""
    doubts: list[Undecided] = []
    hands = {seat: track.hand() for seat, track in own.tracks.items()}
    given_up = _twins(hands)
    least = 1.0
    dealer_cards = hands[None]
    dealer = DealerRecord()
    if dealer_cards:
        read = _hand(
            dealer_cards, table.dealer.low, table.dealer.high, table.dealer.place, given_up
        )
        dealer = DealerRecord(low=read.low, high=read.high)
        doubts += [Undecided(seat=None, what=w, why=y) for w, y in read.doubts]
        least = min(least, read.least)
    else:
        doubts.append(
            Undecided(seat=None, what="hand", why="the dealer's cards were never seen at rest")
        )
    seats = []
    for seat in table.seats:
        track = own.tracks[seat.seat]
        episodes = _until(track, own.cut_s)
        if not episodes:
            continue
        wagers, own_doubts = _wagers(table, seat.seat, track, own.cut_s)
        cards = hands[seat.seat]
        if not wagers and not cards:
            continue
        low: tuple[str, ...] | None = None
        high: tuple[str, ...] | None = None
        if cards:
            read = _hand(cards, seat.low, seat.high, seat.place, given_up)
            low, high = read.low, read.high
            doubts += [Undecided(seat=seat.seat, what=w, why=y) for w, y in read.doubts]
            least = min(least, read.least)
        else:
            doubts.append(
                Undecided(
                    seat=seat.seat, what="hand", why="the hand was never seen turned up at rest"
                )
            )
        doubts += own_doubts
        readings = _readings(episodes)
        lammers = Counter(kind for r in readings for kind in r.lammers)
        kept = tuple(sorted(k for k, v in lammers.items() if v * 2 > len(readings)))
        doubts += [
            Undecided(seat=seat.seat, what="lammers", why=f"{kind} was seen in some views only")
            for kind, v in sorted(lammers.items())
            if 0.3 < v / len(readings) <= 0.5
        ]
        seats.append(
            SeatRecord(seat=seat.seat, low=low, high=high, lammers=kept, wagers=tuple(wagers))
        )
    if cut_short:
        doubts.append(
            Undecided(seat=None, what="end", why="the recording ended before the round did")
        )
    return RoundRecord(
        round_id=f"{table.table}-{number:06d}",
        table=table.table,
        game=table.rules.game,
        start_s=f"{own.start_s:.3f}",
        end_s=f"{end_s:.3f}",
        dealer=dealer,
        seats=tuple(seats),
        undecided=tuple(doubts),
        confidence=Confidence(min_card=round(least, 4)),
    )


def _twins(hands: Mapping[int | None, Sequence[CardRead]]) -> dict[int, str]:
    """Cards (by id) whose label was read more surely elsewhere in the round."""
    places: dict[str, list[tuple[int | None, CardRead]]] = {}
    for seat, cards in hands.items():
        for card in cards:
            places.setdefault(card.label, []).append((seat, card))
    out: dict[int, str] = {}
    for label, found in places.items():
        if len(found) < 2:
            continue
        found.sort(key=lambda f: -f[1].share)
        best = found[0][0]
        where = "the dealer's hand" if best is None else f"seat {best}"
        for _, card in found[1:]:
            if card.share < TWIN_SHARE:
                out[id(card)] = f"read as {label}, which {where} shows more surely"
    return out
