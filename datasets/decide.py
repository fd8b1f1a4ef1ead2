"""What happens in a round before anything moves: bets, cards, settings, settling, mistakes.

What is due comes from `settlement.settle`; the dealer does just that, but for the mistakes
asked for. Rounds with a pay above the table's hand pay limit are dealt anew: such a pay
comes from the cage and never lies on the felt.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from datasets.bets import SeatBets, limit_breaks, side_wagers, stake_chips, within
from datasets.chipwork import STACK_CHIPS, Colours, by_value, make_change, value_cents
from datasets.dealing import (
    Deal,
    Setting,
    deal,
    fouls,
    four_of_a_kind,
    house_way,
    other_ways,
    player_setting,
)
from datasets.mistakes import MISTAKES
from datasets.script import (
    Cards,
    EnvyScript,
    PlannedFault,
    RoundScript,
    SeatScript,
    WagerScript,
)
from settlement.compare import compare
from settlement.errors import FeltwatchError
from settlement.record import Action, RoundRecord
from settlement.result import Settlement
from settlement.settle import settle
from vision.table import TableFile

TREASURE = "emperors_treasure"
INSURANCE = "pai_gow_insurance"
_TRIES = 400
_ACTIONS: Mapping[str, Action] = {"win": "paid", "lose": "taken", "push": "left"}


def possible_codes(table: TableFile) -> tuple[str, ...]:
    """The mistakes that the table's rules leave room for."""
    rules = table.rules
    codes = [code for code in MISTAKES if not code.startswith(("ENVY", "LAMMER"))]
    codes.append("HOUSE_WAY")
    if any(limit_breaks(wager, table) for wager in ("main", *_side_names(table))):
        codes.append("LIMIT")
    if TREASURE in _side_names(table) and "envy" in rules.paytables:
        codes += ["ENVY_MISSED", "ENVY_WRONG"]
        if "envy" in table.lammers:
            codes.append("LAMMER")
    return tuple(codes)


def _side_names(table: TableFile) -> list[str]:
    return list(dict.fromkeys(name for seat in table.seats for name in side_wagers(seat, table)))


@dataclass
class Decider:
    """Decides rounds for one table; `jokers` False plays with 52 cards."""

    table: TableFile
    rng: random.Random
    jokers: bool = True

    def decide(
        self, bets: Sequence[SeatBets], careless: Mapping[int, float], codes: Sequence[str] = ()
    ) -> RoundScript:
        """A round with these bets that holds exactly these mistakes.

        `careless` is each seat's share of hands not set the house way. Deals again until
        the cards give the mistakes room. Raises FeltwatchError when they never do.
        """
        for _ in range(_TRIES):
            script = self._attempt(bets, careless, codes)
            if script is not None and self._holds_only(script):
                return script
        wanted = ", ".join(codes) or "a round without mistakes"
        raise FeltwatchError(
            f"{wanted}: no fitting round in {_TRIES} deals with seats "
            f"{[seat.seat for seat in bets]}; ask for another round or kind of mistake"
        )

    def _attempt(
        self, bets: Sequence[SeatBets], careless: Mapping[int, float], codes: Sequence[str]
    ) -> RoundScript | None:
        faults: list[PlannedFault] = []
        staked = self._prepared(bets, codes, faults)
        if staked is None:
            return None
        dealt = self._deal([seat.seat for seat in staked], codes)
        rules = self.table.rules
        settings = {
            seat: player_setting(seven, rules, careless.get(seat, 0.0), self.rng)
            for seat, seven in dealt.seats.items()
        }
        dealer = house_way(dealt.dealer, rules)
        if "HOUSE_WAY" in codes:
            others = other_ways(dealt.dealer, rules)
            if not others:
                return None
            due, dealer = dealer, self.rng.choice(others[:4])
            note = f"due {' '.join(due.low)} / {' '.join(due.high)}"
            faults.append(PlannedFault("HOUSE_WAY", note=note))
        if "FOUL" in codes and not self._foul(dealt, settings):
            return None
        script = self._clean(staked, dealt, dealer, settings, tuple(faults))
        for code in codes:
            if script is not None and code in MISTAKES:
                script = MISTAKES[code](script, self._settled(script), self.table, self.rng)
        return script

    def _prepared(
        self, bets: Sequence[SeatBets], codes: Sequence[str], faults: list[PlannedFault]
    ) -> list[SeatBets] | None:
        """The bets, changed where a mistake needs a stake; None when that cannot be had."""
        staked = list(bets)
        if any(code.startswith("ENVY") or code == "LAMMER" for code in codes):
            self._ensure_treasure(staked, 2 if len(staked) > 1 else 1)
        if "LIMIT" in codes:
            choices = [
                (number, wager, cents)
                for number, seat in enumerate(staked)
                for wager in seat.stakes
                for cents in limit_breaks(wager, self.table)
            ]
            if not choices:
                return None
            number, wager, cents = self.rng.choice(choices)
            chips = stake_chips(cents, self.table, False, self.rng)
            staked[number] = _with_stake(staked[number], wager, chips)
            kept = "under the minimum" if self._under(wager, cents) else "over the maximum"
            note = f"{cents} cents, {kept}"
            faults.append(PlannedFault("LIMIT", staked[number].seat, wager, note))
        return staked

    def _under(self, wager: str, cents: int) -> bool:
        return cents < (self.table.rules.limits[wager].min_cents or 0)

    def _ensure_treasure(self, staked: list[SeatBets], seats: int) -> None:
        rules = self.table.rules
        least = next(
            (c for c in (rules.envy_min_cents, 500, 1000, 2500) if self._qualifies(c)), None
        )
        if least is None:
            return
        have = [n for n, seat in enumerate(staked) if self._qualifies(_cents(seat, self.table))]
        lacking = [
            n
            for n, seat in enumerate(staked)
            if n not in have and TREASURE in self.table.seat(seat.seat).spots
        ]
        self.rng.shuffle(lacking)
        for number in lacking[: max(0, seats - len(have))]:
            chips = stake_chips(least, self.table, False, self.rng)
            staked[number] = _with_stake(staked[number], TREASURE, chips)

    def _qualifies(self, cents: int) -> bool:
        least = max(1, self.table.rules.envy_min_cents)
        return cents >= least and within(cents, TREASURE, self.table.rules)

    def _deal(self, seats: Sequence[int], codes: Sequence[str]) -> Deal:
        """A deal; one about envy gives a seat four of a kind."""
        rigged: dict[int, Cards] = {}
        if any(code.startswith("ENVY") for code in codes):
            rigged[self.rng.choice(seats)] = four_of_a_kind(self.rng)
        return deal(seats, self.rng, jokers=self.jokers, rigged=rigged)

    def _foul(self, dealt: Deal, settings: dict[int, Setting]) -> bool:
        """Have one seat set a foul; False when no seat can."""
        for seat in self.rng.sample(sorted(settings), len(settings)):
            ways = fouls(dealt.seats[seat], self.table.rules)
            if ways:
                settings[seat] = self.rng.choice(ways)
                return True
        return False

    # Settling

    def _settled(self, script: RoundScript) -> Settlement:
        return settle(script.record(self.table, "round"), self.table.rules)

    def _clean(
        self,
        bets: Sequence[SeatBets],
        dealt: Deal,
        dealer: Setting,
        settings: Mapping[int, Setting],
        faults: tuple[PlannedFault, ...],
    ) -> RoundScript | None:
        """The round settled as is due; None when a pay is more than the tray may give."""
        undone = RoundScript(
            seven=dealt.dealer,
            low=dealer.low,
            high=dealer.high,
            seats=tuple(
                SeatScript(
                    seat=seat.seat,
                    low=settings[seat.seat].low,
                    high=settings[seat.seat].high,
                    wagers=tuple(WagerScript(n, chips, "left") for n, chips in seat.stakes.items()),
                    lammers=self._lammers(seat),
                )
                for seat in bets
            ),
            faults=faults,
        )
        record = undone.record(self.table, "round")
        due = settle(record, self.table.rules)
        if any(w.hand_pay for seat in due.seats for w in seat.wagers):
            return None
        if any(w.outcome is None for seat in due.seats for w in seat.wagers):
            return None
        seats = tuple(
            SeatScript(
                seat=seat.seat,
                low=seat.low,
                high=seat.high,
                wagers=tuple(self._done(w, due, seat.seat) for w in seat.wagers),
                lammers=seat.lammers,
                envy=self._envy(record, due, seat.seat),
            )
            for seat in undone.seats
        )
        return RoundScript(undone.seven, undone.low, undone.high, seats, faults)

    def _lammers(self, seat: SeatBets) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        stake = value_cents(seat.stakes.get(TREASURE, ()), self.table.chips)
        envy = "envy" in self.table.rules.paytables and "envy" in self.table.lammers
        if envy and stake >= max(1, self.table.rules.envy_min_cents):
            found.append(("envy", TREASURE))
        if seat.insures_dealer and INSURANCE in seat.stakes and "dealer" in self.table.lammers:
            found.append(("dealer", INSURANCE))
        return tuple(found)

    def _done(self, wager: WagerScript, due: Settlement, seat: int) -> WagerScript:
        decided = next(s for s in due.seats if s.seat == seat).wager(wager.wager)
        if decided is None or decided.outcome is None:
            raise FeltwatchError(f"seat {seat}, {wager.wager}: the round could not be settled")
        if not decided.pay_cents:
            action: Action = "left" if decided.outcome == "win" else _ACTIONS[decided.outcome]
            return WagerScript(wager.wager, wager.stake, action)
        paid = self._pay_chips(decided.pay_cents, wager.stake)
        return WagerScript(wager.wager, wager.stake, "paid", paid)

    def _pay_chips(self, cents: int, stake: Colours) -> Colours:
        """An even pay at times in the stake's own chips, others in few or changed ones."""
        if cents == value_cents(stake, self.table.chips) and self.rng.random() < 0.5:
            return stake
        chips = make_change(cents, self.table.chips)
        if self.rng.random() < 0.2:
            return self._changed(chips)
        return chips

    def _changed(self, chips: Colours) -> Colours:
        """One chip given in the next smaller value, where the stack stays low."""
        kinds = by_value(self.table.chips)
        colour = self.rng.choice(chips)
        value = self.table.chips[colour].value_cents
        for other, lower in kinds:
            if lower < value and value % lower == 0:
                more = list(chips)
                more.remove(colour)
                more += [other] * (value // lower)
                return tuple(more) if len(more) <= STACK_CHIPS else chips
        return chips

    def _envy(self, record: RoundRecord, due: Settlement, seat: int) -> tuple[EnvyScript, ...]:
        """The prizes due to a seat, one for each other seat's hand."""
        whole = next(s for s in due.seats if s.seat == seat).wager("envy")
        if whole is None or not whole.pay_cents:
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
        record = script.record(self.table, "round")
        found = compare(record, settle(record, self.table.rules), self.table.rules)
        deck = any(fault.code == "DECK" for fault in script.faults)
        raised = Counter(
            (f.code, f.seat, f.wager) for f in found if not (deck and f.code == "UNDECIDED")
        )
        return raised == Counter((f.code, f.seat, f.wager) for f in script.faults)


def _with_stake(bets: SeatBets, wager: str, chips: Colours) -> SeatBets:
    return SeatBets(bets.seat, {**bets.stakes, wager: chips}, bets.insures_dealer)


def _cents(bets: SeatBets, table: TableFile) -> int:
    return value_cents(bets.stakes.get(TREASURE, ()), table.chips)
