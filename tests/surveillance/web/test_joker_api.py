"""Sampling a table's joker and its deck through the API, on rendered cards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from fastapi.testclient import TestClient

from datasets.simulate.laid_out import deck_rows
from models.weights import folder
from settlement.record import DECK_LABELS
from tests.surveillance.laid_tables import (
    JOKER_MM,
    laid_deck,
    laid_joker,
    laid_table,
    pixel_of,
    plain_weights,
)
from tests.surveillance.web.tools_made import asking_of, file_of, sent
from tests.vision.stack_scenes import PLACE
from vision.cards.joker_match import mark_ink, table_joker
from vision.cards.table_deck import table_deck
from vision.geometry.table import decode_png, load_table

MARK_INK = "vision.cards.joker_enrolment.mark_ink"


@pytest.fixture(scope="module")
def frame() -> np.ndarray:
    return laid_joker().frame


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return laid_table(tmp_path)


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with asking_of(path) as asking:
        yield asking


@pytest.fixture
def file(client: TestClient) -> dict[str, Any]:
    return file_of(client)


def ask(client: TestClient, file: dict[str, Any], sent_picture: str, **question: Any) -> Any:
    body = {"picture": sent_picture, "data": file["data"], "at_px": pixel_of(JOKER_MM)}
    return client.post("/api/cards/joker", json=body | question)


def save(client: TestClient, file: dict[str, Any]) -> None:
    body = {"revision": file["revision"], "data": file["data"]}
    assert client.put(f"/api/tablefiles/{file['id']}", json=body).status_code == 200


def test_the_joker_that_is_pointed_at_is_sampled_saved_and_forgotten(
    client: TestClient, path: Path, file: dict[str, Any], frame: np.ndarray
) -> None:
    answer = ask(client, file, sent(client, frame))
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["ends"], told["warnings"]) == (2, [])
    middle = np.array(told["outline_px"]).mean(axis=0)
    assert np.abs(middle - pixel_of(JOKER_MM)).max() < 6
    wide, high = told["card_mm"]
    assert wide / high == pytest.approx(63 / 88, rel=0.04)
    card = decode_png(told["card_png"])
    assert card is not None
    assert card.shape == (round(4 * high), round(4 * wide), 3)
    # Upright it is paper along all four edges, and the joker's figure in the middle.
    edges = np.concatenate([card[4:-4, 8], card[4:-4, -9], card[8, 4:-4], card[-9, 4:-4]])
    assert np.median(edges) > 150
    assert card.std() > 20

    file["data"]["joker_png"] = told["joker_png"]
    save(client, file)
    assert len(table_joker(load_table(path))) == 2
    again = file_of(client)
    del again["data"]["joker_png"]
    save(client, again)
    assert table_joker(load_table(path)) == ()


def test_a_smaller_picture_of_the_camera_is_scaled(
    client: TestClient, file: dict[str, Any], frame: np.ndarray
) -> None:
    small = cv2.resize(frame, (600, 600), interpolation=cv2.INTER_AREA)
    at = [v * 600 / 900 for v in pixel_of(JOKER_MM)]
    told = ask(client, file, sent(client, small), at_px=at).json()
    assert np.abs(np.array(told["outline_px"]).mean(axis=0) - at).max() < 5


def test_one_end_alone_is_warned_of(
    client: TestClient, file: dict[str, Any], frame: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[None] = []

    def first_alone(end: np.ndarray) -> Any:
        calls.append(None)
        return mark_ink(end) if len(calls) == 1 else None

    monkeypatch.setattr(MARK_INK, first_alone)
    told = ask(client, file, sent(client, frame)).json()
    assert told["ends"] == 1
    assert "only one end of the card shows a mark" in told["warnings"][0]


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        ({"at_px": pixel_of((JOKER_MM[0], JOKER_MM[1] - 150))}, 422, "no card lies there alone"),
        ({"at_px": pixel_of((JOKER_MM[0], JOKER_MM[1] - 60))}, 422, "within 3 cm of the place"),
        ({"picture": "gone"}, 404, "not kept any more"),
        ({"at_px": [-1.0, 4.0]}, 422, "at_px"),
        ({"data": {"table": "t"}}, 422, "the table file: "),
    ],
)
def test_what_cannot_be_sampled_is_named(
    client: TestClient, path: Path, file: dict[str, Any], frame: np.ndarray,
    question: dict[str, Any], status: int, words: str,
) -> None:  # fmt: skip
    before = path.read_bytes()
    answer = ask(client, file, sent(client, frame), **question)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert path.read_bytes() == before


def test_a_card_without_a_mark_is_named(
    client: TestClient, file: dict[str, Any], frame: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MARK_INK, lambda _: None)
    answer = ask(client, file, sent(client, frame))
    assert answer.status_code == 422
    assert "shows nothing in its corners to know it by" in answer.json()["detail"]


@pytest.mark.parametrize("card", ["QH", "AS", "TC"])
def test_another_card_is_named(client: TestClient, file: dict[str, Any], card: str) -> None:
    answer = ask(client, file, sent(client, laid_joker(card).frame))
    assert answer.status_code == 422
    assert f"both ends of the card read as {card}: lay the joker there" in answer.json()["detail"]


def test_a_camera_that_is_not_calibrated_is_named(
    client: TestClient, file: dict[str, Any], frame: np.ndarray
) -> None:
    del file["data"]["camera"]
    answer = ask(client, file, sent(client, frame))
    assert (answer.status_code, "not calibrated yet" in answer.json()["detail"]) == (422, True)


def test_the_page_begins_with_the_table(client: TestClient, file: dict[str, Any]) -> None:
    text = client.get(f"/tables/cards/{file['id']}").text
    start = text.partition('<script id="start" type="application/json">')[2]
    assert json.loads(start.partition("</script>")[0])["file"]["id"] == file["id"]
    assert client.get("/tables/cards/none-00000000").status_code == 404


def test_the_deck_that_lies_spread_is_sampled_and_saved(
    client: TestClient, path: Path, file: dict[str, Any]
) -> None:
    frame = laid_deck().frame
    body = {"picture": sent(client, frame), "data": file["data"]}
    answer = client.post("/api/cards/deck", json=body)
    assert answer.status_code == 200, answer.text
    taken = answer.json()
    assert taken["warnings"] == []
    at = {card["label"]: np.array(card["outline_px"]).mean(axis=0) for card in taken["cards"]}
    assert set(at) == set(DECK_LABELS)
    for item in deck_rows(np.random.default_rng(3), PLACE.center_mm, 3.0):
        # An index lies nearer to its own card's middle than to that of the next row's.
        assert np.abs(at[item.label] - pixel_of(item.center_mm)).max() < 140
    file["data"]["deck_jpeg"] = taken["deck_jpeg"]
    save(client, file)
    samples = table_deck(load_table(path))
    assert samples is not None
    assert samples.there.all()


def test_the_rows_may_be_named_where_they_do_not_read_otherwise(
    client: TestClient, file: dict[str, Any]
) -> None:
    body = {"picture": sent(client, laid_deck().frame), "data": file["data"]}
    said = client.post("/api/cards/deck", json={**body, "rows": "AS-KS AH-KH AD-KD AC-KC"})
    assert said.status_code == 200, said.text
    assert said.json()["deck_jpeg"] == client.post("/api/cards/deck", json=body).json()["deck_jpeg"]
    for rows, words in (
        ("KS-AS AH-KH AD-KD AC-KC", "they read as AS-KS AH-KH AD-KD AC-KC"),
        ("spades first", "expected the four rows from the top"),
    ):
        answer = client.post("/api/cards/deck", json={**body, "rows": rows})
        assert answer.status_code == 422
        assert words in answer.text


def test_where_no_deck_lies_spread_it_is_said(
    client: TestClient, file: dict[str, Any], frame: np.ndarray
) -> None:
    body = {"picture": sent(client, frame), "data": file["data"]}
    answer = client.post("/api/cards/deck", json=body)
    assert answer.status_code == 422
    assert "lay the deck face up in four rows of thirteen" in answer.text


def test_a_deck_is_not_sampled_for_weights_that_cannot_compare(
    client: TestClient, file: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = plain_weights(tmp_path)
    monkeypatch.setattr(folder, "default_weights", lambda: own)
    body = {"picture": sent(client, laid_deck().frame), "data": file["data"]}
    answer = client.post("/api/cards/deck", json=body)
    assert answer.status_code == 422
    assert "have no network that compares with a deck's samples" in answer.text
