"""Showing a table's jackpot displays and lamps through the API, on a rendered 4K image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.surveillance.laid_jackpots import INSURANCE, SHOWN, TREASURE, laid_jackpots
from tests.surveillance.web.tools_made import asking_of, file_of, sent
from vision.geometry.table import load_table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return laid_jackpots().write(tmp_path)


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with asking_of(path) as asking:
        yield asking


@pytest.fixture
def file(client: TestClient) -> dict[str, Any]:
    return file_of(client)


def display(wager: str, **changed: Any) -> dict[str, Any]:
    own = {"wager": wager, "digits": 7, "corners_px": laid_jackpots().corners_of(wager)}
    return own | changed


def looked(client: TestClient, file: dict[str, Any], **more: Any) -> Any:
    body = {"picture": sent(client, laid_jackpots().frame), "data": file["data"] | more}
    return client.post("/api/jackpots/look", json=body)


def test_displays_are_read_and_saved(client: TestClient, file: dict[str, Any], path: Path) -> None:
    displays = [display(wager) for wager in SHOWN]
    answer = looked(client, file, displays=displays)
    assert answer.status_code == 200, answer.text
    for one, (shown, cents) in zip(answer.json()["displays"], SHOWN.values(), strict=True):
        assert (one["shown"], one["cents"], one["warnings"]) == (shown, cents, [])
        off = np.array(one["found_px"]) - np.array(one["picked_px"])
        assert np.abs(off).max() < 0.2 * one["digit_px"]
    file["data"]["displays"] = displays
    body = {"revision": file["revision"], "data": file["data"]}
    assert client.put(f"/api/tablefiles/{file['id']}", json=body).status_code == 200
    assert [one.wager for one in load_table(path).displays] == list(SHOWN)


def test_corners_beside_the_digits_are_warned_of_and_the_found_ones_will_do(
    client: TestClient, file: dict[str, Any]
) -> None:
    corners = laid_jackpots().corners_of(TREASURE)
    high = corners[3][1] - corners[0][1]
    moved = [[x + 0.23 * high, y] for x, y in corners]
    (one,) = looked(client, file, displays=[display(TREASURE, corners_px=moved)]).json()["displays"]
    assert one["cents"] == SHOWN[TREASURE][1]
    assert "take the corners that were found" in one["warnings"][0]
    taken = display(TREASURE, corners_px=one["found_corners_px"])
    (again,) = looked(client, file, displays=[taken]).json()["displays"]
    assert (again["cents"], again["warnings"]) == (SHOWN[TREASURE][1], [])


def test_a_display_that_cannot_be_read_is_warned_of(
    client: TestClient, file: dict[str, Any]
) -> None:
    few = display(INSURANCE, digits=3)
    bare = display(TREASURE, corners_px=[[1900, 1200], [2000, 1200], [2000, 1205], [1900, 1205]])
    first, second = looked(client, file, displays=[few, bare]).json()["displays"]
    assert any("it has not 3 digits" in words for words in first["warnings"])
    assert "too small: its digits are 5.0 px high" in second["warnings"][0]
    assert second["cents"] is None
    assert any(words.startswith("unreadable in this image: ") for words in second["warnings"])


def test_the_lamp_that_is_pointed_at_is_sampled_and_all_lamps_are_read(
    client: TestClient, file: dict[str, Any]
) -> None:
    laid = laid_jackpots()
    assert {one["shows"] for one in looked(client, file).json()["sensors"]} == {""}
    body = {
        "picture": sent(client, laid.frame), "data": file["data"],
        "at_px": laid.lamp_px(laid.lit), "diameter_mm": 14.0,
    }  # fmt: skip
    answer = client.post("/api/jackpots/lamp", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert ((found["seat"], found["wager"]), found["warnings"]) == (laid.lit, [])
    red, green, blue = found["lamp"]["rgb"]
    assert red > 200 > green
    assert red > 200 > blue
    sensors = looked(client, file, sensor_lamp=found["lamp"]).json()["sensors"]
    lit = {(one["seat"], one["wager"]) for one in sensors if one["shows"] == "lit"}
    assert lit == {laid.lit}
    assert {one["shows"] for one in sensors} == {"lit", "unlit"}


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        ({"at_px": None}, 422, "no lit lamp is seen at seat"),
        ({"at_px": [100.0, 100.0]}, 422, "mm away; lamps are looked for in the middle of each"),
        ({"diameter_mm": 50.0}, 422, "diameter_mm"),
        ({"picture": "gone"}, 404, "not kept any more"),
    ],
)
def test_where_no_lamp_is_lit_the_cause_is_named(
    client: TestClient, file: dict[str, Any], question: dict[str, Any], status: int, words: str
) -> None:
    laid = laid_jackpots()
    unlit = (laid.lit[0], INSURANCE)
    body = {
        "picture": sent(client, laid.frame), "data": file["data"],
        "at_px": laid.lamp_px(unlit), "diameter_mm": 14.0,
    }  # fmt: skip
    answer = client.post("/api/jackpots/lamp", json=body | {k: v for k, v in question.items() if v})
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"corners_px": None}, "give either corners_px or corners_mm"),
        ({"wager": "main"}, "no jackpot 'main'"),
        ({"turned": True}, "expected top left, top right, bottom right, bottom left"),
    ],
)
def test_displays_that_cannot_be_are_refused(
    client: TestClient, file: dict[str, Any], changed: dict[str, Any], words: str
) -> None:
    own = display(TREASURE)
    if changed.pop("turned", False):
        own["corners_px"] = own["corners_px"][::-1]
    answer = looked(client, file, displays=[own | changed])
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text


def test_the_page_is_served(client: TestClient, file: dict[str, Any]) -> None:
    assert "Sensor lamps" in client.get(f"/tables/jackpots/{file['id']}").text
    assert client.get("/tables/jackpots/none-00000000").status_code == 404
