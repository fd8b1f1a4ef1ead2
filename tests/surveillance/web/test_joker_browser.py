"""Sampling a table's joker in a real browser, on the server that `feltwatch calibrate` starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.surveillance.laid_tables import JOKER_MM, laid_deck, laid_joker, laid_table, pixel_of
from tests.surveillance.web.laid_browser import laid_page, window_point
from tests.surveillance.web.tools_made import COMMENT, Watched
from vision.cards.joker_match import table_joker
from vision.cards.table_deck import table_deck
from vision.geometry.table import load_table


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    """The page of the joker, with an image of it laid out."""
    path = laid_table(tmp_path)
    with laid_page(browser, path, laid_joker().frame, "Sample the cards") as watched:
        yield watched


def test_the_joker_is_sampled_looked_at_saved_and_forgotten(page: Watched, tmp_path: Path) -> None:
    path, web = tmp_path / "t1.toml", page.page
    assert web.inner_text("#joker-state") == "no sample yet"
    assert web.is_disabled("#forget")

    # Beside the card: told in plain words, and nothing is changed.
    web.mouse.click(*window_point(page, [40.0, 40.0]))
    web.wait_for_selector("#refused:not([hidden])")
    assert "no card lies there alone" in web.inner_text("#refused")
    assert web.is_disabled("#save")

    web.mouse.click(*window_point(page, pixel_of(JOKER_MM)))
    web.wait_for_selector("#sample canvas.card")
    assert web.is_hidden("#refused")
    assert web.inner_text("#joker-state") == "sampled now"
    assert "both ends show a mark" in web.inner_text("#taken")
    assert web.locator("#sample .marks canvas").count() == 2
    assert web.locator(".outline.laid").count() == 1
    # What is shown is the card: paper, mostly.
    light = """() => {
        const card = document.querySelector('#sample canvas.card');
        const px = card.getContext('2d').getImageData(0, 0, card.width, card.height).data;
        return px.filter((v, n) => n % 4 < 3 && v > 150).length / (0.75 * px.length);
    }"""
    assert web.evaluate(light) > 0.5

    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    assert len(table_joker(load_table(path))) == 2
    assert COMMENT in path.read_text()
    web.reload()
    web.wait_for_selector("#sample .marks canvas")
    assert web.inner_text("#joker-state") == "sampled before"

    web.click("#forget")
    page.until("document.querySelector('#joker-state').textContent === 'no sample yet'")
    web.keyboard.press("Control+z")
    web.wait_for_selector("#sample .marks canvas")
    web.click("#forget")
    web.keyboard.press("Control+s")
    page.until("document.body.dataset.state === 'ok'")
    assert table_joker(load_table(path)) == ()
    assert web.evaluate("document.documentElement.scrollWidth") <= 1366


def test_the_deck_is_sampled_named_over_the_image_saved_and_forgotten(
    browser: Browser, tmp_path: Path
) -> None:
    path = laid_table(tmp_path)
    with laid_page(browser, path, laid_deck().frame, "Sample the cards") as watched:
        web = watched.page
        assert web.inner_text("#deck-state") == "no samples yet"
        web.fill("#deck-rows", "KS-AS AH-KH AD-KD AC-KC")
        web.click("#take-deck")
        web.wait_for_selector("#refused:not([hidden])")
        assert "they read as AS-KS AH-KH AD-KD AC-KC" in web.inner_text("#refused")
        web.fill("#deck-rows", "AS-KS AH-KH AD-KD AC-KC")
        web.click("#take-deck")
        web.wait_for_selector(".outline.laid")
        assert web.inner_text("#deck-state") == "sampled now"
        assert "53 of 53 cards" in web.inner_text("#deck-taken")
        assert web.locator(".outline.laid").count() == 53
        assert web.is_hidden("#refused")
        web.keyboard.press("Control+s")
        watched.until("document.body.dataset.state === 'ok'")
        assert table_deck(load_table(path)) is not None
        web.reload()
        watched.until("document.querySelector('#deck-state').textContent === 'sampled before'")
        web.click("#forget-deck")
        web.keyboard.press("Control+s")
        watched.until("document.body.dataset.state === 'ok'")
        assert table_deck(load_table(path)) is None


def test_an_image_without_a_spread_deck_is_refused_in_plain_words(page: Watched) -> None:
    page.page.keyboard.press("d")
    page.page.wait_for_selector("#refused:not([hidden])")
    assert "lay the deck face up in four rows of thirteen" in page.page.inner_text("#refused")
    assert page.page.inner_text("#deck-state") == "no samples yet"
