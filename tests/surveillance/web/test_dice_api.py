"""Showing where a table's dice lie through the API, on a rendered 4K frame."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.surveillance.laid_dice import laid_dice
from tests.surveillance.web.tools_made import asking_of, file_of, sent
from vision.geometry.table import load_table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return laid_dice().write(tmp_path)


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with asking_of(path) as asking:
        yield asking


@pytest.fixture
def file(client: TestClient) -> dict[str, Any]:
    return file_of(client)


def ask(client: TestClient, file: dict[str, Any], **question: Any) -> Any:
    laid = laid_dice()
    sizes = question.pop("sizes", laid.sizes)
    own = {**file["data"], "dice": {**file["data"].get("dice", {}), **sizes}}
    body = {"data": own, "at_px": laid.middle_px} | question
    if "picture" not in body:
        body["picture"] = sent(client, laid.frame)
    return client.post("/api/dice/look", json=body)


def test_the_dice_that_are_pointed_at_are_read_and_saved(
    client: TestClient, path: Path, file: dict[str, Any]
) -> None:
    laid = laid_dice()
    answer = ask(client, file)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert sorted(one["value"] for one in found["seen"]) == sorted(laid.values)
    assert (found["total"], found["why"]) == (sum(laid.values), None)
    assert found["probability"] > 0.9
    assert np.hypot(*(np.array(found["dice"]["center_mm"]) - laid.place.center_mm)) < 1.0
    middle = np.array(found["outline_px"]).mean(axis=0)
    reach = np.hypot(*(np.array(found["outline_px"]) - middle).T).max()
    for one in found["seen"]:
        assert np.hypot(*(np.array(one["at_px"]) - middle)) < reach

    file["data"]["dice"] = found["dice"]
    body = {"revision": file["revision"], "data": file["data"]}
    assert client.put(f"/api/tablefiles/{file['id']}", json=body).status_code == 200
    dice = load_table(path).dice
    assert dice is not None
    assert (dice.count, dice.die_mm) == (laid.place.count, laid.place.die_mm)
    # From the table file alone the same is read.
    again = ask(client, file, at_px=None).json()
    assert again["total"] == sum(laid.values)


def test_what_else_the_table_file_has_of_its_dice_stays(
    client: TestClient, file: dict[str, Any]
) -> None:
    order = ["dealer", *sorted((seat["seat"] for seat in file["data"]["seats"]), reverse=True)]
    file["data"]["dice"] = {"center_mm": [500.0, 300.0], "positions": order}
    found = ask(client, file).json()
    assert found["dice"]["positions"] == order
    assert found["dice"]["center_mm"] != [500.0, 300.0]


def test_a_total_that_is_not_sure_is_none_with_its_cause(
    client: TestClient, file: dict[str, Any]
) -> None:
    laid = laid_dice()
    found = ask(client, file, sizes=laid.sizes | {"count": 4}).json()
    assert found["total"] is None
    assert "not 4" in found["why"]
    blank = ask(client, file, picture=sent(client, np.zeros_like(laid.frame))).json()
    assert (blank["total"], blank["seen"]) == (None, [])


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        ({"at_px": None}, 422, "no dice yet: point at the middle"),
        ({"sizes": {"die_mm": 40.0}}, 422, "die_mm"),
        ({"sizes": {"count": True}}, 422, "count"),
        ({"picture": "gone"}, 404, "not kept any more"),
        ({"data": {"table": "t"}}, 422, "the table file: "),
    ],
)
def test_what_cannot_be_looked_for_is_named(
    client: TestClient, path: Path, file: dict[str, Any], question: dict[str, Any], status: int,
    words: str,
) -> None:  # fmt: skip
    before = path.read_bytes()
    answer = ask(client, file, **question)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert path.read_bytes() == before


def test_dice_where_cards_lie_are_refused(client: TestClient, file: dict[str, Any]) -> None:
    laid = laid_dice()
    answer = ask(client, file, at_px=laid.pixel_of(laid.table.seats[2].high.center_mm))
    assert answer.status_code == 422
    assert "lay the dice where no cards and chips lie" in answer.json()["detail"]


def test_the_page_is_served(client: TestClient, file: dict[str, Any]) -> None:
    assert "gets the first hand" in client.get(f"/tables/dice/{file['id']}").text
    assert client.get("/tables/dice/none-00000000").status_code == 404
