"""Sampling the banker's button or cup through the API, on filmed 4K frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.surveillance.laid_marker import BUTTON, CUP, LaidMarker, laid_marker
from tests.surveillance.web.tools_made import asking_of, file_of, sent
from vision.geometry.marker_places import marker_places
from vision.geometry.table import load_table


@pytest.fixture(params=[BUTTON, CUP], ids=["button", "cup"])
def laid(request: pytest.FixtureRequest) -> LaidMarker:
    return laid_marker(request.param)


@pytest.fixture
def path(tmp_path: Path, laid: LaidMarker) -> Path:
    return laid.write(tmp_path)


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with asking_of(path) as asking:
        yield asking


@pytest.fixture
def file(client: TestClient) -> dict[str, Any]:
    return file_of(client)


def ask(
    client: TestClient, laid: LaidMarker, file: dict[str, Any], laid_picture: str, **question: Any
) -> Any:
    body = {
        "picture": laid_picture, "data": file["data"], "at_px": laid.face_px,
        "diameter_mm": laid.diameter_mm, "height_mm": laid.height_mm,
    }  # fmt: skip
    return client.post("/api/banker/marker", json=body | question)


def test_the_marker_that_is_pointed_at_is_sampled_and_saved(
    client: TestClient, path: Path, laid: LaidMarker, file: dict[str, Any]
) -> None:
    answer = ask(client, laid, file, sent(client, laid.frame))
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["place"] == f"seat {laid.seat}"
    assert found["probability"] > 0.9
    assert found["warnings"] == []
    middle = np.array(found["outline_px"]).mean(axis=0)
    # The face, not the marker's foot, is where a person clicks: a cup's lie far apart.
    assert np.abs(middle - laid.face_px).max() < 12

    file["data"]["banker_marker"] = found["marker"]
    body = {"revision": file["revision"], "data": file["data"]}
    assert client.put(f"/api/tablefiles/{file['id']}", json=body).status_code == 200
    marker = load_table(path).banker_marker
    assert marker is not None
    assert marker.diameter_mm == pytest.approx(laid.diameter_mm)


def test_the_places_are_drawn(client: TestClient, laid: LaidMarker, file: dict[str, Any]) -> None:
    body = {"picture": sent(client, laid.frame), "data": file["data"]}
    found = client.post("/api/banker/places", json=body).json()
    assert [one["name"] for one in found] == [
        *(f"seat {seat.seat}" for seat in laid.table.seats), "house",
    ]  # fmt: skip
    for (seat, place), one in zip(marker_places(laid.table).items(), found, strict=True):
        middle = np.array(one["points_px"]).mean(axis=0)
        assert np.abs(middle - laid.pixel_of(place.center_mm)).max() < 6, seat


def test_a_marker_that_lies_at_none_of_its_places_is_warned_of(
    client: TestClient, laid: LaidMarker, file: dict[str, Any]
) -> None:
    x, y = marker_places(laid.table)[laid.seat].center_mm
    file["data"]["banker_marker"] = {
        **ask(client, laid, file, sent(client, laid.frame)).json()["marker"],
        "reach_mm": 20.0, "seats": {str(laid.seat): [x + 45, y]},
    }  # fmt: skip
    found = ask(client, laid, file, sent(client, laid.frame)).json()
    assert found["place"] is None
    assert "lies at none of its places" in found["warnings"][0]


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        (
            {"at_px": [1900.0, 1500.0]},
            422,
            "no marker of that diameter and height lies there alone",
        ),
        ({"diameter_mm": 20.0}, 422, "diameter_mm"),
        ({"height_mm": True}, 422, "height_mm"),
        ({"picture": "gone"}, 404, "not kept any more"),
        ({"data": {"table": "t"}}, 422, "the table file: "),
    ],
)
def test_what_cannot_be_sampled_is_named(
    client: TestClient, path: Path, laid: LaidMarker, file: dict[str, Any],
    question: dict[str, Any], status: int, words: str,
) -> None:  # fmt: skip
    before = path.read_bytes()
    answer = ask(client, laid, file, sent(client, laid.frame), **question)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert path.read_bytes() == before


def test_the_page_is_served(client: TestClient, file: dict[str, Any]) -> None:
    assert "Button or cup" in client.get(f"/tables/banker/{file['id']}").text
    assert client.get("/tables/banker/none-00000000").status_code == 404
