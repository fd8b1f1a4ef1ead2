"""A dataset to review, a room, and clients that ask as the pages do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.web.review_browser import launched
from tests.surveillance.web.review_made import make_dataset
from tests.surveillance.web.room_made import MadeRoom, asking, made_room
from vision.geometry.table import TableFile


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def dataset_folder(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "cards")


@pytest.fixture
def client(dataset_folder: Path) -> Iterator[TestClient]:
    app = create_app(WebSettings(datasets=(dataset_folder,), person="ann"))
    with TestClient(
        app,
        base_url="http://127.0.0.1:8471",
        headers={"x-feltwatch": "1"},
        raise_server_exceptions=False,
    ) as asking:
        yield asking


@pytest.fixture
def room(tmp_path: Path, table: TableFile) -> Iterator[MadeRoom]:
    with made_room(tmp_path, table) as room:
        yield room


@pytest.fixture
def ann(room: MadeRoom) -> Iterator[TestClient]:
    with asking(room, "ann") as client:
        yield client
