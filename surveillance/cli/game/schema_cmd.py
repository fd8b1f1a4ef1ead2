"""`feltwatch schema`: the JSON Schemas of everything that is read and written."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer
from pydantic import BaseModel

from settlement.felt_timeline import TIMELINE_LINE
from settlement.record import RoundRecord


class Form(StrEnum):
    """Forms that have a JSON schema."""

    ROUND = "round"
    ALERT = "alert"
    TABLE = "table"
    SETTLEMENT = "settlement"
    TIMELINE = "timeline"


def model_of(form: Form) -> type[BaseModel]:
    """The pydantic model behind a form."""
    if form is Form.ALERT:
        from surveillance.alerts.model import Alert

        return Alert
    if form is Form.TABLE:
        from vision.geometry.table import TableFile

        return TableFile
    if form is Form.SETTLEMENT:
        from settlement.settle import Settlement

        return Settlement
    return RoundRecord


def schema_command(
    form: Annotated[Form, typer.Argument(help="Which form.")],
) -> None:
    """Print the JSON Schema of a form: a round record, an alert, a table file, a settlement, a line
    of the felt's timeline.

    Examples:

      feltwatch schema round > round.schema.json
    """
    if form is Form.TIMELINE:
        schema = TIMELINE_LINE.json_schema()
    else:
        schema = model_of(form).model_json_schema()
    typer.echo(json.dumps(schema, indent=2))
