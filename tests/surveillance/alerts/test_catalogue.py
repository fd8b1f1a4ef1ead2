"""One catalogue: every code that can be raised has a severity and words, and can be filtered by."""

from __future__ import annotations

from settlement.compare.finding import SEVERITY, FindingCode
from surveillance.alerts.catalogue import CATALOGUE, alert_code
from surveillance.alerts.model import NO_ALERT
from surveillance.live.camera.incident_reporter import RULES
from surveillance.web.routers.room_pages import _CODES


def test_every_code_that_can_be_raised_is_in_the_catalogue() -> None:
    known = [one.code for one in CATALOGUE]
    assert len(set(known)) == len(known)
    raised = {*map(str, FindingCode)} - {NO_ALERT}
    assert {*raised, *RULES.values(), "CAMERA", "GAP"} == set(known)
    for code in raised:
        assert alert_code(code).severity == SEVERITY[FindingCode(code)]


def test_pages_offer_every_code_as_a_filter_and_as_a_correction() -> None:
    offered = {entry["code"]: entry["title"] for entry in _CODES}
    assert offered["WRONG_SPOT"] == "Paid beside another wager"
    assert set(offered) == {one.code for one in CATALOGUE}
