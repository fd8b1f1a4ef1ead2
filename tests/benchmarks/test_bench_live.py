"""What `feltwatch bench live` makes of the events it hears: whose clock timed which delay."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks.live import _events, _Heard, _note, delays


def event(kind: str, camera: str, **body: Any) -> list[str]:
    return [f"event: {kind}", "data: " + json.dumps({"camera": camera, "body": body}), ""]


def alert(camera: str, round_number: int | None, shown_s: float) -> list[str]:
    at = datetime.fromtimestamp(shown_s, UTC).isoformat()
    return event("alert", camera, code="OVERPAID", seat=2, round=round_number, at=at)


def heard(lines: list[str]) -> dict[str, Any]:
    news = _Heard()
    for kind, body in _events(iter(lines)):
        _note(news, kind, body, 1000.0)
    return delays(news.rounds, news.alerts)


def test_delays_by_the_senders_clock_are_listed_apart() -> None:
    found = heard(
        # Alerts come before their round. Numbers count per store: two cameras never share one.
        alert("a", 1, 999.5)
        + alert("a", 1, 999.4)
        + event("round", "a", id=1, by_sender=True)
        + alert("b", 2, 999.0)
        + event("round", "b", id=2, by_sender=False)
        + event("round", "b", id=3, by_sender=True)
        + alert("b", None, 990.0)
    )
    assert found["clock"] == "mixed"
    assert found["rounds"] == {"all": 3, "by_rtcp": 2}
    assert [a["by_rtcp"] for a in found["alerts"]] == [True, True, False]
    assert found["latency_s"] == {"alerts": 3, "median": 0.6, "max": 1.0}
    assert found["latency_by_rtcp_s"] == {"alerts": 2, "median": 0.55, "max": 0.6}
    assert [a["latency_s"] for a in found["alerts_without_round"]] == [10.0]


@pytest.mark.parametrize(
    ("by_sender", "clock"), [([True, True], "rtcp"), ([False, False], "none"), ([], "none")]
)
def test_one_word_names_whose_clock_it_was(by_sender: list[bool], clock: str) -> None:
    lines: list[str] = []
    for number, own in enumerate(by_sender):
        lines += event("round", "a", id=number, by_sender=own)
    found = heard(lines)
    assert found["clock"] == clock
    assert found["latency_s"] == found["latency_by_rtcp_s"]
    assert found["latency_s"] == {"alerts": 0, "median": None, "max": None}
