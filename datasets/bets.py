"""Who sits at the table for a shift and what they bet, round by round."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from datasets.chipwork import STACK_CHIPS, Colours, by_value, make_change, value_cents
from settlement.errors import FeltwatchError
from settlement.rules import TableRules
from vision.table import SeatPlace, TableFile

UNITS_CENTS = (500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 7500, 10000, 15000, 20000, 30000)
_UNIT_WEIGHTS = (5, 10, 10, 9, 14, 6, 5, 8, 4, 7, 2, 2, 1)
SIDE_CENTS = (100, 200, 500, 1000, 1500, 2500)
_SIDE_WEIGHTS = (8, 4, 12, 5, 2, 3)

_LIKING = {
    "emperors_treasure": 0.62,
    "pai_gow_insurance": 0.34,
    "ace_high_pai_gow_insurance": 0.28,
}


@dataclass(frozen=True, slots=True)
class SeatBets:
    """One seat's stakes of a round: wager to chips from the bottom up, main first."""

    seat: int
    stakes: dict[str, Colours]
    insures_dealer: bool = False


@dataclass
class Player:
    """One person for the shift: a usual bet, the side bets they like, how they stack."""

    place: SeatPlace
    unit_cents: int
    liking: dict[str, float]
    side_cents: dict[str, int]
    insures_dealer: float
    small_chips: bool
    carelessness: float


def within(cents: int, wager: str, rules: TableRules) -> bool:
    """Whether a stake keeps the table's limits."""
    limit = rules.limits.get(wager)
    if limit is None:
        return True
    low_enough = limit.max_cents is None or cents <= limit.max_cents
    return low_enough and cents >= (limit.min_cents or 0)


def _allowed(
    choices: Sequence[int], weights: Sequence[int], wager: str, table: TableFile
) -> tuple[list[int], list[int]]:
    """The usual stakes that limits and chips allow, with their weights."""
    smallest = by_value(table.chips)[-1][1]
    pairs = [
        (cents, weight)
        for cents, weight in zip(choices, weights, strict=True)
        if within(cents, wager, table.rules) and cents % smallest == 0
    ]
    if not pairs:
        limit = table.rules.limits.get(wager)
        cents = (limit.min_cents if limit else None) or smallest
        pairs = [(cents, 1)]
    return [cents for cents, _ in pairs], [weight for _, weight in pairs]


def side_wagers(place: SeatPlace, table: TableFile) -> list[str]:
    """The side bets that the seat has a spot for and the rules a pay table."""
    return [name for name in place.spots if name != "main" and name in table.rules.paytables]


def stake_chips(cents: int, table: TableFile, small: bool, rng: random.Random) -> Colours:
    """A stake as one stack: few chips, or with `small` more of a lower value."""
    chips = list(make_change(cents, table.chips))
    if small:
        breakable = [colour for colour in chips if len(_broken(colour, table)) > 1]
        if breakable:
            colour = rng.choice(breakable)
            more = list(chips)
            more.remove(colour)
            more += _broken(colour, table)
            if len(more) <= STACK_CHIPS:
                chips = more
    if len(chips) > STACK_CHIPS:
        raise FeltwatchError(
            f"chips: {cents} cents take {len(chips)} chips, a stack holds {STACK_CHIPS}; "
            "give the table larger chips or other limits"
        )
    return tuple(sorted(chips, key=lambda colour: -table.chips[colour].value_cents))


def _broken(colour: str, table: TableFile) -> list[str]:
    """A chip changed into equal chips of the next lower value; itself where that fails."""
    value = table.chips[colour].value_cents
    for other, lower in by_value(table.chips):
        if lower < value and value % lower == 0:
            return [other] * (value // lower)
    return [colour]


def _new_player(place: SeatPlace, table: TableFile, rng: random.Random) -> Player:
    units, weights = _allowed(UNITS_CENTS, _UNIT_WEIGHTS, "main", table)
    names = side_wagers(place, table)
    side: dict[str, int] = {}
    for name in names:
        choices, side_weights = _allowed(SIDE_CENTS, _SIDE_WEIGHTS, name, table)
        side[name] = rng.choices(choices, side_weights)[0]
    bias = rng.uniform(-0.25, 0.25)
    return Player(
        place=place,
        unit_cents=rng.choices(units, weights)[0],
        liking={name: min(0.95, max(0.05, _LIKING.get(name, 0.3) + bias)) for name in names},
        side_cents=side,
        insures_dealer=rng.choice((0.0, 0.1, 0.3, 0.6)),
        small_chips=rng.random() < 0.3,
        carelessness=rng.choice((0.02, 0.08, 0.2)),
    )


@dataclass
class Crowd:
    """The players of a shift; now and then one leaves or another sits down."""

    table: TableFile
    rng: random.Random
    most: int
    players: dict[int, Player] = field(default_factory=dict)

    @property
    def _fewest(self) -> int:
        return min(3, self.most)

    def open(self) -> None:
        """Seat the first players."""
        count = self.rng.randint(min(max(self._fewest, self.most - 2), self.most), self.most)
        for place in self.rng.sample(self.table.seats, count):
            self.players[place.seat] = _new_player(place, self.table, self.rng)

    def change(self) -> None:
        """Between rounds: perhaps one leaves, perhaps one comes."""
        if len(self.players) > self._fewest and self.rng.random() < 0.24:
            del self.players[self.rng.choice(sorted(self.players))]
        free = [place for place in self.table.seats if place.seat not in self.players]
        if free and len(self.players) < self.most and self.rng.random() < 0.3:
            place = self.rng.choice(free)
            self.players[place.seat] = _new_player(place, self.table, self.rng)

    def bets(self) -> tuple[SeatBets, ...]:
        """This round's bets, seat by seat in order."""
        return tuple(self._seat_bets(self.players[seat]) for seat in sorted(self.players))

    def _seat_bets(self, player: Player) -> SeatBets:
        rng, table = self.rng, self.table
        main = player.unit_cents
        if rng.random() < 0.3:
            choices, weights = _allowed(UNITS_CENTS, _UNIT_WEIGHTS, "main", table)
            near = [
                (cents, weight)
                for cents, weight in zip(choices, weights, strict=True)
                if main / 3 <= cents <= main * 2
            ]
            if near:
                main = rng.choices([c for c, _ in near], [w for _, w in near])[0]
        stakes = {"main": stake_chips(main, table, player.small_chips, rng)}
        for name, liking in player.liking.items():
            if rng.random() < liking:
                small = player.small_chips and rng.random() < 0.5
                stakes[name] = stake_chips(player.side_cents[name], table, small, rng)
        insures = "pai_gow_insurance" in stakes and rng.random() < player.insures_dealer
        return SeatBets(player.place.seat, stakes, insures)


def limit_breaks(wager: str, table: TableFile) -> list[int]:
    """Stakes in cents that break the wager's limits and still stand as one stack."""
    limit = table.rules.limits.get(wager)
    if limit is None:
        return []
    found: list[int] = []
    smallest = by_value(table.chips)[-1][1]
    if limit.min_cents:
        found += [limit.min_cents - n * smallest for n in (1, 2) if limit.min_cents > n * smallest]
    if limit.max_cents is not None:
        values = [value for _, value in by_value(table.chips)]
        found += [limit.max_cents + value for value in values if value <= limit.max_cents]
    return [cents for cents in found if cents > 0 and _stands(cents, table)]


def _stands(cents: int, table: TableFile) -> bool:
    try:
        return len(make_change(cents, table.chips)) <= STACK_CHIPS
    except FeltwatchError:
        return False


def stake_cents(bets: SeatBets, table: TableFile) -> dict[str, int]:
    """Each wager's stake in cents."""
    return {name: value_cents(chips, table.chips) for name, chips in bets.stakes.items()}
