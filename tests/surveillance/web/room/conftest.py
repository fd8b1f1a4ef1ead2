"""Pages of the room in a browser, opened as one of its people."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from surveillance.web.access import SESSION_COOKIE
from tests.surveillance.web.room.room_browser import Visit
from tests.surveillance.web.room_made import MadeRoom, Running
from tests.waiting import WITHIN_S


@pytest.fixture
def server(room: MadeRoom) -> Iterator[Running]:
    server = Running(room)
    yield server
    server.stop()


@pytest.fixture
def complaints() -> list[str]:
    """What a test expects the browsers to say; all else fails it."""
    return []


@pytest.fixture
def visit(
    browser: Browser, room: MadeRoom, server: Running, complaints: list[str]
) -> Iterator[Visit]:
    """Open a page as somebody; at the end nothing was complained of, nothing foreign asked for."""
    contexts = []
    heard: list[str] = []
    foreign: list[str] = []

    def visit(
        path: str, name: str = "ann", width: int = 1366, height: int = 768, port: int = 0
    ) -> Page:
        address = f"http://127.0.0.1:{port or server.port}/"
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        cookie = {"name": SESSION_COOKIE, "value": room.session(name), "url": address}
        context.add_cookies([cookie])  # type: ignore[list-item]
        context.on(
            "request",
            lambda r: (
                None if r.url.startswith((address, "data:", "blob:")) else foreign.append(r.url)
            ),
        )
        page = context.new_page()
        page.set_default_timeout(WITHIN_S * 1000)
        page.on("console", lambda m: heard.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.goto(f"{address}{path.lstrip('/')}")
        page.wait_for_selector("body[data-ready=true]")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert foreign == []
    assert [words for words in heard if not any(known in words for known in complaints)] == []
