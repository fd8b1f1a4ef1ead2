"""Sampling a table's chips in a real browser, on the server that `feltwatch calibrate` starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.surveillance.laid_tables import laid_table
from tests.surveillance.web.chips_made import NAMES, laid_out, on_stack
from tests.surveillance.web.laid_browser import laid_page, window_point
from tests.surveillance.web.tools_made import COMMENT, Watched
from vision.geometry.table import load_table


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    """The page of the chips, with an image of the laid-out stacks."""
    path = laid_table(tmp_path, NAMES)
    with laid_page(browser, path, laid_out().frame, "Sample the chips") as watched:
        watched.page.wait_for_selector(".chip-row")
        yield watched


def sampled(page: Watched, name: str) -> None:
    page.page.wait_for_selector(f"[data-chip={name}] .badge:not([data-state=warn])")
    page.until("document.body.dataset.sampling === 'false'")


def test_chips_are_sampled_by_mouse_and_keys_and_saved(page: Watched, tmp_path: Path) -> None:
    path = tmp_path / "t1.toml"
    chips = page.page.locator(".chip-row")
    order = [str(chips.nth(n).get_attribute("data-chip")) for n in range(chips.count())]
    assert order[:2] == ["white", "red"]

    # By mouse: the chip is chosen by its number, then its stack is clicked on.
    page.page.keyboard.press(str(order.index("red") + 1))
    page.page.mouse.click(*window_point(page, on_stack(0)))
    sampled(page, "red")
    assert "6 of 6 chips counted, reads as $30" in page.page.inner_text("#taken")
    assert page.page.locator(".outline.stack").count() == 1
    face = "document.querySelector('[data-chip=red] .chip-face.is-sampled')"
    page.until(f"{face}?.dataset.drawn === '48'")

    # By keyboard: the cross is moved on to the next stack.
    page.page.keyboard.press(str(order.index("green") + 1))
    page.page.focus("#stage")
    (x0, _), (x1, _) = window_point(page, on_stack(0)), window_point(page, on_stack(1))
    (_, y0), (_, y1) = window_point(page, on_stack(0)), window_point(page, on_stack(1))
    for name, by in (("ArrowRight", x1 - x0), ("ArrowDown", y1 - y0)):
        turned = {"ArrowRight": "ArrowLeft", "ArrowDown": "ArrowUp"}[name] if by < 0 else name
        for _ in range(round(abs(by) / 4)):
            page.page.keyboard.press(turned)
    page.page.keyboard.press("Enter")
    sampled(page, "green")
    assert "reads as $150" in page.page.inner_text("#taken")

    # What cannot be sampled is told, and changes nothing.
    page.page.mouse.click(*window_point(page, [40.0, 40.0]))
    page.page.wait_for_selector("#refused:not([hidden])")
    assert "no stack was found there" in page.page.inner_text("#refused")

    # The green stack again, as purple: two chips that look alike; then undone.
    page.page.keyboard.press(str(order.index("purple") + 1))
    page.page.mouse.click(*window_point(page, on_stack(1)))
    page.page.wait_for_selector("[data-chip=purple] .chip-warning")
    assert "green and purple look alike" in page.page.inner_text("[data-chip=green]")
    page.page.keyboard.press("Control+z")
    page.until("!document.querySelector('[data-chip=purple] .chip-warning')")
    page.until("!document.querySelector('[data-chip=green] .chip-warning')")

    page.page.wait_for_selector("body[data-state=warn]")
    page.page.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    own = load_table(path)
    have = {name for name, kind in own.chips.items() if kind.sampled() is not None}
    assert have == set(NAMES[:2])
    assert own.chips["red"].rgb[0] > 1.5 * own.chips["red"].rgb[1]
    assert COMMENT in path.read_text()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 1366
