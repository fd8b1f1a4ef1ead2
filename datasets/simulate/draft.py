"""A round on its way to being decided: bets, cards and settings while they are drawn."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from datasets.simulate.bets import SeatBets
from datasets.simulate.chipwork import Colours, value_cents
from datasets.simulate.dealing import Deal, Setting
from datasets.simulate.script import CardMove, Cards, PlannedFault
from datasets.simulate.stakes import stake_chips, within
from settlement.games import Terms, terms_for
from settlement.record import DynamicPay, Meter
from vision.geometry.table import TableFile


@dataclass(frozen=True)
class Occasion:
    """What a round starts from.

    `careless` is each seat's share of hands not set the house way; `hands` how many hands
    the player at each seat has; `meters` what the jackpots show.
    """

    bets: Sequence[SeatBets]
    careless: Mapping[int, float] = field(default_factory=dict)
    hands: Mapping[int, int] = field(default_factory=dict)
    banker: int | None = None
    house: Colours = ()
    meters: tuple[Meter, ...] = ()
    dynamic: tuple[DynamicPay, ...] = ()


@dataclass
class Draft:
    """A round while it is drawn; the ways of mistakes change it step by step."""

    table: TableFile
    rng: random.Random
    occasion: Occasion
    bets: list[SeatBets]
    rigged: dict[int, Cards] = field(default_factory=dict)
    faults: list[PlannedFault] = field(default_factory=list)
    dealt: Deal = field(default_factory=lambda: Deal((), {}))
    settings: dict[int, Setting] = field(default_factory=dict)
    dealer: Setting = field(default_factory=lambda: Setting((), ()))
    before: dict[int, tuple[Cards, Cards]] = field(default_factory=dict)
    moves: list[CardMove] = field(default_factory=list)
    late: set[tuple[int, str]] = field(default_factory=set)

    @property
    def terms(self) -> Terms:
        """The table's rules with all they name."""
        return terms_for(self.table.rules)

    @property
    def treasure(self) -> str | None:
        """The wager whose stake qualifies for envy, where there is one."""
        envy = self.terms.envy
        return envy.wager if envy and "envy" in self.terms.tables else None

    def cents(self, bets: SeatBets, wager: str) -> int:
        """A stake in cents, 0 where there is none."""
        return value_cents(bets.stakes.get(wager, ()), self.table.chips)

    def stake(self, number: int, wager: str, cents: int) -> None:
        """Give the bets at a place of the list another stake."""
        chips = stake_chips(cents, self.table, False, self.rng)
        self.bets[number] = self.bets[number].with_stake(wager, chips)

    def without(self, number: int, wager: str) -> None:
        """Take a stake away."""
        own = self.bets[number]
        stakes = {name: chips for name, chips in own.stakes.items() if name != wager}
        self.bets[number] = replace(own, stakes=stakes)

    def offers(self, number: int, wager: str) -> bool:
        """Whether the place has a spot for a wager that the table offers."""
        spots = self.table.seat(self.bets[number].seat).spots
        return wager in spots and wager in self.terms.tables

    def ensure_stake(self, wager: str, seats: int, least_cents: int) -> bool:
        """See to it that so many seats stake at least so much on a side wager."""
        choices = [
            c for c in sorted({least_cents, 500, 1000, 2500})
            if c >= max(1, least_cents) and within(c, wager, self.table.rules)
        ]  # fmt: skip
        if not choices:
            return False
        have = [n for n, own in enumerate(self.bets) if self.cents(own, wager) >= choices[0]]
        lacking = [n for n in range(len(self.bets)) if n not in have and self.offers(n, wager)]
        self.rng.shuffle(lacking)
        need = seats - len(have)
        for number in lacking[: max(0, need)]:
            self.stake(number, wager, choices[0])
        return need <= len(lacking)

    def fault(
        self, code: str, seat: int | None, wager: str | None, note: str,
        at: tuple[str, int | None, str | None] | None = None,
    ) -> None:  # fmt: skip
        """List a mistake."""
        self.faults.append(PlannedFault(code, seat, wager, note, at))
