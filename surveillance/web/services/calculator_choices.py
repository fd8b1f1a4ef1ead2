"""Everything that the rules of a table may name: games, house ways, pay tables and options."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from datasets.simulate.house_tables import rules_for
from settlement.compare.finding import WAGER_NAMES
from settlement.games import GAMES, JACKPOTS, Game
from settlement.houseways import HOUSE_WAYS
from settlement.paytables.registry import pay_table, pay_table_ids
from settlement.paytables.table import PayTable
from settlement.rules import (
    Aggregate,
    Commission,
    HouseWayReadings,
    Progressive,
    Readings,
    Rounding,
    SeveralHands,
    TableRules,
    WagerLimit,
)
from surveillance.web.schemas.calculator import (
    ChoiceForm,
    GameForm,
    GamesForm,
    HouseWayForm,
    PayTableLine,
)

_PARTS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("", TableRules),
    ("rounding", Rounding),
    ("commission", Commission),
    ("several_hands", SeveralHands),
    ("readings", Readings),
    ("house_way_readings", HouseWayReadings),
    ("limits.*", WagerLimit),
    ("aggregates.*", Aggregate),
    ("progressives.*", Progressive),
)
"""The parts of the rules; `*` stands for a wager."""

_NOT_CHOSEN = frozenset({"game", "paytables", "paytable_folder"})
"""Keys that have a place of their own, or must not be sent."""


@cache
def games_form() -> GamesForm:
    """Everything, once; it changes with the program only."""
    return GamesForm(
        games=tuple(_game(game) for game in GAMES.values()),
        house_ways=tuple(
            HouseWayForm(
                id=way.id, title=way.title, document=way.document,
                readings=tuple(sorted(way.readings)),
            )
            for way in HOUSE_WAYS.values()
        ),
        pay_tables=tuple(pay_table_line(pay_table(id)) for id in pay_table_ids()),
        choices=tuple(one for prefix, model in _PARTS for one in _choices(prefix, model)),
        wager_titles=dict(WAGER_NAMES),
    )  # fmt: skip


def pay_table_line(table: PayTable) -> PayTableLine:
    """A pay table for a list, with its rows."""
    return PayTableLine(
        id=table.id,
        wager=table.wager,
        document=table.document,
        rows=tuple((row.label, str(row.value)) for row in table.rows),
        meters=max((row.level or 1 for row in table.rows if row.percent is not None), default=0),
        dynamic={row.category: row.dynamic_cents for row in table.rows if row.dynamic_cents},
    )


def _game(game: Game) -> GameForm:
    return GameForm(
        id=game.id,
        title=game.title,
        document=game.document,
        wagers=game.wagers,
        main_options=game.main_options,
        dealer_cards=game.dealer_cards,
        players_bank=game.players_bank,
        takes_commission=game.commission is not None,
        jackpots=tuple(wager for wager in game.wagers if wager in JACKPOTS),
        lammers=tuple(lammer.kind for lammer in game.lammers),
        envy_wager=game.envy.wager,
        example=rules_for(game.id).model_dump(mode="json", exclude_defaults=True),
    )


def _choices(prefix: str, model: type[BaseModel]) -> Iterator[ChoiceForm]:
    for name, field in model.model_fields.items():
        if prefix or name not in _NOT_CHOSEN:
            one = _choice(f"{prefix}.{name}" if prefix else name, name, field)
            if one is not None:
                yield one


def _choice(key: str, name: str, field: FieldInfo) -> ChoiceForm | None:
    kind, optional = _plain(field.annotation)
    default = None if field.default is PydanticUndefined else field.default
    common: dict[str, Any] = {
        "key": key,
        "title": _title(name),
        "description": field.description or "",
        "default": default if isinstance(default, str | int | bool | NoneType) else None,
        "optional": optional,
    }
    if get_origin(kind) is Literal:
        return ChoiceForm(kind="choice", choices=tuple(map(str, get_args(kind))), **common)
    if name == "house_way":
        return ChoiceForm(kind="choice", choices=tuple(HOUSE_WAYS), **common)
    if get_origin(kind) is tuple:
        return ChoiceForm(kind="cents_list", **common)
    if kind is bool:
        return ChoiceForm(kind="flag", **common)
    if kind is int:
        cents = name.endswith("_cents")
        return ChoiceForm(kind="cents" if cents else "whole", minimum=_least(field), **common)
    if kind is str:
        return ChoiceForm(kind="text", **common)
    return None  # a part of its own, or a list


def _least(field: FieldInfo) -> int | None:
    for bound in field.metadata:
        if isinstance(bound, Ge):
            return int(bound.ge)  # type: ignore[call-overload, no-any-return]
        if isinstance(bound, Gt):
            return int(bound.gt) + 1  # type: ignore[call-overload, no-any-return]
    return None


def _plain(annotation: Any) -> tuple[Any, bool]:
    """The kind of a field without None, and whether None is allowed."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        if len(kinds) == 1:
            return kinds[0], len(kinds) < len(get_args(annotation))
    return annotation, False


def _title(name: str) -> str:
    words = name.removesuffix("_cents").replace("_", " ")
    return words[0].upper() + words[1:]
