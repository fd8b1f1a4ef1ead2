"""A dataset to review, and a client that asks as the page does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.web.review_made import make_dataset


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
