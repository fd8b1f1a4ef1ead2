"""Requests that are not valid: the answer names the field and what it accepts, in plain words."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from tests.surveillance.web.room_made import CAMERA, first_alert

MOMENT = "expected an ISO 8601 time, such as 2026-01-31T08:00:00Z"


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("limit=0", "query.limit: must be 1 or more"),
        ("limit=201", "query.limit: must be 200 or less"),
        ("limit=many", "query.limit: write a whole number"),
        ("limit=1.5", "query.limit: write a whole number"),
        ("recording=9223372036854775808", "query.recording: must be 9223372036854775807 or less"),
        ("case=perhaps", "query.case: write true or false"),
        ("since=yesterday", "query.since: write a date and time such as 2026-01-31T08:00:00Z"),
        ("since=5", f"query.since: {MOMENT}"),
        ("code=" + "A" * 41, "query.code: takes at most 40 letters"),
        (
            "limit=0&seat=21&recording=0&camera=" + "c" * 201,
            "query.seat: must be 20 or less; query.recording: must be 1 or more; "
            "query.camera: takes at most 200 letters; and 1 more",
        ),
    ],
)
def test_a_parameter(ann: TestClient, query: str, detail: str) -> None:
    answer = ann.get(f"/api/alerts?{query}")
    assert (answer.status_code, answer.json()) == (422, {"detail": detail})


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("{}", "verdict: is missing"),
        ("", "body: is missing"),
        ("[]", "body: a table of keys and values belongs here"),
        ('{"verdict": ', "body, at character 12: not valid JSON (Expecting value)"),
        (
            '{"verdict": "wrong"}',
            "verdict: must be 'confirmed', 'rejected', 'corrected' or 'reopened'",
        ),
        (
            '{"verdict": "confirmed", "why": 1}',
            "why: there is no such key here; take it out or check its spelling",
        ),
        (
            '{"verdict": "corrected", "corrected": {"code": "late", "seat": 1.5}}',
            "corrected.code: takes 2 to 40 capital letters and '_'; "
            "corrected.seat: write a whole number",
        ),
    ],
)
def test_a_body(ann: TestClient, body: str, detail: str) -> None:
    line = first_alert(ann)
    answer = ann.post(
        f"/api/alerts/{line['id']}/verdict",
        content=body,
        headers={"content-type": "application/json"},
    )
    assert (answer.status_code, answer.json()) == (422, {"detail": detail})


def test_a_field_of_several_forms(ann: TestClient) -> None:
    answer = ann.post(f"/api/tables/{CAMERA}/declared", json={"banker": "player"})
    assert (answer.status_code, answer.json()) == (
        422, {"detail": "banker: must be 'house' or write a whole number"},
    )  # fmt: skip
