"""Recordings in a real browser: an audit is watched, stopped, gone on with, and played."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from recordings_made import manager_of
from review_browser import launched
from tools_made import Watched, served

from surveillance.store import Store
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, tmp_path: Path, video: Path, table_path: Path) -> Iterator[Watched]:
    folder = tmp_path / "recordings"
    folder.mkdir()
    shutil.copy(video, folder / "night.mp4")
    shutil.copy(table_path, folder / "table.toml")
    with (
        Store.open(f"sqlite:///{tmp_path / 'w.sqlite'}") as store,
        manager_of(store, folder, tmp_path / "data") as manager,
    ):
        app = create_app(WebSettings(store=store, recordings=manager))
        user = store.people.add("rae", "reviewer", None)
        secret = app.state.accounts.sessions.open(user, "127.0.0.1", "test").secret
        with served(app) as address:
            context = browser.new_context(viewport={"width": 1366, "height": 768})
            context.add_cookies([{"name": "feltwatch_session", "value": secret, "url": address}])
            watched = Watched(context.new_page(), address)
            yield watched
            context.close()
            watched.assert_calm()


def test_an_audit_is_started_stopped_gone_on_with_and_played(page: Watched) -> None:
    web = page.page
    web.goto(f"{page.address}/recordings")
    web.wait_for_selector("[data-video='night.mp4']")
    web.click("[data-video='night.mp4'] button")
    web.wait_for_selector("#audits tr[data-state=running]")
    page.until("Number(document.querySelector('#audits progress')?.value) > 0.5")
    web.click("#audits button:has-text('Stop')")
    web.wait_for_selector("#audits tr[data-state=stopped]")
    assert "goes on from" in web.inner_text("#audits .message")
    web.click("#audits button:has-text('Go on')")
    web.wait_for_selector("#audits tr[data-state=running]")
    web.click("#audits a")
    web.wait_for_selector("#state .badge[data-state=done]")
    page.until("document.querySelectorAll('.timeline .round').length === 5")
    assert web.locator(".timeline .mark").count() > 0

    # The video plays from a round that is clicked, and from an alert by keyboard.
    web.wait_for_selector("body[data-video=original]")
    starts = web.evaluate(
        "fetch(location.pathname.replace('/recordings', '/api/recordings') + '/timeline')"
        ".then(a => a.json()).then(t => t.rounds.map(r => r.start_s))"
    )
    # These rounds overlap; the left end of each is its own.
    web.click("[data-round='3']", position={"x": 4, "y": 20})
    page.until(f"document.querySelector('video')?.currentTime >= {min(starts[3], 3.9) - 0.2}")
    page.until("document.querySelector('video')?.readyState >= 2")
    web.evaluate("document.querySelector('video').pause()")
    web.focus("#timeline")
    web.keyboard.press("0")
    first = web.get_attribute("#alerts button", "data-alert")
    web.click("[data-alert='0']")
    page.until("document.querySelector('#alerts button')?.ariaCurrent === 'true'")
    web.evaluate("document.querySelector('video').pause()")
    web.evaluate("document.activeElement.blur()")
    web.keyboard.press("j")
    page.until("document.querySelectorAll('#alerts button')[1]?.ariaCurrent === 'true'")
    web.keyboard.press("k")
    page.until("document.querySelector('#alerts button')?.ariaCurrent === 'true'")
    assert first == web.get_attribute("#alerts button[aria-current=true]", "data-alert")
    web.evaluate("document.querySelector('video').pause()")
    at = web.evaluate("document.querySelector('video').currentTime")
    web.keyboard.press("ArrowLeft")
    page.until(f"document.querySelector('video')?.currentTime <= {max(at - 0.01, 0)}")
    for width, height in ((1366, 768), (3840, 2160)):
        web.set_viewport_size({"width": width, "height": height})
        assert web.evaluate("document.documentElement.scrollWidth") <= width


def test_a_folder_outside_is_told_at_its_field(page: Watched) -> None:
    web = page.page
    web.goto(f"{page.address}/recordings")
    web.wait_for_selector("[data-video]")
    web.fill("#folder", "/etc")
    web.press("#folder", "Enter")
    web.wait_for_selector("#folder-error:not([hidden])")
    assert "outside the folders of recordings" in web.inner_text("#folder-error")
    assert web.locator("[data-video]").count() == 0
