"""A server of one's own machine with a table file, as `feltwatch calibrate` has it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import Page

from surveillance.web.app import create_app
from surveillance.web.services.tablefiles import TableShelf
from surveillance.web.settings import WebSettings

SAMPLE = Path(__file__).parents[3] / "sample"
COMMENT = "# Measured by Ann on 3 March; the tray is 4 mm off."


def table_copy(folder: Path) -> Path:
    """The sample's table file with a person's comments in it."""
    path = folder / "t1.toml"
    shutil.copy(SAMPLE / "table.toml", path)
    text = path.read_text().replace("[felt]", f"{COMMENT}\n[felt]", 1)
    path.write_text(text.replace("wheel = ", "# as posted\nwheel = ", 1))
    return path


def app_with(*files: Path, **settings: Any) -> FastAPI:
    app = create_app(WebSettings(person="ann", **settings))
    app.state.table_shelf = TableShelf(files=files)
    return app


@contextmanager
def asking_of(*files: Path) -> Iterator[TestClient]:
    """A client of the application over these table files."""
    with TestClient(
        app_with(*files), base_url="http://127.0.0.1:8471", headers={"x-feltwatch": "1"},
        raise_server_exceptions=False,
    ) as asking:  # fmt: skip
        yield asking


def file_of(client: TestClient) -> dict[str, Any]:
    """The one table file, as pages begin with it."""
    (line,) = client.get("/api/tablefiles").json()
    told: dict[str, Any] = client.get(f"/api/tablefiles/{line['id']}").json()
    return told


def sent(client: TestClient, frame: np.ndarray) -> str:
    """Send an image of a table; gives its id."""
    done, data = cv2.imencode(".png", frame)
    assert done
    answer = client.post("/api/calibration/pictures", content=data.tobytes())
    assert answer.status_code == 201
    return str(answer.json()["id"])


class Watched:
    """A page whose complaints and foreign requests are noted."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        page.set_default_timeout(60_000)
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request.url))

    def _said(self, kind: str, text: str) -> None:
        # Chromium itself reports answers such as 409, which pages deal with.
        if "Failed to load resource" not in text:
            self.complaints.append(f"{kind}: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "about:")):
            self.foreign.append(url)

    def assert_calm(self) -> None:
        assert self.complaints == []
        assert self.foreign == []

    def until(self, script: str) -> None:
        # As a function: a plain expression would be evaluated in the page, which its CSP forbids.
        self.page.wait_for_function(f"() => Boolean({script})")
