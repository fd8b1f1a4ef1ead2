"""What happens in a round before anything moves: bets, cards, settings, settling, mistakes.

What is due comes from `settlement.settle`; the dealer does just that, but for the mistakes
asked for. A pay from a jackpot's meter or too large for the tray is never laid: it comes
from the cage, and the round's truth lists it as HAND_PAY.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from datasets.simulate.bets import SeatBets, side_wagers
from datasets.simulate.chipwork import make_change
from datasets.simulate.dealing import deal, house_way, player_setting
from datasets.simulate.dice import dealing_order
from datasets.simulate.draft import Draft, Occasion
from datasets.simulate.mistakes.bets import BET_WAYS
from datasets.simulate.mistakes.cards import LATE_WAYS
from datasets.simulate.mistakes.catalogue import UNSEEN_BY_RULES, WAYS, drawn_ways, split_wish
from datasets.simulate.mistakes.setting import SET_WAYS
from datasets.simulate.paying import pay_steps
from datasets.simulate.script import (
    EnvyScript,
    PlannedFault,
    RoundScript,
    SeatScript,
    WagerScript,
    Ways,
)
from datasets.simulate.stakes import limit_breaks
from settlement.compare.comparison import compare_and_suspect
from settlement.errors import FeltwatchError
from settlement.games import JACKPOTS, terms_for
from settlement.record import JOKER, Action, RoundRecord
from settlement.result import Settlement, WagerSettlement
from settlement.settle import settle
from vision.geometry.table import TableFile

INSURANCE = "pai_gow_insurance"
_TRIES = 400
_ACTIONS: dict[str, Action] = {"win": "paid", "lose": "taken", "push": "left"}


def possible_codes(table: TableFile) -> tuple[str, ...]:
    """The mistakes that the table's rules leave room for, film troubles included."""
    terms = terms_for(table.rules)
    names = dict.fromkeys(name for seat in table.seats for name in side_wagers(seat, table))
    envy = terms.envy is not None and "envy" in terms.tables and terms.envy.wager in names
    kinds = {lammer.kind for lammer in terms.game.lammers}
    room = {
        "LIMIT": any(limit_breaks(wager, table) for wager in ("main", *names)),
        "ENVY_MISSED": envy,
        "ENVY_WRONG": envy,
        "LAMMER": envy and "envy" in kinds and "envy" in table.lammers,
        "HAND_PAY": any(
            name in JACKPOTS or any(row.category == "five_aces" for row in terms.tables[name].rows)
            for name in names
        ),
        "WRONG_SPOT": bool(names),
    }
    return tuple(code for code in WAYS if room.get(code, True))


@dataclass
class Decider:
    """Decides rounds for one table; `jokers` False plays with 52 cards.

    `restless` is the share of seats whose hands are picked up and laid again, or where a
    card drops half outside its box.
    """

    table: TableFile
    rng: random.Random
    jokers: bool = True
    restless: float = 0.06

    def decide(self, occasion: Occasion, wishes: Sequence[str] = ()) -> RoundScript:
        """A round that starts from these bets and holds exactly these mistakes.

        A wish is a code of `datasets.simulate.mistakes.catalogue.WAYS`, or a code and a way
        ('OVERPAID/twice').
        Deals again until the cards give the mistakes room. Raises FeltwatchError when they
        never do.
        """
        for _ in range(_TRIES):
            try:
                script = self._attempt(occasion, [self._way(wish) for wish in wishes])
            except _NoChipsError:
                continue
            if script is not None and self._holds_only(script):
                return script
        wanted = ", ".join(wishes) or "a round without mistakes"
        raise FeltwatchError(
            f"{wanted}: no fitting round in {_TRIES} deals with seats "
            f"{[bets.seat for bets in occasion.bets]}; ask for another round or kind of mistake"
        )

    def _way(self, wish: str) -> tuple[str, str]:
        code, way = split_wish(wish)
        return code, way or self.rng.choice(drawn_ways(code))

    def _attempt(self, occasion: Occasion, wishes: Sequence[tuple[str, str]]) -> RoundScript | None:
        draft = Draft(self.table, self.rng, occasion, list(occasion.bets))
        if occasion.banker is not None:
            for number, own in enumerate(draft.bets):
                if own.seat == occasion.banker:
                    draft.without(number, "main")
        if not all(BET_WAYS[wish](draft) for wish in wishes if wish in BET_WAYS):
            return None
        if not self._dealt(draft):
            return None
        if not all(SET_WAYS[wish](draft) for wish in wishes if wish in SET_WAYS):
            return None
        script: RoundScript | None = self._clean(draft)
        for wish in wishes:
            if script is not None and wish in LATE_WAYS:
                script = LATE_WAYS[wish](script, self._settled(script), self.table, self.rng)
        return script

    def _dealt(self, draft: Draft) -> bool:
        """Deal, draw and set; False when rigged hands need a joker that is not in play."""
        rules, occasion = self.table.rules, draft.occasion
        if not self.jokers and any(JOKER in cards for cards in draft.rigged.values()):
            return False
        held = [card for cards in draft.rigged.values() for card in cards]
        if len(set(held)) < len(held):
            return False
        draft.dealt = deal(
            [bets.seat for bets in draft.bets], self.rng, jokers=self.jokers, rigged=draft.rigged,
            draw=draft.terms.game.dealer_cards > 7,
        )  # fmt: skip
        for seat, seven in draft.dealt.seats.items():
            careless = occasion.careless.get(seat, 0.0)
            draft.settings[seat] = player_setting(seven, rules, careless, self.rng)
        draft.dealer = house_way(draft.dealt.dealer, rules)
        return True

    # Settling

    def _settled(self, script: RoundScript) -> Settlement:
        return settle(script.record(self.table, "round"), self.table.rules)

    def _clean(self, draft: Draft) -> RoundScript | None:
        """The round settled as is due; None when that cannot be decided."""
        occasion = draft.occasion
        undone = RoundScript(
            dealt=draft.dealt.dealer,
            low=draft.dealer.low,
            high=draft.dealer.high,
            seats=tuple(self._seat(draft, bets) for bets in draft.bets),
            faults=tuple(draft.faults),
            discard=draft.dealer.discard,
            banker=occasion.banker,
            house=WagerScript("house", occasion.house, "left") if occasion.house else None,
            meters=occasion.meters,
            dynamic=occasion.dynamic,
            moves=tuple(draft.moves),
            **self._thrown(draft),
        )
        record = undone.record(self.table, "round")
        due = settle(record, self.table.rules)
        wagers = [*due.dealer.wagers, *(w for seat in due.seats for w in seat.wagers)]
        if any(w.outcome is None or (w.pay_cents is None and not w.hand_pay) for w in wagers):
            return None
        faults = list(undone.faults)
        seats = []
        for seat, judged in zip(undone.seats, due.seats, strict=True):
            done = tuple(self._done(w, judged.wager(w.wager), seat.seat) for w in seat.wagers)
            seats.append(replace(seat, wagers=done, envy=self._envy(record, due, seat.seat)))
            faults += [
                PlannedFault("HAND_PAY", seat.seat, w.wager, w.why, ("settled", seat.seat, None))
                for w in judged.wagers
                if w.hand_pay
            ]
        house = undone.house
        if house is not None:
            house = self._done(house, due.dealer.wagers[0], None)
        return replace(undone, seats=tuple(seats), house=house, faults=tuple(faults))

    def _seat(self, draft: Draft, bets: SeatBets) -> SeatScript:
        own = draft.settings[bets.seat]
        wagers = tuple(
            WagerScript(
                name, chips, "left", stacks=bets.stacks.get(name, 1), first=bets.first.get(name),
                late=(bets.seat, name) in draft.late,
            )
            for name, chips in bets.stakes.items()
        )  # fmt: skip
        draw = self.rng.random()
        whole = bets.seat not in draft.before and len(own.high) == 5
        ways = Ways(
            relaid=draw < self.restless / 2,
            dropped=whole and self.restless / 2 <= draw < self.restless,
        )
        return SeatScript(
            seat=bets.seat,
            low=own.low,
            high=own.high,
            wagers=wagers,
            lammers=self._lammers(draft, bets),
            player=bets.player,
            discard=draft.dealt.discards.get(bets.seat),
            drawn=draft.dealt.draws.get(bets.seat),
            before=draft.before.get(bets.seat),
            ways=ways,
        )

    def _thrown(self, draft: Draft) -> _Thrown:
        """The dice, and who gets packets in which order: by the table's counting where it has dice
        of its own, else from some place on."""
        own = self.table.dice
        dice = tuple(self.rng.randint(1, 6) for _ in range(3 if own is None else own.count))
        if own is None:
            return {"first_packet": sum(dice) % (len(draft.bets) + 1)}
        seats = [bets.seat for bets in draft.bets]
        banker = draft.occasion.banker
        return {"dice": dice, "dealing": dealing_order(self.table, dice, seats, banker)}

    def _lammers(self, draft: Draft, bets: SeatBets) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        kinds = {lammer.kind: lammer.wager for lammer in draft.terms.game.lammers}
        treasure = draft.treasure
        least = max(1, self.table.rules.envy_min_cents)
        marked = treasure and "envy" in kinds and "envy" in self.table.lammers
        if treasure and marked and draft.cents(bets, treasure) >= least:
            found.append(("envy", treasure))
        insured = bets.insures_dealer and INSURANCE in bets.stakes
        if insured and "dealer" in kinds and "dealer" in self.table.lammers:
            found.append(("dealer", INSURANCE))
        return tuple(found)

    def _done(
        self, wager: WagerScript, due: WagerSettlement | None, seat: int | None
    ) -> WagerScript:
        if due is None or due.outcome is None:
            raise FeltwatchError(f"seat {seat}, {wager.wager}: the round could not be settled")
        if wager.wager in JACKPOTS and (due.hand_pay or not due.pay_cents):
            # The coin is in the sensor since before the deal.
            return wager.done("taken")
        if due.hand_pay:
            return wager.done("left")
        if not due.pay_cents:
            return wager.done("left" if due.outcome == "win" else _ACTIONS[due.outcome])
        try:
            steps = pay_steps(due, wager.stake, self.table, self.rng)
        except FeltwatchError as error:
            raise _NoChipsError from error
        return replace(wager, action="paid", steps=steps)

    def _envy(self, record: RoundRecord, due: Settlement, seat: int) -> tuple[EnvyScript, ...]:
        """The prizes due to a seat, one for each other seat's hand."""
        whole = next(s for s in due.seats if s.seat == seat).wager("envy")
        if whole is None or not whole.pay_cents or whole.hand_pay:
            return ()
        own = next(s for s in record.seats if s.seat == seat)
        prizes = []
        for other in record.seats:
            if other.seat == seat:
                continue
            pair = settle(record.model_copy(update={"seats": (own, other)}), self.table.rules)
            one = pair.seats[0].wager("envy")
            if one is not None and one.pay_cents:
                prizes.append(EnvyScript(other.seat, make_change(one.pay_cents, self.table.chips)))
        return tuple(prizes)

    def _holds_only(self, script: RoundScript) -> bool:
        """Whether comparing the round with what is due raises its mistakes and no others."""
        return raised(script.record(self.table, "round"), self.table) == Counter(
            (f.code, f.seat, f.wager) for f in script.faults if f.code not in UNSEEN_BY_RULES
        )


def raised(record: RoundRecord, table: TableFile) -> Counter[tuple[str, int | None, str | None]]:
    """What comparing a record with what is due raises, by code, seat and wager.

    Beside a card too many, or one that lies twice, what that leaves undecided is not counted, nor
    what the record leaves undecided itself. A commission that is not collected is a suspicion.
    """
    found, suspected = compare_and_suspect(record, settle(record, table.rules), table.rules)
    deck = any(finding.code == "DECK" for finding in found)
    open_seats = {entry.seat for entry in record.undecided}
    found = [f for f in found if f.code != "UNDECIDED" or not (deck or f.seat in open_seats)]
    return Counter(
        (str(f.code), f.seat, f.wager) for f in (*found, *(one.finding for one in suspected))
    )


class _Thrown(TypedDict, total=False):
    """What dice decide of a script."""

    first_packet: int
    dice: tuple[int, ...]
    dealing: tuple[int, ...]


class _NoChipsError(Exception):
    """A payout that the table's chips cannot make; the round is dealt again."""


__all__ = ["Decider", "Occasion", "possible_codes", "raised"]
