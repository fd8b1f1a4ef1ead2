"""The settlement calculator: its page, and the same as JSON."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from settlement.errors import FeltwatchError
from surveillance.web.access import Viewer
from surveillance.web.dependencies import TableShelfHere
from surveillance.web.routers.pages import page
from surveillance.web.schemas.calculator import (
    CalculatorAnswer,
    CalculatorQuestion,
    GamesForm,
    TableRulesForm,
    TableTextForm,
)
from surveillance.web.schemas.json_numbers import Integral
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.calculator import calculate
from surveillance.web.services.calculator_choices import games_form
from surveillance.web.services.tablefiles import TableShelf, table_of_text
from vision.geometry.table import TableFile

_REFUSED: dict[int | str, dict[str, Any]] = {
    422: {"model": ErrorForm, "description": "What was sent cannot be taken."}
}
_NOT_THERE: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "There is no such table file."}
}

router = APIRouter(tags=["calculator"])


@router.get("/api/games")
def games(_: Viewer) -> GamesForm:
    """Every game, house way, pay table and option that the rules of a table may name."""
    return games_form()


@router.post("/api/calculator", responses=_REFUSED | _NOT_THERE)
def calculator(
    _: Viewer, shelf: TableShelfHere, question: Integral[CalculatorQuestion]
) -> CalculatorAnswer:
    """Settle a round: every wager's outcome and payout, with the rule for it.

    Nothing is kept. What cannot be, such as a card that is there twice, is among the
    answer's problems; the rest is settled as far as it can be.
    """
    base = None if question.table_file is None else shelf.table(question.table_file).rules
    return calculate(question, base)


@router.get("/api/calculator/tablefiles")
def table_files(_: Viewer, shelf: TableShelfHere) -> list[TableRulesForm]:
    """The table files whose rules can be chosen; those that are not sound are left out."""
    return _rules(shelf)


@router.post("/api/calculator/tablefile", responses=_REFUSED)
def read_table_file(_: Viewer, form: TableTextForm) -> TableRulesForm:
    """The rules of a table file of one's own; nothing is kept."""
    return _form("", table_of_text(form.toml))


@router.get("/calculator", include_in_schema=False)
def calculator_page(account: Viewer, request: Request, shelf: TableShelfHere) -> Response:
    """The calculator's page."""
    start = {
        "games": games_form().model_dump(mode="json"),
        "tables": [form.model_dump(mode="json") for form in _rules(shelf)],
    }
    return page(request, account, "calculator.html.j2", start=start)


def _rules(shelf: TableShelf) -> list[TableRulesForm]:
    forms = []
    for shelved in shelf.all():
        try:
            forms.append(_form(shelved.id, shelf.table(shelved.id)))
        except FeltwatchError:
            continue
    return forms


def _form(id: str, table: TableFile) -> TableRulesForm:
    rules = table.rules.model_dump(mode="json", exclude_defaults=True)
    # Where the house's own pay tables lie is nobody's business; the server finds them again.
    rules.pop("paytable_folder", None)
    return TableRulesForm(
        id=id, table=table.table, seats=tuple(seat.seat for seat in table.seats), rules=rules
    )
