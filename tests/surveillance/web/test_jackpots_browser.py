"""Showing jackpot displays and lamps in a real browser, on the server of `feltwatch calibrate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.surveillance.laid_jackpots import SHOWN, TREASURE, laid_jackpots
from tests.surveillance.web.laid_browser import laid_page, window_point
from tests.surveillance.web.tools_made import Watched
from vision.geometry.table import load_table

LAID_PX = 1920


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    """The page of the jackpots, with an image of two displays and a lit sensor."""
    laid = laid_jackpots(LAID_PX)
    with laid_page(browser, laid.write(tmp_path), laid.frame, "Show the jackpots") as watched:
        yield watched


def click(page: Watched, at_px: list[float]) -> None:
    page.page.mouse.click(*window_point(page, at_px))
    page.until("document.body.dataset.sampling !== 'true'")


def test_a_display_and_a_lamp_are_shown_read_saved_and_forgotten(
    page: Watched, tmp_path: Path
) -> None:
    path, web, laid = tmp_path / "table.toml", page.page, laid_jackpots(LAID_PX)
    corners = laid.corners_of(TREASURE)
    assert web.inner_text("#next") == "Choose a display, or add one."
    web.select_option("#new-wager", TREASURE)
    web.click("#add")

    # Corners in another order: said in plain words, and nothing is changed.
    for at in (corners[0], corners[3], corners[2], corners[1]):
        click(page, at)
    web.wait_for_selector("#refused:not([hidden])")
    assert "top left, top right, bottom right, bottom left" in web.inner_text("#refused")
    assert web.is_disabled("#save")

    # By the buttons, and the keys: the two that were wrong are set again.
    web.click("text=2 top right")
    click(page, corners[1])
    web.focus("#stage")
    web.keyboard.press("4")
    click(page, corners[3])
    web.wait_for_selector("#displays .digits")
    assert web.is_hidden("#refused")
    assert web.inner_text("#displays .digits") == f"[{SHOWN[TREASURE][0]}]"
    assert "$10,074.47" in web.inner_text("#displays")
    assert web.locator(".outline.found").count() == 1
    # A click beside it changes nothing once all corners are set.
    before = web.inner_text("#displays")
    click(page, [900.0, 700.0])
    assert web.inner_text("#displays") == before

    # Too few digits are warned of, and undone.
    web.fill("[name='digits 0']", "3")
    web.keyboard.press("Tab")
    web.wait_for_selector("#displays .warnings")
    assert "it has not 3 digits" in web.inner_text("#displays .warnings")
    web.focus("#stage")
    web.keyboard.press("Control+z")
    page.until("!document.querySelector('#displays .warnings')")

    web.click("#point-lamp")
    click(page, laid.lamp_px(laid.lit))
    page.until("document.querySelectorAll('#sensors .is-lit').length === 1")
    assert web.inner_text("#lamp-state") == "14 mm"

    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    saved = load_table(path)
    assert [(one.wager, one.digits) for one in saved.displays] == [(TREASURE, 7)]
    assert saved.sensor_lamp is not None
    web.reload()
    web.wait_for_selector("#displays .digits")
    web.click("#displays >> text=Remove")
    web.click("#forget-lamp")
    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    left = load_table(path)
    assert (left.displays, left.sensor_lamp) == ((), None)
    assert web.evaluate("document.documentElement.scrollWidth") <= 1366
