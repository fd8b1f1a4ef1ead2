"""Sampling the banker's marker in a real browser, on the server of `feltwatch calibrate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.surveillance.laid_marker import CUP, laid_marker
from tests.surveillance.web.laid_browser import laid_page, window_point
from tests.surveillance.web.tools_made import Watched
from vision.geometry.table import load_table


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    """The page of the marker, with an image of a cup laid before a seat."""
    laid = laid_marker(CUP)
    with laid_page(browser, laid.write(tmp_path), laid.frame, "Sample the banker") as watched:
        yield watched


def test_the_marker_is_sampled_looked_at_saved_and_forgotten(page: Watched, tmp_path: Path) -> None:
    path, web, laid = tmp_path / "table.toml", page.page, laid_marker(CUP)
    assert web.inner_text("#marker-state") == "no sample yet"
    assert web.is_disabled("#forget")
    # Each place where it may lie is drawn with its name.
    web.wait_for_selector(".outline.place")
    assert web.locator(".outline.place").count() == len(laid.table.seats) + 1
    assert "house" in web.locator(".outline-name").all_text_contents()[-1]

    # Of another size: told in plain words, and nothing is changed.
    web.fill("#diameter", "119")
    web.fill("#height", "1")
    web.mouse.click(*window_point(page, laid.face_px))
    web.wait_for_selector("#refused:not([hidden])")
    assert "no marker of that diameter and height" in web.inner_text("#refused")
    assert web.is_disabled("#save")

    web.fill("#diameter", f"{laid.diameter_mm:.1f}")
    web.fill("#height", f"{laid.height_mm:.1f}")
    web.mouse.click(*window_point(page, laid.face_px))
    web.wait_for_selector("#sample canvas")
    assert web.is_hidden("#refused")
    assert web.inner_text("#marker-state") == "sampled now"
    assert f"Sampled at seat {laid.seat}" in web.inner_text("#taken")
    assert web.locator(".outline.laid").count() == 1

    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    marker = load_table(path).banker_marker
    assert marker is not None
    assert marker.height_mm == pytest.approx(laid.height_mm, abs=0.06)
    web.reload()
    web.wait_for_selector("#sample canvas")
    assert web.inner_text("#marker-state") == "sampled before"
    assert web.input_value("#height") == f"{laid.height_mm:.1f}"

    web.click("#forget")
    page.until("document.querySelector('#marker-state').textContent === 'no sample yet'")
    web.keyboard.press("Control+z")
    web.wait_for_selector("#sample canvas")
    web.click("#forget")
    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    assert load_table(path).banker_marker is None
    assert web.evaluate("document.documentElement.scrollWidth") <= 1366
