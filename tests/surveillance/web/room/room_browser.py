"""What tests of the room's pages do in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from playwright.sync_api import Page, Route

from surveillance.live.entries import RoundEntry
from tests.surveillance.live.record_made import round_entry
from tests.surveillance.web.room_made import CAMERA
from tests.waiting import until

Visit = Callable[..., Page]


def listens(page: Page) -> Page:
    """Wait until the page receives events: those sent before reach nobody."""
    page.wait_for_selector("body[data-connection=open]")
    return page


def queue(visit: Visit, path: str = "/alerts", **how: object) -> Page:
    page = listens(visit(path, **how))
    page.wait_for_selector("body[data-queue=ready]")
    page.wait_for_selector("#detail[data-alert]")
    return page


def shown(page: Page) -> int:
    return int(page.get_attribute("#detail", "data-alert") or 0)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at(page: Page, alert: int) -> None:
    page.wait_for_selector(f"#detail[data-alert='{alert}']")


def numbers(page: Page) -> list[int]:
    found: list[int] = page.eval_on_selector_all(
        "#list li", "items => items.map(item => Number(item.dataset.id))"
    )
    return found


@contextmanager
def held(page: Page, path: str) -> Iterator[None]:
    """As on a slow net: what is asked for there is sent on at the end only."""
    waiting: list[Route] = []
    page.route(path, lambda route: waiting.append(route))
    yield
    until(lambda: page.evaluate("true") and bool(waiting), f"{path} is asked for")
    for route in waiting:
        route.continue_()
    page.unroute(path)


def clock(page: Page, at: datetime) -> str:
    """A time of today as the pages show it."""
    words: str = page.evaluate(
        """at => new Intl.DateTimeFormat(undefined, {
            hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
        }).format(new Date(at))""",
        at.isoformat(),
    )
    return words


def decided(number: int) -> RoundEntry:
    """A round after those of the room, as its camera decides it; two of three have an alert."""
    entry = round_entry(60 + number)
    return entry.model_copy(update={"facts": replace(entry.facts, camera=CAMERA)})
