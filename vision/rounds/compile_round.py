"""A finished round's tracks to its round record: votes over readings, doubts said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from settlement.games import GAMES, JACKPOTS, players_bank
from settlement.record import (
    Confidence,
    DealerRecord,
    RoundRecord,
    SeatRecord,
    Sensor,
    Undecided,
    UnsureCard,
    WagerRecord,
)
from settlement.unowned_prizes import prize_hands, with_unowned_prizes
from vision.cards.deck_assignment import (
    HAND_CARDS,
    NOT_FOUND,
    Decided,
    decide_deck,
    marks,
    may_be,
    may_be_instead,
    unknown_deck,
)
from vision.cards.view import CardRead, split_hands
from vision.chips.states import PlaceSum, honest, place_sum
from vision.geometry.table import DealerPlace, Point, SeatPlace, TableFile
from vision.rounds.changes import Changes, find_changes, until
from vision.rounds.dealt_again import coin_readings
from vision.rounds.felt.felt_print import without_print
from vision.rounds.gap_doubts import SeatGaps, dealer_gap, seat_gaps, without_hidden
from vision.rounds.jackpots.lamp_wagers import lamp_says, lit_without_hand, seen_sensor
from vision.rounds.payouts import (
    UNREAD,
    Hidden,
    Hides,
    dated,
    done,
    former_sums,
    hides_more,
    hides_payout,
    last_state,
    least_cents,
    lies_by_another,
    stands_alone,
    why_not,
)
from vision.rounds.procedure.broken_off import broken_off
from vision.rounds.procedure.eighth_card import aside_name, part_dealer
from vision.rounds.procedure.reaches import one_players
from vision.rounds.round_state import FACE_UP_CARDS, Episode, Round
from vision.rounds.six_cards import lacks_a_card
from vision.rounds.split_stakes import (
    came_to_stand,
    given_at,
    undealt_rests,
    with_second_stacks,
    with_sensor_pays,
    without_players_own,
)
from vision.rounds.view_reader import ViewReading
from vision.sensors.lamp_reading import LampDecision

LOW_CARDS = 2

LISTED_SHARE = 0.999
"""A card that is stated with less is listed in the record with what else it may be."""

MARK_COUNTS = "what was taken for a mark may be a card of the low hand"
NO_COIN = "chips were laid on the sensor later, and no coin was seen on it"
NO_MAIN = "cards were dealt here, and no main wager was seen"


@dataclass(frozen=True, slots=True)
class ReadHand:
    """Names of the cards of a hand, what is not sure, the least share, and the cards that are
    read with less than `LISTED_SHARE`."""

    low: tuple[str, ...]
    high: tuple[str, ...]
    doubts: tuple[Undecided, ...]
    least: float
    unsure: tuple[UnsureCard, ...] = ()


def read_hand(
    seat: int | None,
    hands: Mapping[int | None, Sequence[CardRead]],
    where: SeatPlace | DealerPlace,
    decided: Mapping[int, Decided],
    *,
    lacking: bool = False,
) -> ReadHand:
    """Names of both hands of a seat, None the dealer; cards that are not sure are doubts.

    `hands` are the cards of the whole round, `where` the places of the seat's two hands.
    With `lacking` a seventh that is not read is none.
    """
    every = hands[seat]
    # More than seven cannot lie there: the least probable one is a mark, not a card.
    over = marks(every)
    cards = [c for c in every if c not in over and not _is_mark(c, decided)]
    in_low, in_high = split_hands(
        [c for c in cards if c.indices], where.low, where.high, where.place
    )
    box_lacking = in_low if len(in_low) < LOW_CARDS else in_high
    box_lacking += [c for c in cards if not c.indices]
    names: dict[str, list[str]] = {"low": [], "high": []}
    doubts: list[Undecided] = []
    unsure: list[UnsureCard] = []
    least = 1.0
    for box, own in (("low", in_low), ("high", in_high)):
        for place_in_row, card in enumerate(sorted(own, key=_along)):
            name = decided.get(id(card), Decided(card.label, card.share))
            if name.why is None:
                if name.share < LISTED_SHARE:
                    what = f"{box}[{len(names[box])}]"
                    ways = may_be_instead(card, hands, name)
                    unsure.append(UnsureCard(seat=seat, what=what, may_be=ways))
                names[box].append(name.label)
                least = min(least, name.share)
            else:
                doubts.append(
                    Undecided(
                        seat=seat, what=f"{box}[{place_in_row}]", why=name.why,
                        may_be=may_be(card, hands) or None,
                    )
                )  # fmt: skip
    all_low, _ = split_hands([c for c in every if c.indices], where.low, where.high, where.place)
    if len(cards) == HAND_CARDS < len(every) and len(in_low) != LOW_CARDS == len(all_low):
        # The boxes' counts hang on it: a hand of eight cards is no foul of seven.
        doubts.append(Undecided(seat=seat, what="hand", why=MARK_COUNTS))
    missing = HAND_CARDS - len(cards)
    if missing > 0 and not lacking:
        for box, full in (("low", LOW_CARDS), ("high", HAND_CARDS - LOW_CARDS)):
            have = len(in_low if box == "low" else in_high)
            for k in range(have, full):
                doubts.append(Undecided(seat=seat, what=f"{box}[{k}]", why=NOT_FOUND))
    return ReadHand(tuple(names["low"]), tuple(names["high"]), tuple(doubts), least, tuple(unsure))


def _along(card: CardRead) -> float:
    """Where a card lies in its row; an unread one comes last."""
    return card.center_mm[0] if card.indices else math.inf


def _is_mark(card: CardRead, decided: Mapping[int, Decided]) -> bool:
    """Whether a card over the seven of a hand is one that lies elsewhere."""
    decision = decided.get(id(card))
    return decision is not None and decision.mark


def _readings(episodes: Sequence[Episode]) -> list[ViewReading]:
    return [r for e in episodes for r in e.readings]


@dataclass
class _Spots:
    """What was staked and done at the spots of a seat."""

    wagers: list[WagerRecord] = field(default_factory=list)
    doubts: list[Undecided] = field(default_factory=list)
    taken_s: float | None = None
    """When its cards were taken, where a payout came after that."""
    coins: dict[str, bool | None] = field(default_factory=dict)
    """By jackpot whether a coin was seen on its sensor; None: what lay there was not read."""
    laid: dict[str, WagerRecord] = field(default_factory=dict)
    """What was done at sensors on which no wager was seen."""

    def sensors(
        self, lamps: Mapping[str, LampDecision], gaps: SeatGaps
    ) -> tuple[Sensor, ...] | None:
        """What was seen of the seat's sensors; None where nothing was."""
        found = []
        for name, coin in self.coins.items():
            laid = None if name not in self.laid else gaps.known([self.laid[name]])[0]
            found.append(seen_sensor(name, lamps.get(name), coin=coin, laid=laid))
        return tuple(sensor for sensor in found if sensor is not None) or None


def _wagers(
    table: TableFile,
    seat: int,
    episodes: Sequence[Episode],
    changes: Changes,
    hides: Hides | None,
    lamps: Mapping[str, LampDecision],
    elsewhere: Sequence[Point],
    coins: Sequence[ViewReading],
) -> _Spots:
    """What was staked and done at each spot of a seat.

    `elsewhere` is where the chips of the other seats' wagers stood (mm of the felt), `coins` what
    showed coins that were taken in before a misdeal.
    """
    shown = next((k for k, e in enumerate(episodes) if e.cards_up >= FACE_UP_CARDS), len(episodes))
    episodes = without_players_own(with_second_stacks(episodes, shown), shown)
    episodes = with_sensor_pays(episodes, shown)
    last = episodes[-1]
    hidden: Hidden | None = None if hides is None else partial(hides, seat, episodes[:shown])
    out = _Spots()
    wagers, doubts = out.wagers, out.doubts

    def doubt(what: str, why: str) -> None:
        doubts.append(Undecided(seat=seat, what=what, why=why))

    everything = _readings(episodes)
    before = _readings(episodes[: shown + 1]) or everything
    for name in table.seat(seat).spots:
        earlier = coins if name in JACKPOTS else ()
        seen_before = [r.stakes[name] for r in (*earlier, *before) if name in r.stakes]
        unread = sum(name in r.unread for r in before)
        # A coin lies on a sensor until it is taken in, mostly before the deal.
        fewest = 2 if name in JACKPOTS else max(1, math.ceil(len(before) / 3))
        says = lamp_says(
            table.rules, name, lamps.get(name), coin=len(seen_before) >= fewest,
            unread=unread * 2 > len(before),
        )  # fmt: skip
        if name in JACKPOTS:
            coin = len(seen_before) >= fewest
            out.coins[name] = None if not coin and unread * 2 > len(before) else coin
        if says.cents is not None:
            action, paid = done(name, last, episodes[shown:], doubt, hidden)
            wagers.append(
                WagerRecord(
                    wager=name, stake_cents=says.cents, action=action, paid_cents=paid.cents,
                    paid_sums=paid.sums or None, paid_chips=paid.height,
                    cameras=paid.cameras or None,
                    paid_least_cents=least_cents(table, name, last) if action == "paid" else None,
                )
            )  # fmt: skip
            continue
        if len(seen_before) < fewest:
            if len(seen_before) >= 2:
                doubt(f"{name}.stake", "chips were seen on the spot in some views only")
            elif unread * 2 > len(before):
                doubt(f"{name}.stake", UNREAD)
            if name in JACKPOTS:
                action, paid = done(name, last, episodes[shown:], lambda *_: None, hidden)
                out.laid[name] = WagerRecord(
                    wager=name, action=action, paid_cents=paid.cents,
                    paid_sums=paid.sums or None, paid_chips=paid.height,
                    cameras=paid.cameras or None,
                )  # fmt: skip
                if action == "paid" and out.coins[name] is False:
                    doubt(f"{name}.stake", NO_COIN)
            continue
        seen = [r.stakes[name] for r in (*earlier, *everything) if name in r.stakes]
        # A pay beside the stake may stand before it: stakes alone are read better.
        alone = [r.stakes[name] for r in everything if name in r.stakes and name not in r.pays]
        if len(alone) >= 2:
            seen = alone
        late = changes.late_bet(seat, name)
        if late is not None:
            # What lay there before is no reading of what lies there now.
            since = late.after.readings[0].at_s
            seen = [r.stakes[name] for r in everything if name in r.stakes and r.at_s >= since]
        stake = honest(place_sum(seen))
        if says.doubt is not None:
            stake = PlaceSum((), stake.height, stake.cameras)
            doubt(name, says.doubt)
        elif unread * 2 > len(before):
            stake = PlaceSum((), stake.height, stake.cameras)
            doubt(f"{name}.stake", UNREAD)
        elif stake.cents is None:
            doubt(f"{name}.stake", why_not(stake))
        action, paid = done(name, last, episodes[shown:], doubt, hidden)
        late_pay = dated(name, episodes[shown:], paid) if action == "paid" else None
        if late_pay is not None:
            out.taken_s = min(out.taken_s or late_pay.gone_s, late_pay.gone_s)
        wagers.append(
            WagerRecord(
                wager=name, stake_cents=stake.cents, action=action,
                paid_cents=paid.cents, payments=late_pay.payments if late_pay else None,
                late=None if late is None else late.late, stake_sums=stake.sums or None,
                paid_sums=paid.sums or None, in_time_sums=late_pay.in_time if late_pay else None,
                former_sums=former_sums(name, episodes[shown:], paid)
                if action == "paid" and late_pay is None else None,
                stake_chips=stake.height, paid_chips=paid.height,
                hides_more=hides_more(name, last, action, hidden),
                stands=True if action is None and stands_alone(name, last) else None,
                cameras=tuple(sorted({*stake.cameras, *paid.cameras})) or None,
                paid_least_cents=least_cents(table, name, last) if action == "paid" else None,
            )
        )  # fmt: skip
    prizes = [r.pays["envy"] for r in last.readings if "envy" in r.pays]
    if len(prizes) * 2 > len(last.readings) and lies_by_another(prizes, episodes[shown:]):
        doubt("envy.paid", "its chips may be the payout of another wager")
    elif len(prizes) * 2 > len(last.readings):
        prize = honest(last_state("envy", episodes))
        if prize.cents is None:
            doubt("envy.paid", why_not(prize))
        wagers.append(_prize(prize))
    # A prize that has a lammer is known by it; another one lies there before the hand is shown.
    has_lammer = any(one.kind == "envy" for one in GAMES[table.rules.game].lammers)
    rests = episodes[:shown] if has_lammer else undealt_rests(episodes[:shown])
    if came_to_stand(rests, last, elsewhere) is not None:
        doubt("chips", "chips came to stand by the spots that could be given to no wager")
    return out


def _prize(sum_: PlaceSum) -> WagerRecord:
    """An envy prize of this sum."""
    return WagerRecord(
        wager="envy", stake_cents=None, action="paid", paid_cents=sum_.cents,
        paid_sums=sum_.sums or None, paid_chips=sum_.height, cameras=sum_.cameras or None,
    )  # fmt: skip


def _hands(table: TableFile, own: Round) -> dict[int | None, list[CardRead]]:
    """What every place of a round shows."""
    changes = find_changes(table, own)
    return {seat: changes.hand(seat, track) for seat, track in own.tracks.items()}


def _is_known(wagers: Sequence[WagerRecord], doubts: Sequence[Undecided]) -> bool:
    """Whether a main wager was seen at a seat, or is in doubt already."""
    return any(w.wager == "main" for w in wagers) or any(
        d.what.startswith("main") or d.what == "gap" for d in doubts
    )


def compile_round(
    table: TableFile,
    number: int,
    own: Round,
    end_s: float,
    *,
    cut_short: bool,
    changes: Changes | None = None,
    lamps: Mapping[tuple[int, str], LampDecision] | None = None,
    other: Round | None = None,
) -> RoundRecord:
    """The record of a finished round, `number` of its table.

    `changes` are the round's own, looked for here when they are not given; `lamps` what the
    sensors' lamps showed by seat and wager, where the table declares them. `other` is the same
    round by its other reading (`vision.rounds.two_readings`).
    """
    if own.broken_off:
        return broken_off(table, number, own, end_s)
    if changes is None:
        changes = find_changes(table, own)
    changes, doubts = without_hidden(changes, own)
    hands: dict[int | None, list[CardRead]] = {
        seat: changes.hand(seat, track) for seat, track in own.tracks.items()
    }
    lacking = {
        seat.seat for seat in table.seats
        if lacks_a_card(own.tracks[seat.seat], hands[seat.seat], seat)
    }  # fmt: skip
    for place in lacking:
        hands[place] = [card for card in hands[place] if card.indices]
    parted = part_dealer(table, hands)
    decided = decide_deck(hands, None if other is None else _hands(table, other))
    known = unknown_deck(decided.values()) is None
    players = one_players(own.arms)
    least = 1.0
    unsure: list[UnsureCard] = []
    dealer_cards = hands[None]
    dealer = DealerRecord()
    if dealer_cards:
        read = read_hand(None, hands, table.dealer, decided)
        dealer = DealerRecord(
            low=read.low, high=read.high, moves=changes.moves_of(None) if known else None,
            discard=aside_name(parted, decided),
        )  # fmt: skip
        if parted.doubt:
            doubts.append(Undecided(seat=None, what="hand", why=parted.doubt))
        doubts += read.doubts
        least = min(least, read.least)
        unsure += read.unsure
        hidden = dealer_gap(own)
        if hidden is not None:
            why = f"{hidden}: it may have been laid otherwise"
            doubts.append(Undecided(seat=None, what="hand", why=why))
    else:
        doubts.append(
            Undecided(seat=None, what="hand", why="the dealer's cards were never seen at rest")
        )
    seats = []
    hides = hides_payout(table)
    given = {seat: given_at(track.episodes) for seat, track in own.tracks.items()}
    for seat in table.seats:
        track = own.tracks[seat.seat]
        episodes = without_print(until(track.episodes, own.cut_s), track.bare, seat)
        if not episodes:
            continue
        shown = {name: own for (at, name), own in (lamps or {}).items() if at == seat.seat}
        elsewhere = [at for other, own_ in given.items() if other != seat.seat for at in own_]
        coins = coin_readings(own, seat.seat)
        spots = _wagers(table, seat.seat, episodes, changes, hides, shown, elsewhere, coins)
        gaps = seat_gaps(own, seat.seat)
        own_doubts = [*spots.doubts, *gaps.doubts(seat.seat, spots.wagers)]
        wagers = gaps.known(spots.wagers)
        cards = hands[seat.seat]
        if not cards and (lit := lit_without_hand(seat.seat, wagers, shown)) is not None:
            doubts += lit
            continue
        if not wagers and not cards:
            continue
        low: tuple[str, ...] | None = None
        high: tuple[str, ...] | None = None
        if cards:
            read = read_hand(seat.seat, hands, seat, decided, lacking=seat.seat in lacking)
            low, high = read.low, read.high
            doubts += read.doubts
            least = min(least, read.least)
            unsure += read.unsure
            # Who banks stakes nothing, and where players bank that is read from just this.
            if not players_bank(table.rules.game) and not _is_known(wagers, own_doubts):
                own_doubts.append(Undecided(seat=seat.seat, what="main.stake", why=NO_MAIN))
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
            SeatRecord(
                seat=seat.seat,
                player=players.get(seat.seat),
                cards_taken_s=None if spots.taken_s is None else f"{spots.taken_s:.3f}",
                low=low,
                high=high,
                moves=changes.moves_of(seat.seat) if known else None,
                lammers=kept,
                wagers=tuple(wagers),
                sensors=spots.sensors(shown, gaps),
            )
        )
    if own.gap is not None and not cut_short:
        why = f"{own.gap}: the end of the round was not seen"
        doubts.append(Undecided(seat=None, what="end", why=why))
    if cut_short:
        doubts.append(
            Undecided(seat=None, what="end", why="the recording ended before the round did")
        )
    record = RoundRecord(
        round_id=f"{table.table}-{number:06d}",
        table=table.table,
        game=table.rules.game,
        start_s=f"{own.start_s:.3f}",
        end_s=f"{end_s:.3f}",
        dealer=dealer,
        seats=tuple(seats),
        undecided=tuple(doubts),
        confidence=Confidence(min_card=round(least, 4), cards=tuple(unsure) or None),
    )
    return with_unowned_prizes(record, _prizes(own, table, record, given))


def _prizes(
    own: Round, table: TableFile, record: RoundRecord, given: Mapping[int | None, Sequence[Point]]
) -> dict[int, WagerRecord]:
    """By seat the chips of no wager that came to stand after a hand that wins prizes was shown.

    Where prizes lie and no hand that was read wins one, it may be any. `given` is where the chips
    of wagers lay, by seat.
    """
    hands: Sequence[int] = prize_hands(record, table.rules)
    if not hands and any(seat.wager("envy") is not None for seat in record.seats):
        hands = [seat.seat for seat in record.seats]
    shown = [episode.start_s for seat in hands for episode in own.tracks[seat].hand_episodes()[:1]]
    if not shown:
        return {}
    prizes = {}
    for seat in table.seats:
        track = own.tracks[seat.seat]
        episodes = without_print(until(track.episodes, own.cut_s), track.bare, seat)
        if not episodes:
            continue
        before = [e for e in episodes if e.start_s < min(shown)]
        elsewhere = [at for other, places in given.items() if other != seat.seat for at in places]
        came = came_to_stand(before, episodes[-1], elsewhere)
        if came is not None and came.cents is not None:
            prizes[seat.seat] = _prize(came)
    return prizes
