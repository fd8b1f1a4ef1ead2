"""`feltwatch houseway`: how the dealer must set a hand, and the line that says so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from settlement.cards import Card, labels
from settlement.errors import FeltwatchError
from settlement.hands import Ranking, rank_five, rank_two
from settlement.houseways import HOUSE_WAYS, HouseWay, HouseWaySetting, house_way_for
from settlement.rules import HouseWayReadings, TableRules
from surveillance.cli.game.hand_input import WheelOption, read_hands
from surveillance.cli.game.record_input import read_rules
from surveillance.cli.options import JsonLines

_DEFAULTS = TableRules(game="")


@dataclass(frozen=True, slots=True)
class _Rules:
    way: HouseWay
    ranking: Ranking
    readings: HouseWayReadings

    def set(self, cards: tuple[Card, ...]) -> HouseWaySetting:
        if len(cards) == 8:
            return self.way.set_eight(cards, self.ranking, self.readings)
        return self.way.set_hands(cards, self.ranking, self.readings)


def houseway_command(
    hand: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="HAND|FILE|-",
            help="Seven cards, or eight of a draw dealer; or a file with a hand a line; - for "
            "standard input. What names no file is a hand.",
        ),
    ] = None,
    way: Annotated[
        str | None, typer.Option("--way", help="Id of the house way; the default is document_004.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="Table file (TOML) to take house way and readings from."),
    ] = None,
    wheel: Annotated[
        WheelOption | None,
        typer.Option("--wheel", help="A-2-3-4-5 is the second highest straight, or the lowest."),
    ] = None,
    as_json: JsonLines = False,
    as_list: Annotated[bool, typer.Option("--list", help="List the house ways.")] = False,
) -> None:
    """Set hands by a house way, and say which of its lines decided and why.

    Cards are written as AS, TD or JOKER, apart by blanks. Of eight cards a draw dealer
    throws one away.

    Examples:

      feltwatch houseway "AS KD 9H 9C 7S 5D 2C"

      feltwatch houseway AS 5D 5C 4H 4C KD 9S --way foxwoods

      feltwatch houseway - --table table.toml --json < hands.txt

      feltwatch houseway --list
    """
    if as_list:
        _list(as_json)
        return
    if not hand:
        raise FeltwatchError(
            'no hand: write seven cards, such as "AS KD 9H 9C 7S 5D 2C", a file or -'
        )
    rules = _rules(way, table, wheel)
    console = Console(highlight=False)
    for cards in read_hands(hand, (7, 8), "a hand is seven cards, or eight of a draw dealer"):
        setting = rules.set(cards)
        if as_json:
            typer.echo(json.dumps(_form(setting)))
        else:
            _print(setting, rules.ranking, console)


def _rules(way: str | None, table: Path | None, wheel: WheelOption | None) -> _Rules:
    """The house way, ranking and readings: the options given, else the table's, else defaults."""
    rules = _DEFAULTS if table is None else read_rules(table).table
    changes: dict[str, str] = {}
    if way is not None:
        changes["house_way"] = way
    if wheel is not None:
        changes["wheel"] = wheel.value
    rules = rules.model_copy(update=changes)
    try:
        return _Rules(house_way_for(rules), rules.ranking, rules.house_way_readings)
    except FeltwatchError as error:
        if table is None or way is not None:
            known = ", ".join(HOUSE_WAYS)
            raise FeltwatchError(f"--way: no house way {way!r}; known are: {known}") from error
        raise FeltwatchError(f"{table}: {error}") from error


def _form(setting: HouseWaySetting) -> dict[str, object]:
    form: dict[str, object] = {
        "low": labels(setting.low),
        "high": labels(setting.high),
        "rule": setting.rule,
        "why": setting.why,
    }
    if setting.discard is not None:
        form["discard"] = str(setting.discard)
    return form


def _print(setting: HouseWaySetting, ranking: Ranking, console: Console) -> None:
    low, high = " ".join(labels(setting.low)), " ".join(labels(setting.high))
    width = len(high)
    console.print(f"[bold]low[/bold]   {low:{width}}  {rank_two(setting.low).name}")
    console.print(f"[bold]high[/bold]  {high}  {rank_five(setting.high, ranking).name}")
    if setting.discard is not None:
        console.print(f"[bold]discard[/bold]  {setting.discard}")
    for other_low, other_high in setting.alternatives:
        console.print(f"or    {' '.join(labels(other_low))} and {' '.join(labels(other_high))}")
    console.print(f"{escape(setting.rule)}: {escape(setting.why)}", style="dim")
    console.print()


def _list(as_json: bool) -> None:
    console = Console(highlight=False)
    for way in HOUSE_WAYS.values():
        if as_json:
            typer.echo(json.dumps({"id": way.id, "title": way.title, "document": way.document}))
        else:
            console.print(f"[bold]{way.id}[/bold]  {escape(way.title)}")
            console.print(f"  {escape(way.document)}", style="dim", soft_wrap=True)
