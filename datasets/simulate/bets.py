"""Who sits at the table for a shift and what they bet, round by round."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from datasets.simulate.chipwork import STACK_CHIPS, Colours, by_value, ordered
from datasets.simulate.stakes import STACKINGS, Stacking, stake_chips, within
from settlement.games import JACKPOTS, terms_for
from vision.geometry.table import SeatPlace, TableFile

UNITS_CENTS = (500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 7500, 10000, 15000, 20000, 30000)
_UNIT_WEIGHTS = (5, 10, 10, 9, 14, 6, 5, 8, 4, 7, 2, 2, 1)
SIDE_CENTS = (100, 200, 500, 1000, 1500, 2500)
_SIDE_WEIGHTS = (8, 4, 12, 5, 2, 3)

_LIKING = {
    "emperors_treasure": 0.62,
    "pai_gow_insurance": 0.34,
    "ace_high_pai_gow_insurance": 0.28,
    "imperial_side_bet": 0.6,
    "pai_gow_insurance_progressive": 0.4,
    "emperors_treasure_progressive": 0.45,
}


@dataclass(frozen=True, slots=True)
class SeatBets:
    """One seat's stakes of a round: wager to chips from the bottom up, main first.

    `stacks` lists the wagers in two stacks; `first` what was laid where a bet was
    moved before bets were closed. A banker has no main wager.
    """

    seat: int
    stakes: dict[str, Colours]
    insures_dealer: bool = False
    player: int | None = None
    stacks: dict[str, int] = field(default_factory=dict)
    first: dict[str, Colours] = field(default_factory=dict)

    def with_stake(self, wager: str, chips: Colours) -> SeatBets:
        """The same with another stake for a wager."""
        stacks = {name: count for name, count in self.stacks.items() if name != wager}
        first = {name: one for name, one in self.first.items() if name != wager}
        return replace(self, stakes={**self.stakes, wager: chips}, stacks=stacks, first=first)


@dataclass
class Player:
    """One person for the shift: a usual bet, the side bets they like, how they stack.

    `restless` is the share of rounds in which they move a bet before the close or lay their
    hands again; `rack` are the stacks of their own chips beside the boxes, seat by seat.
    """

    number: int
    places: list[SeatPlace]
    unit_cents: int
    liking: dict[str, float]
    side_cents: dict[str, int]
    insures_dealer: float
    stacking: Stacking
    carelessness: float
    restless: float = 0.0
    pairs: float = 0.0
    rack: tuple[Colours, ...] = ()


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
        limit = terms_for(table.rules).limits.get(wager)
        cents = (limit.min_cents if limit else None) or smallest
        pairs = [(cents, 1)]
    return [cents for cents, _ in pairs], [weight for _, weight in pairs]


def side_wagers(place: SeatPlace, table: TableFile) -> list[str]:
    """The side bets and jackpots that the seat has a spot for and the rules a pay table."""
    return [name for name in place.spots if name != "main" and name in table.rules.paytables]


def _rack(unit_cents: int, table: TableFile, rng: random.Random) -> tuple[Colours, ...]:
    """Up to four stacks of a player's own chips, now and then of mixed values."""
    kinds = [colour for colour, value in by_value(table.chips) if 100 <= value <= 4 * unit_cents]
    stacks = []
    for _ in range(rng.choice((0, 1, 2, 2, 3, 4))):
        count = rng.randint(1, STACK_CHIPS)
        own = [rng.choice(kinds)] * count
        if rng.random() < 0.3:
            own = [rng.choice(kinds) for _ in range(count)]
        stacks.append(ordered(own, table.chips))
    return tuple(stacks)


def _new_player(
    number: int, places: list[SeatPlace], table: TableFile, rng: random.Random
) -> Player:
    choices, weights = _allowed(UNITS_CENTS, _UNIT_WEIGHTS, "main", table)
    several = terms_for(table.rules).several_hands
    if several is not None and len(places) > 1:
        limit = terms_for(table.rules).limits.get("main")
        least = several.least(len(places), (limit.min_cents if limit else None) or 0)
        pairs = [(c, w) for c, w in zip(choices, weights, strict=True) if c >= least]
        choices, weights = [c for c, _ in pairs] or [least], [w for _, w in pairs] or [1]
    names = side_wagers(places[0], table)
    side: dict[str, int] = {}
    for name in names:
        if name in JACKPOTS:
            side[name] = terms_for(table.rules).progressives[name].base_cents
            continue
        own, side_weights = _allowed(SIDE_CENTS, _SIDE_WEIGHTS, name, table)
        side[name] = rng.choices(own, side_weights)[0]
    bias = rng.uniform(-0.25, 0.25)
    unit = rng.choices(choices, weights)[0]
    return Player(
        number=number,
        places=places,
        unit_cents=unit,
        liking={name: min(0.95, max(0.05, _LIKING.get(name, 0.3) + bias)) for name in names},
        side_cents=side,
        insures_dealer=rng.choice((0.0, 0.1, 0.3, 0.6)),
        stacking=rng.choices(STACKINGS, (5, 3, 2))[0],
        carelessness=rng.choice((0.02, 0.08, 0.2)),
        restless=rng.choice((0.0, 0.05, 0.15)),
        pairs=rng.choice((0.0, 0.15, 0.6)),
        rack=_rack(unit, table, rng),
    )


@dataclass
class Crowd:
    """The players of a shift; now and then one leaves or another sits down.

    Some play two or three hands at seats beside each other.
    """

    table: TableFile
    rng: random.Random
    most: int
    players: dict[int, Player] = field(default_factory=dict)
    _count: int = 0

    @property
    def _fewest(self) -> int:
        return min(3, self.most)

    def open(self) -> None:
        """Seat the first players."""
        count = self.rng.randint(min(max(self._fewest, self.most - 2), self.most), self.most)
        while len(self.players) < count:
            self._come(count - len(self.players))

    def leave(self) -> None:
        """Everybody goes."""
        self.players.clear()

    def _come(self, room: int) -> None:
        free = [place for place in self.table.seats if place.seat not in self.players]
        place = self.rng.choice(free)
        places = [place]
        hands = self.rng.choices((1, 2, 3), (0.86, 0.1, 0.04))[0]
        for other in free:
            beside = any(abs(other.seat - own.seat) == 1 for own in places)
            if len(places) < min(hands, room) and other not in places and beside:
                places.append(other)
        self._count += 1
        player = _new_player(
            self._count, sorted(places, key=lambda p: p.seat), self.table, self.rng
        )
        for own in places:
            self.players[own.seat] = player

    def change(self) -> None:
        """Between rounds: perhaps one leaves, perhaps one comes."""
        if len(self.players) > self._fewest and self.rng.random() < 0.24:
            gone = self.players[self.rng.choice(sorted(self.players))]
            if len(self.players) - len(gone.places) >= self._fewest:
                for place in gone.places:
                    del self.players[place.seat]
        room = self.most - len(self.players)
        if room > 0 and self.rng.random() < 0.3:
            self._come(room)
        for player in self.people:
            if self.rng.random() < 0.12:
                player.rack = _rack(player.unit_cents, self.table, self.rng)

    @property
    def people(self) -> list[Player]:
        """The players, each once, in the order of their first seats."""
        found: dict[int, Player] = {}
        for seat in sorted(self.players):
            found.setdefault(self.players[seat].number, self.players[seat])
        return list(found.values())

    def hands(self) -> dict[int, int]:
        """How many hands the player at each seat has."""
        return {seat: len(player.places) for seat, player in self.players.items()}

    def bets(self) -> tuple[SeatBets, ...]:
        """This round's bets, seat by seat in order."""
        return tuple(self._seat_bets(self.players[seat], seat) for seat in sorted(self.players))

    def _seat_bets(self, player: Player, seat: int) -> SeatBets:
        rng, table = self.rng, self.table
        main = player.unit_cents
        if rng.random() < 0.3:
            choices, weights = _allowed(UNITS_CENTS, _UNIT_WEIGHTS, "main", table)
            low = main if len(player.places) > 1 else main / 3
            near = [
                (cents, weight)
                for cents, weight in zip(choices, weights, strict=True)
                if low <= cents <= main * 2
            ]
            if near:
                main = rng.choices([c for c, _ in near], [w for _, w in near])[0]
        stakes = {"main": stake_chips(main, table, player.stacking, rng)}
        for name, liking in player.liking.items():
            if rng.random() < liking:
                small = player.stacking != "few" and rng.random() < 0.5
                own = small and name not in JACKPOTS
                stakes[name] = stake_chips(player.side_cents[name], table, own, rng)
        insures = "pai_gow_insurance" in stakes and rng.random() < player.insures_dealer
        stacks = {}
        if len(stakes["main"]) > 1 and rng.random() < player.pairs:
            stacks["main"] = 2
        first: dict[str, Colours] = {}
        if rng.random() < player.restless:
            name = rng.choice([n for n in stakes if n not in JACKPOTS])
            before = rng.choice((stakes[name][:-1], (*stakes[name], stakes[name][-1])))
            if len(before) <= STACK_CHIPS and name not in stacks:
                first[name] = before
        return SeatBets(seat, stakes, insures, player.number, stacks, first)
