"""The alerts of a long report come by the page, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from surveillance.alerts.model import Alert
from surveillance.store import NewAlert
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.services.reports.shift_report import ON_A_PAGE
from tests.surveillance.web.review_browser import launched
from tests.surveillance.web.room_made import CAMERA, TABLE, MadeRoom, Running, made_room
from tests.waiting import WITHIN_S
from vision.geometry.table import TableFile

UPHELD = 2 * ON_A_PAGE + 7
DAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
LINES = "#report .stood li"


@pytest.fixture
def room(tmp_path: Path, table: TableFile) -> Iterator[MadeRoom]:
    with made_room(tmp_path, table) as room:
        for number in range(UPHELD):
            row = room.store.alerts.add(
                NewAlert(
                    alert=Alert(
                        alert_id=f"t1-{number:06d}-00", code="OVERPAID", severity="high",
                        message=f"seat 3 was paid too much, no. {number}", seat=3, wager="main",
                    ),
                    table=TABLE, camera=CAMERA, source="made", at=DAY + timedelta(seconds=number),
                )
            )  # fmt: skip
            room.store.alerts.judge(row.id, "confirmed", "", "ann")
        yield room


@pytest.fixture
def page(room: MadeRoom) -> Iterator[Page]:
    server = Running(room)
    with launched() as browser:
        context = browser.new_context(timezone_id="UTC")
        cookie = {"name": SESSION_COOKIE, "value": room.session("ann"), "url": server.address}
        context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        page.set_default_timeout(WITHIN_S * 1000)
        heard: list[str] = []
        page.on("console", lambda m: heard.append(m.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.goto(f"{server.address}reports?day=2026-03-02&shift=day")
        page.wait_for_selector("body[data-loaded=true]")
        yield page
        context.close()
        # Chromium itself reports the answer that the test has refused.
        assert [words for words in heard if "503" not in words] == []
    server.stop()


def count_shown(page: Page) -> str:
    return page.locator("#report .stood ~ p [role=status]").inner_text()


def numbers(page: Page) -> list[int]:
    titles = page.locator(f"{LINES} .title").all_inner_texts()
    return [int(title.rsplit(" ", 1)[1]) for title in titles]


def test_more_alerts_are_shown_until_all_are(page: Page) -> None:
    assert page.locator(LINES).count() == ON_A_PAGE
    assert count_shown(page).startswith(f"{ON_A_PAGE} of {UPHELD}, newest first")
    more = page.get_by_role("button", name="Show more")
    more.focus()
    page.keyboard.press("Enter")
    expect(page.locator(LINES)).to_have_count(2 * ON_A_PAGE)
    # Whoever reads by keyboard stands on the first of the new ones.
    first = f"document.querySelectorAll('{LINES}')[{ON_A_PAGE}].querySelector('a')"
    assert page.evaluate(f"document.activeElement === {first}")
    more.click()
    expect(page.locator(LINES)).to_have_count(UPHELD)
    assert numbers(page) == list(reversed(range(UPHELD)))
    assert count_shown(page).startswith(f"{UPHELD} of {UPHELD}")
    assert more.is_hidden()


def test_what_cannot_be_fetched_may_be_asked_for_again(page: Page) -> None:
    page.route("**/api/report/alerts*", lambda route: route.fulfill(status=503, json={}))
    more = page.get_by_role("button", name="Show more")
    more.click()
    page.wait_for_selector(".toast[data-kind=bad]")
    expect(more).to_be_enabled()
    assert page.locator(LINES).count() == ON_A_PAGE
    page.unroute("**/api/report/alerts*")
    more.click()
    expect(page.locator(LINES)).to_have_count(2 * ON_A_PAGE)


def test_another_day_begins_at_its_own_first_page(page: Page) -> None:
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(LINES)).to_have_count(2 * ON_A_PAGE)
    page.keyboard.press("Escape")
    page.locator("#later").click()
    expect(page.locator(LINES)).to_have_count(0)
    page.locator("#earlier").click()
    expect(page.locator(LINES)).to_have_count(ON_A_PAGE)
