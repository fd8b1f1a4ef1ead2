"""Sampling a table's chips through the API, on rendered stacks with the shipped networks."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from tests.surveillance.laid_tables import WHERE, laid_table
from tests.surveillance.web.chips_made import NAMES, laid_out, on_stack
from tests.surveillance.web.tools_made import asking_of, file_of, sent
from tests.vision.stack_scenes import PLACE, Scene, render, scene_camera
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.silhouette import silhouette
from vision.geometry.standard_layout import CHIPS
from vision.geometry.table import load_table

TAKEN = ("rgb", "face_rgb", "side_png", "face_png", "face_centred")
"""What goes into the table file."""


@pytest.fixture(scope="module")
def scene() -> Scene:
    return laid_out()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return laid_table(tmp_path, NAMES)


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with asking_of(path) as asking:
        yield asking


@pytest.fixture
def file(client: TestClient) -> dict[str, Any]:
    return file_of(client)


def ask(client: TestClient, file: dict[str, Any], sent_picture: str, **question: Any) -> Any:
    body = {"picture": sent_picture, "data": file["data"], "chip": "red", "at_px": on_stack(0)}
    return client.post("/api/chips/sample", json=body | question)


@pytest.mark.parametrize("height", [0.0, 1.0])
def test_a_stack_that_is_pointed_at_is_sampled_and_saved(
    client: TestClient, path: Path, file: dict[str, Any], scene: Scene, height: float
) -> None:
    picture = sent(client, scene.frame)
    _, calibration = scene_camera()
    for n, name in enumerate(NAMES):
        answer = ask(client, file, picture, chip=name, at_px=on_stack(n, height))
        assert answer.status_code == 200, answer.text
        sample = answer.json()
        assert sample["counted"] == 6
        assert sample["read_cents"] == 6 * CHIPS[name].value_cents
        assert sample["warnings"] == []
        outline = np.array(sample["outline_px"])
        base = PLACE.to_felt(np.array([WHERE[n]]))[0]
        wanted = calibration.felt_to_image(silhouette(calibration, base, 6, ChipSize(39.0, 3.3)))
        assert np.abs(outline.mean(axis=0) - wanted.mean(axis=0)).max() < 8
        taken = {key: sample[key] for key in TAKEN}
        file["data"]["chips"][name] |= taken
    body = {"revision": file["revision"], "data": file["data"]}
    assert client.put(f"/api/tablefiles/{file['id']}", json=body).status_code == 200
    own = load_table(path)
    assert [name for name, kind in own.chips.items() if kind.sampled() is not None] == sorted(
        NAMES, key=list(CHIPS).index
    )
    assert own.chips["red"].rgb[0] > 1.5 * own.chips["red"].rgb[1]
    assert len(list((path.parent / ".backups").iterdir())) == 2


def test_a_smaller_picture_of_the_camera_is_scaled(
    client: TestClient, file: dict[str, Any], scene: Scene
) -> None:
    picture = sent(client, cv2.resize(scene.frame, (600, 600), interpolation=cv2.INTER_AREA))
    at = [v * 600 / 900 for v in on_stack(0)]
    sample = ask(client, file, picture, at_px=at).json()
    middle = np.array(sample["outline_px"]).mean(axis=0)
    assert np.abs(middle - at).max() < 8


def test_chips_that_look_alike_are_named(
    client: TestClient, file: dict[str, Any], scene: Scene
) -> None:
    picture = sent(client, scene.frame)
    sample = ask(client, file, picture).json()
    taken = {key: sample[key] for key in TAKEN}
    file["data"]["chips"]["orange"] |= taken
    sample = ask(client, file, picture).json()
    (first, *others) = sample["pairs"]
    assert {first["one"], first["other"]} == {"red", "orange"}
    assert first["difference"] < 1
    assert "stacks of them may be confused" in first["warning"]
    # The stack reads as either: nothing tells them apart.
    assert any("the stack reads as" in words for words in sample["warnings"])
    assert [pair["difference"] for pair in others] == sorted(p["difference"] for p in others)
    assert client.post("/api/chips/pairs", json={"data": file["data"]}).json()[0]["warning"]
    assert client.post("/api/chips/pairs", json={"data": {"chips": 3}}).json() == []


def test_a_wrong_number_of_chips_is_named(
    client: TestClient, file: dict[str, Any], scene: Scene
) -> None:
    sample = ask(client, file, sent(client, scene.frame), laid=9).json()
    assert sample["counted"] == 6
    assert "6 chips were counted and 9 laid" in sample["warnings"][0]
    assert "in place of 9 of red" in sample["warnings"][1]


def test_a_felt_like_the_chip_is_named(
    client: TestClient, file: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.vision import stack_scenes

    monkeypatch.setattr(stack_scenes, "felt_rgb", lambda _: CHIPS["black"].rgb)
    scene = render(33, [((0.0, 0.0), ["black"] * 6)])
    sample = ask(client, file, sent(client, scene.frame), chip="black", at_px=on_stack(1)).json()
    assert sample["felt_difference"] < 10
    assert any("black looks like the felt" in words for words in sample["warnings"])


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        ({"at_px": [30.0, 30.0]}, 422, "no stack was found there"),
        ({"chip": "mauve"}, 422, "has no chip 'mauve'; it has white, red"),
        ({"picture": "gone"}, 404, "not kept any more"),
        ({"laid": 4}, 422, "laid"),
        ({"at_px": [-1.0, 4.0]}, 422, "at_px"),
        ({"data": {"table": "t"}}, 422, "the table file: "),
    ],
)
def test_what_cannot_be_sampled_is_named(
    client: TestClient, path: Path, file: dict[str, Any], scene: Scene,
    question: dict[str, Any], status: int, words: str,
) -> None:  # fmt: skip
    before = path.read_bytes()
    answer = ask(client, file, sent(client, scene.frame), **question)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert path.read_bytes() == before


def test_a_picture_of_another_camera_is_refused(client: TestClient, file: dict[str, Any]) -> None:
    out = io.BytesIO()
    Image.new("RGB", (640, 360), (20, 90, 60)).save(out, "PNG")
    picture = client.post("/api/calibration/pictures", content=out.getvalue()).json()["id"]
    answer = ask(client, file, picture, at_px=[20.0, 20.0])
    assert answer.status_code == 422
    assert "640 x 360 px, the calibrated camera 900 x 900" in answer.json()["detail"]
    del file["data"]["camera"]
    answer = ask(client, file, picture, at_px=[20.0, 20.0])
    assert "not calibrated yet" in answer.json()["detail"]


def test_the_page_begins_with_the_table_and_its_pairs(
    client: TestClient, file: dict[str, Any]
) -> None:
    text = client.get(f"/tables/chips/{file['id']}").text
    start = text.partition('<script id="start" type="application/json">')[2]
    given = json.loads(start.partition("</script>")[0])
    assert given["file"]["id"] == file["id"]
    assert len(given["pairs"]) == len(CHIPS) * (len(CHIPS) - 1) / 2
    assert client.get("/tables/chips/none-00000000").status_code == 404
