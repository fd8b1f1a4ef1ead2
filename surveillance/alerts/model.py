"""The form of an alert: one alert per difference, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from settlement.compare.finding import FindingCode
from settlement.form import Form
from settlement.input_file import file_fault, read_text
from settlement.record import Seconds

NO_ALERT = str(FindingCode.UNDECIDED)
"""The code of what was not read: it is recorded as reading quality and raises no alert."""

ALERTED_APART = frozenset({NO_ALERT, str(FindingCode.HAND_PAY)})
"""Codes that claim no mistake."""


IncidentAct = Literal["began", "again", "ended"]
"""Turns of what is wrong with a camera or table for a while."""


class Alert(Form):
    """One thing that a person should look at, with the images that show it."""

    alert_id: str = Field(description="Table, round and number within the round.")
    round_id: str | None = Field(None, description="None when it is about no single round.")
    code: str = Field(description="HOUSE_WAY, FOUL, OVERPAID, ..., CAMERA.")
    severity: str = Field(description="How soon a person should look.")
    seat: int | None = Field(None, description="None for the dealer or the whole table.")
    wager: str | None = None
    start_s: Seconds | None = Field(None, description="Seconds of the stream's own clock.")
    end_s: Seconds | None = None
    seen: str | None = Field(None, description="What lay on the felt or was done.")
    due: str | None = Field(None, description="What should have been.")
    rule: str | None = Field(None, description="Document, section and row that say so.")
    message: str = Field(description="One sentence for the person.")
    pictures: tuple[str, ...] = Field((), description="Paths relative to the alerts file.")

    def to_json(self) -> str:
        """One line of JSON without the keys that are not known."""
        return self.model_dump_json(exclude_none=True)


def read_alerts(path: Path) -> list[Alert]:
    """Read an `alerts.jsonl`; raises FeltwatchError naming file, line and key.

    What was not read stands there too in files of earlier versions, and is left out.
    """
    alerts = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            alert = Alert.model_validate_json(line)
        except ValidationError as error:
            raise file_fault(f"{path}, line {number}", error) from error
        if alert.code != NO_ALERT:
            alerts.append(alert)
    return alerts


def count_by_code(alerts: Iterable[Alert]) -> dict[str, int]:
    """Return the number of alerts by code, the most frequent first.

    >>> count_by_code([Alert(alert_id="a", code="OVERPAID", severity="high", message="m")])
    {'OVERPAID': 1}
    """
    counts: dict[str, int] = {}
    for alert in alerts:
        counts[alert.code] = counts.get(alert.code, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
