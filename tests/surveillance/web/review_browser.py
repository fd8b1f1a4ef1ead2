"""A real Chromium at the review page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from datasets.labelled.manifest import Box, Dataset
from tests.waiting import WITHIN_S

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """Where Chromium lies; without one the test fails in CI and is skipped elsewhere."""
    found = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    if found is None:
        words = "no Chromium here: install it (apt-get install chromium)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(words)
        pytest.skip(words)
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    """The browser that this system has; none is downloaded."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Reviewer:
    """One person with a browser of their own, and what it complained about."""

    context: BrowserContext
    address: str
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open the page."""
        self.context.on("request", self._asked)
        self.page = self.new_page()

    def _asked(self, request: object) -> None:
        url: str = request.url  # type: ignore[attr-defined]
        if not url.startswith((self.address, "data:", "about:")):
            self.foreign.append(url)

    def new_page(self) -> Page:
        """A page of this browser that notes every complaint."""
        page = self.context.new_page()
        page.set_default_timeout(WITHIN_S * 1000)
        page.on("console", lambda m: self.complaints.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        return page

    def open(self, picture: int | None = 1, query: str = "") -> None:
        """Go to an image, or where the page itself begins."""
        asked = "" if picture is None else f"picture={picture}"
        self.page.goto(f"{self.address}datasets/cards/review?{asked}{query}")
        self.ready()

    def ready(self) -> None:
        """Wait until the page takes keys."""
        self.page.wait_for_selector("body[data-ready=true]")

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type letters."""
        self.page.keyboard.type(text)

    def saved(self) -> None:
        """Wait until the page says that all is saved."""
        self.page.wait_for_selector("#saved.good")

    def at(self, picture: int) -> None:
        """Wait until an image is shown."""
        self.page.wait_for_function(
            "id => new URLSearchParams(location.search).get('picture') === String(id)", arg=picture
        )

    def labels(self) -> list[str]:
        """The labels of the boxes drawn."""
        found: list[str] = self.page.eval_on_selector_all(
            "#canvas .box", "nodes => nodes.map(node => node.dataset.label)"
        )
        return sorted(found)

    def edges(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of what is drawn, in the window.

        Found and measured in one step of the page: what is drawn anew between the two has no size.
        """
        left, top, width, height = self.page.evaluate(
            """selector => {
                const r = document.querySelector(selector).getBoundingClientRect();
                return [r.x, r.y, r.width, r.height];
            }""",
            selector,
        )
        assert width > 0, f"{selector} is not shown"
        return left, top, width, height

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where a px of the image stands in the window."""
        left, top, width, _ = self.edges("#canvas image")
        scale = width / 640
        return left + x * scale, top + y * scale

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press at one px of the image, let go at another."""
        mouse = self.page.mouse
        mouse.move(*self.point(*start))
        mouse.down()
        mouse.move(*self.point((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
        mouse.move(*self.point(*end))
        mouse.up()


def stored(folder: Path, picture: int = 1) -> tuple[Box, ...]:
    """The boxes on disk."""
    with Dataset.open(folder) as dataset:
        return dataset.boxes(picture)


def stored_labels(folder: Path, picture: int = 1) -> list[str]:
    """The labels on disk, sorted."""
    return sorted(box.label for box in stored(folder, picture))
