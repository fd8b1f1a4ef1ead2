"""The reports page asks for the days and shifts that the site file names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from surveillance.config.site_file import SiteConfig, SitePart
from surveillance.web.access import SESSION_COOKIE
from tests.surveillance.web.review_browser import launched
from tests.surveillance.web.room_made import MadeRoom, Running, asking, made_room
from tests.waiting import WITHIN_S
from vision.geometry.table import TableFile

SHIFTS = ("22:30", "06:15", "14:00")


@pytest.fixture
def room(tmp_path: Path, table: TableFile) -> Iterator[MadeRoom]:
    with made_room(tmp_path, table) as room:
        site = SiteConfig(site=SitePart(shifts=SHIFTS, day_starts="06:15"))
        room.app.state.settings = replace(room.app.state.settings, site=site)
        yield room


@pytest.fixture
def page(room: MadeRoom) -> Iterator[Page]:
    server = Running(room)
    address = f"http://127.0.0.1:{server.port}/"
    with launched() as browser:
        context = browser.new_context(timezone_id="Europe/Rome")
        cookie = {"name": SESSION_COOKIE, "value": room.session("ann"), "url": address}
        context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        page.set_default_timeout(WITHIN_S * 1000)
        page.goto(f"{address}reports?day=2026-03-02")
        page.wait_for_selector("#report .stats")
        yield page
        context.close()
    server.stop()


def asked(page: Page, shift: str) -> tuple[str, str]:
    """What the page asks for when a shift is chosen, since and until."""
    page.select_option("select[name=shift]", shift)
    page.wait_for_url(f"**shift={shift.replace(':', '*')}*")
    query = parse_qs(urlsplit(page.get_attribute("#pdf", "href") or "").query)
    return query["since"][0], query["until"][0]


def test_days_and_shifts_are_those_of_the_site(page: Page) -> None:
    options = page.locator("select[name=shift] option").all_inner_texts()
    assert options == [
        "whole day", "shift 06:15 to 14:00", "shift 14:00 to 22:30", "shift 22:30 to 06:15",
        "from … to …",
    ]  # fmt: skip
    # Rome is an hour ahead in March; the last shift of a day ends on the next date.
    assert asked(page, "06:15-14:00") == ("2026-03-02T05:15:00.000Z", "2026-03-02T13:00:00.000Z")
    assert asked(page, "22:30-06:15") == ("2026-03-02T21:30:00.000Z", "2026-03-03T05:15:00.000Z")
    assert asked(page, "day") == ("2026-03-02T05:15:00.000Z", "2026-03-03T05:15:00.000Z")


def test_without_a_site_file_the_usual_shifts_are_offered(tmp_path: Path, table: TableFile) -> None:
    with made_room(tmp_path, table) as room, asking(room, "ann") as ann:
        text = ann.get("/reports").text
    assert '"shifts": ["06:00", "14:00", "22:00"]' in text
    assert '"day_starts": "06:00"' in text
