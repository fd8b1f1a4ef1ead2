"""Showing where a table's dice lie in a real browser, on the server of `feltwatch calibrate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.surveillance.laid_dice import laid_dice
from tests.surveillance.web.laid_browser import laid_page, window_point
from tests.surveillance.web.tools_made import Watched
from vision.geometry.table import load_table


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    """The page of the dice, with an image of three laid open."""
    laid = laid_dice()
    with laid_page(browser, laid.write(tmp_path), laid.frame, "Show the dice") as watched:
        yield watched


def test_the_dice_are_shown_read_saved_and_forgotten(page: Watched, tmp_path: Path) -> None:
    path, web, laid = tmp_path / "table.toml", page.page, laid_dice()
    assert web.inner_text("#dice-state") == "no dice yet"
    assert web.is_disabled("#forget")

    # Where cards lie: a plain message, and nothing is changed.
    web.mouse.click(*window_point(page, laid.pixel_of(laid.table.seats[2].high.center_mm)))
    web.wait_for_selector("#refused:not([hidden])")
    assert "where no cards and chips lie" in web.inner_text("#refused")
    assert web.is_disabled("#save")

    for name, value in laid.sizes.items():
        web.fill(f"#{name}", f"{value:g}")
    web.mouse.click(*window_point(page, laid.middle_px))
    web.wait_for_selector("#seen:not([hidden])")
    assert web.is_hidden("#refused")
    assert web.inner_text("#dice-state") == "read here"
    assert web.inner_text("#total") == str(sum(laid.values))
    assert web.locator(".outline.laid").count() == 1 + len(laid.values)
    assert web.inner_text("#order").startswith("1 dealer, 2 seat 1")
    web.select_option("#counted_from", "banker")
    page.until("document.querySelector('#order').textContent.includes('who banks is 1')")

    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    dice = load_table(path).dice
    assert dice is not None
    assert (dice.die_mm, dice.counted_from) == (laid.place.die_mm, "banker")
    web.reload()
    web.wait_for_selector("#seen:not([hidden])")
    assert web.input_value("#die_mm") == f"{laid.place.die_mm:g}"
    assert web.inner_text("#total") == str(sum(laid.values))
    # Another number of dice is looked for at once.
    web.fill("#count", "4")
    web.keyboard.press("Tab")
    page.until("document.querySelector('#dice-state').textContent === 'not read here'")
    assert "not 4" in web.inner_text("#why")
    web.click("#undo")
    page.until("document.querySelector('#dice-state').textContent === 'read here'")
    assert web.input_value("#count") == "3"

    web.click("#forget")
    page.until("document.querySelector('#dice-state').textContent === 'no dice yet'")
    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    assert load_table(path).dice is None
    assert web.evaluate("document.documentElement.scrollWidth") <= 1366
