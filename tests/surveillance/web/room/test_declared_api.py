"""Facts that people declare of a table, by the API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from settlement.rules import TableRules
from surveillance.config.site_file import load_site
from tests.surveillance.web.room.declared_site import site_file
from tests.surveillance.web.room_made import CAMERA, MadeRoom, asking, made_room
from vision.geometry.standard_layout import standard_table

URL = f"/api/tables/{CAMERA}/declared"
JACKPOT = "emperors_treasure_progressive"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeRoom]:
    folder = tmp_path_factory.mktemp("declared")
    rules = TableRules(game="pai_gow_poker")
    table = standard_table(rules, seats=3)
    with made_room(folder / "room", table, site=load_site(site_file(folder, table))) as made:
        yield made


@pytest.fixture
def ann(room: MadeRoom) -> Iterator[TestClient]:
    with asking(room, "ann") as client:
        yield client


def test_facts_are_kept_with_time_and_person(ann: TestClient, room: MadeRoom) -> None:
    empty = ann.get(URL).json()
    assert (empty["seats"], empty["players_bank"], empty["lines"]) == ([1, 2, 3], True, [])
    answer = ann.post(URL, json={"banker": 2, "players": {"1": 4, "3": 4}})
    assert answer.status_code == 200
    ann.post(URL, json={"banker": "house"})
    form = ann.get(URL).json()
    # A fact that is left out stays as it was declared before.
    assert (form["facts"]["banker"], form["facts"]["players"]) == ("house", {"1": 4, "3": 4})
    assert [line["by"] for line in form["lines"]] == ["ann", "ann"]
    assert form["lines"][0]["at"] > form["lines"][1]["at"]
    entries = room.store.audit.page().rows
    (first,) = [one for one in entries if one.detail == {"banker": "house"}]
    assert (first.by, first.act, first.target) == ("ann", "facts declared", "table t1")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"banker": 9}, "banker: no seat 9 at this table; there are 1, 2, 3"),
        ({"players": {"5": 1}}, "players: no seat 5 at this table; there are 1, 2, 3"),
        (
            {"meters": [{"wager": JACKPOT, "cents": 100}]},
            f"meters: no jackpot '{JACKPOT}' on this table; there are: none",
        ),
    ],
)
def test_what_the_tables_file_contradicts_is_refused_by_name(
    ann: TestClient, facts: dict[str, object], message: str
) -> None:
    answer = ann.post(URL, json=facts)
    assert (answer.status_code, answer.json()["detail"]) == (409, message)


def test_an_unknown_fact_is_refused_and_none_is_none(ann: TestClient) -> None:
    answer = ann.post(URL, json={"bank": 1})
    assert (answer.status_code, answer.json()["detail"]) == (
        422, "bank: there is no such key here; take it out or check its spelling",
    )  # fmt: skip
    before = ann.get(URL).json()["lines"]
    assert ann.post(URL, json={}).json()["lines"] == before


def test_only_reviewers_declare(room: MadeRoom) -> None:
    with asking(room, "vic") as vic:
        assert vic.post(URL, json={"banker": 2}).status_code == 403
        assert vic.get(URL).status_code == 200


def test_a_camera_that_is_not_there_has_no_facts(ann: TestClient) -> None:
    assert ann.get("/api/tables/nowhere/declared").status_code == 404
    assert ann.post("/api/tables/nowhere/declared", json={"banker": 2}).status_code == 404
