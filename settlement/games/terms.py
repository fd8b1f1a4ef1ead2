"""A table's rules with everything they name looked up, and the game's defaults filled in."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from settlement.errors import FeltwatchError
from settlement.games.base import JACKPOTS, EnvyRule, Game
from settlement.houseways import HouseWay, house_way_for
from settlement.paytables.registry import PayTable, pay_table
from settlement.rules import (
    ENVY_MIN_CENTS,
    Commission,
    MainOption,
    Progressive,
    SeveralHands,
    TableRules,
    WagerLimit,
)
from settlement.ruling import money


@dataclass(frozen=True, slots=True)
class Terms:
    """A table's rules with the game, house way and pay tables they name.

    >>> from settlement.games import terms_for
    >>> terms = terms_for(TableRules(game="emperors_challenge_exposed"))
    >>> terms.offered, terms.option
    (('main',), 'ace_high_push')
    >>> terms_for(TableRules(game="bridge"))
    Traceback (most recent call last):
    ...
    settlement.errors.FeltwatchError: rules.game: no game 'bridge'; known are: \
emperors_challenge_exposed, emperors_challenge_exposed_earlier, \
emperors_challenge_exposed_washington, imperial_pai_gow_draw, pai_gow_poker
    """

    game: Game
    house_way: HouseWay
    tables: dict[str, PayTable]
    option: MainOption | None
    commission: Commission | None
    several_hands: SeveralHands | None
    limits: dict[str, WagerLimit]
    progressives: dict[str, Progressive]
    envy: EnvyRule
    dynamic: frozenset[str]

    @property
    def offered(self) -> tuple[str, ...]:
        """The wagers that the table offers, 'main' first."""
        return ("main", *self.tables)


_KEPT = 64


class TermsCache:
    """A cache of the last terms, so that a shift resolves its rules once.

    >>> from settlement.games import GAMES
    >>> cache, rules = TermsCache(GAMES), TableRules(game="pai_gow_poker")
    >>> cache.terms_for(rules) is cache.terms_for(rules)
    True
    """

    def __init__(self, games: dict[str, Game]) -> None:
        """Find games in `games`."""
        self._games = games
        # The rules are kept beside their terms, so that no other object takes their id.
        self._known: OrderedDict[int, tuple[TableRules, Terms]] = OrderedDict()

    def terms_for(self, rules: TableRules) -> Terms:
        """Look up everything that a table's rules name.

        Raises FeltwatchError naming the key when a game, house way or pay table is not
        known, a pay table pays another wager, or an option does not fit the game.
        """
        known = self._known.get(id(rules))
        if known is not None:
            return known[1]
        terms = _look_up(rules, self._games)
        self._known[id(rules)] = (rules, terms)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return terms


def _look_up(rules: TableRules, games: dict[str, Game]) -> Terms:
    if rules.game not in games:
        known = ", ".join(sorted(games))
        raise FeltwatchError(f"rules.game: no game {rules.game!r}; known are: {known}")
    game = games[rules.game]
    tables = _tables(rules, game)
    _check_options(rules, game)
    _check_wagers(rules, game)
    return Terms(
        game=game,
        house_way=house_way_for(rules),
        tables=tables,
        option=rules.main_option or next(iter(game.main_options), None),
        commission=rules.commission or game.commission,
        several_hands=rules.several_hands or game.several_hands,
        limits={**game.limits, **rules.limits},
        progressives=_progressives(rules, game, tables),
        envy=_envy(rules, game),
        dynamic=frozenset(
            wager for wager, table in tables.items() if any(r.dynamic_cents for r in table.rows)
        ),
    )


def _tables(rules: TableRules, game: Game) -> dict[str, PayTable]:
    tables: dict[str, PayTable] = {}
    for wager, table_id in rules.paytables.items():
        place = f"rules.paytables.{wager}"
        if wager not in game.wagers or wager == "main":
            paid = ", ".join(game.wagers[1:])
            raise FeltwatchError(f"{place}: {game.id} pays no such wager by a table; it has {paid}")
        try:
            table = pay_table(table_id, rules.paytable_folder)
        except FeltwatchError as error:
            raise FeltwatchError(f"{place}: {error}") from error
        if wager == "envy" and table.wager != "envy" and table.envy is not None:
            table = table.envy
        if table.wager != JACKPOTS.get(wager, wager):
            raise FeltwatchError(f"{place}: {table_id!r} is a pay table of {table.wager}")
        if rules.readings.trips_and_flush == "poker" and wager == "imperial_side_bet":
            table = table.in_poker_order
        tables[wager] = table
    _join_envy(tables, game.envy.wager)
    return tables


def _join_envy(tables: dict[str, PayTable], wager: str) -> None:
    """Take the envy prizes that are printed with the wager's own table."""
    joined = tables[wager].envy if wager in tables else None
    named = tables.get("envy")
    if named is not None and wager not in tables:
        raise FeltwatchError(
            f"rules.paytables.envy: a prize beside {wager}, which the table does not offer; "
            f"name its pay table too"
        )
    if joined is None:
        return
    if named is not None and named.id != joined.id:
        raise FeltwatchError(
            f"rules.paytables.envy: {joined.id} has its own envy prizes; leave {named.id} out"
        )
    tables["envy"] = joined


def _check_options(rules: TableRules, game: Game) -> None:
    if rules.main_option is not None and rules.main_option not in game.main_options:
        has = ", ".join(game.main_options) or "none"
        raise FeltwatchError(
            f"rules.main_option: {game.id} has no option {rules.main_option!r}; it has {has}"
        )
    if rules.readings.copies != "dealer" and game.copies_fixed:
        raise FeltwatchError(
            f"rules.readings.copies: the rules leave no choice ({game.copies_fixed}); "
            "leave the key out"
        )
    if rules.readings.trips_and_flush != "listed" and "imperial_side_bet" not in game.side:
        raise FeltwatchError(
            f"rules.readings.trips_and_flush: {game.id} has no such side bet; leave the key out"
        )
    if rules.envy_min_cents != ENVY_MIN_CENTS and game.envy_fixed:
        raise FeltwatchError(
            f"rules.envy_min_cents: the rules leave no choice ({game.envy_fixed}); leave it out"
        )
    if rules.commission is not None and game.commission is None:
        raise FeltwatchError(f"rules.commission: {game.id} takes no commission; leave it out")


def _check_wagers(rules: TableRules, game: Game) -> None:
    extra = ("house",) if game.players_bank else ()
    staked = tuple(wager for wager in game.wagers if wager != "envy") + extra
    for wager in rules.limits:
        place = f"rules.limits.{wager}"
        if wager == "envy":
            raise FeltwatchError(f"{place}: a prize has no stake; leave it out")
        if wager not in staked:
            has = ", ".join(staked)
            raise FeltwatchError(f"{place}: {game.id} has no such wager; it has {has}")
    paid_by_house = tuple(wager for wager in game.wagers[1:] if wager not in JACKPOTS)
    for wager in rules.aggregates:
        place = f"rules.aggregates.{wager}"
        if wager in JACKPOTS:
            raise FeltwatchError(
                f"{place}: jackpots pay what the meter holds; an aggregate is for wagers that "
                "the house pays"
            )
        if wager not in paid_by_house:
            has = ", ".join(paid_by_house)
            raise FeltwatchError(f"{place}: {game.id} has no such side wager; it has {has}")
    both = rules.aggregates.get(game.envy.wager)
    if "envy" in rules.aggregates and both is not None and both.counts_envy:
        raise FeltwatchError(
            f"rules.aggregates.envy: the sum of {game.envy.wager} counts the envy prizes already; "
            f"leave one out, or set rules.aggregates.{game.envy.wager}.counts_envy = false"
        )


def _progressives(
    rules: TableRules, game: Game, tables: dict[str, PayTable]
) -> dict[str, Progressive]:
    """The settings of every jackpot that the table offers, defaults filled in."""
    for wager in rules.progressives:
        if wager not in JACKPOTS or wager not in tables:
            has = ", ".join(sorted(w for w in tables if w in JACKPOTS)) or "no jackpot"
            raise FeltwatchError(
                f"rules.progressives.{wager}: the table offers no such jackpot; it offers {has}"
            )
    found = {
        wager: rules.progressives.get(wager, Progressive()) for wager in tables if wager in JACKPOTS
    }
    if game.jackpots_most is not None and len(found) > game.jackpots_most:
        raise FeltwatchError(
            f"rules.paytables: {len(found)} jackpots ({', '.join(found)}); a layout has up to "
            f"{game.jackpots_most} sensors (003, House and Progressive Jackpots)"
        )
    if len({progressive.kind for progressive in found.values()}) > 1:
        kinds = ", ".join(
            f"{wager} is {settings.kind!r}" + ("" if wager in rules.progressives else " by default")
            for wager, settings in found.items()
        )
        raise FeltwatchError(
            "rules.progressives: all jackpots of a table are of one kind, 'progressive' or "
            f"'house' (003, House and Progressive Jackpots); {kinds}"
        )
    for wager, settings in found.items():
        _check_jackpot(rules, wager, settings)
    return found


def _check_jackpot(rules: TableRules, wager: str, settings: Progressive) -> None:
    limit, base = rules.limits.get(wager), settings.base_cents
    if limit is not None and not (limit.min_cents or 0) <= base <= (limit.max_cents or base):
        raise FeltwatchError(
            f"rules.limits.{wager}: its fixed wager of {money(base)} (base_cents) lies outside; "
            "leave the limit out"
        )


def _envy(rules: TableRules, game: Game) -> EnvyRule:
    """The game's envy rule with the house's readings (ST-9, ST-10)."""
    excludes, needs = rules.readings.envy_excludes, rules.readings.envy_trigger_needs_wager
    return EnvyRule(
        game.envy.wager,
        game.envy.own_hands if excludes is None else excludes == "hand",
        game.envy.trigger_needs_wager if needs is None else needs,
    )
