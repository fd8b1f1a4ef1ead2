"""The calculator in a real browser: by keyboard and by mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from benchmarks.room.served import served
from tests.surveillance.web.tools_made import Watched, app_with, table_copy


@pytest.fixture
def calculator(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    with served(app_with(table_copy(tmp_path))) as address:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        watched = Watched(page, address)
        page.goto(f"{address}/calculator")
        watched.until("document.body.dataset.settled === 'true'")
        yield watched
        page.close()
        watched.assert_calm()


def cards(calculator: Watched, hand: str, box: int) -> list[str]:
    found: list[str] = calculator.page.eval_on_selector_all(
        f"[data-hand='{hand}'] .box >> nth={box}",
        "boxes => boxes.flatMap(b => [...b.querySelectorAll('.pcard')].map(c => c.dataset.card))",
    )
    return found


def lay(calculator: Watched, text: str) -> None:
    for card in text.split():
        calculator.page.keyboard.type(card)


def settled(calculator: Watched, holds: str) -> None:
    calculator.until(f"document.body.dataset.settled === 'true' && ({holds})")


def pressed_by(hand: str, words: str) -> str:
    return (
        f"[...document.querySelectorAll('[data-hand=\"{hand}\"] [aria-pressed=true]')]"
        f".some(b => b.textContent === '{words}')"
    )


def text_of(calculator: Watched, selector: str) -> str:
    return calculator.page.inner_text(selector)


def test_a_round_is_settled_by_keyboard_alone(calculator: Watched) -> None:
    page = calculator.page
    lay(calculator, "ks qd 9h 9c 7s 5d 2c")
    # The dealer's hand is complete: the next cards are the seat's.
    lay(calculator, "as ad ah kd jc 8d x")
    settled(calculator, "document.querySelectorAll('[data-hand] .way').length === 2")
    assert cards(calculator, "dealer", 0) == ["KS", "QD"]
    assert "004 House Way, One Pair" in text_of(calculator, "[data-hand=dealer] .way")
    assert cards(calculator, "1", 0) == ["AD", "AH"]
    page.focus("[data-focus='1.main']")
    page.keyboard.type("25")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("5")
    settled(
        calculator,
        "document.querySelector('[data-wager=emperors_treasure] .pay')?.innerText.includes('125')",
    )
    assert "win" in text_of(calculator, "[data-wager=main]")
    assert "$25" in text_of(calculator, "[data-wager=main] .pay")
    assert "PT-FLT-EC-ET-02, Four-of-a-Kind" in text_of(
        calculator, "[data-wager=emperors_treasure]"
    )
    assert page.evaluate("document.activeElement.value") == "5"
    # Seen on the felt otherwise: set by hand.
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("w")
    settled(calculator, "document.querySelector('[data-hand=\"1\"] .box-name')")
    page.click("[data-hand='1'] [data-card=AH]")
    settled(calculator, "true")
    page.click("[data-hand='1'] [data-card=KD]")
    page.keyboard.press(".")
    lay(calculator, "kd ah")
    settled(
        calculator,
        "document.querySelector('[data-hand=\"1\"] .way')?.innerText.includes('otherwise')",
    )


def test_a_card_twice_is_said_at_once(calculator: Watched) -> None:
    lay(calculator, "ks qd")
    calculator.page.keyboard.press("]")
    lay(calculator, "ks")
    assert "king of spades is there already: dealer" in text_of(calculator, "#warning")
    calculator.page.click("#pack [data-card=QD]", force=True)  # the page says that it is taken
    assert "queen of diamonds is there already: dealer" in text_of(calculator, "#warning")
    settled(calculator, "true")
    assert cards(calculator, "1", 0) == []
    calculator.page.keyboard.press("[")
    calculator.page.keyboard.press("Backspace")
    settled(calculator, "true")
    assert cards(calculator, "dealer", 0) == ["KS"]
    calculator.page.keyboard.type("kz")
    assert "KZ is no card" in text_of(calculator, "#warning")


def test_cards_are_clicked_and_taken_back(calculator: Watched) -> None:
    for card in ("KS", "QD", "9H", "9C", "7S", "5D", "2C"):
        calculator.page.click(f"#pack [data-card='{card}']")
    settled(calculator, "document.querySelector('[data-hand=dealer] .hand-name')")
    assert "pair of nines" in text_of(calculator, "[data-hand=dealer]")
    calculator.page.click("[data-hand=dealer] [data-card='7S']")
    settled(calculator, "!document.querySelector('[data-hand=dealer] .hand-name')")
    assert "1 to come" in text_of(calculator, "#laying-left")
    assert calculator.page.get_attribute("#pack [data-card='7S']", "aria-disabled") == "false"


def test_a_click_counts_though_an_answer_comes_in_between(calculator: Watched) -> None:
    page = calculator.page
    lay(calculator, "ks qd 9h 9c 7s 5d")
    settled(calculator, "true")
    toggle = page.get_by_role("region", name="Dealer").get_by_role("button", name="by hand")
    box = toggle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    # The last card is laid, and its answer is there, before the button is let go.
    lay(calculator, "2c")
    settled(calculator, "true")
    page.mouse.up()
    calculator.until(pressed_by("dealer", "by hand"))
    settled(calculator, "document.querySelector('[data-hand=dealer] .way')")
    assert cards(calculator, "dealer", 0) == ["KS", "QD"]
    # So it is with the space bar.
    page.get_by_role("region", name="Dealer").get_by_role("button", name="house way").focus()
    page.keyboard.down(" ")
    page.evaluate("document.getElementById('clear').click()")
    settled(calculator, "true")
    page.keyboard.up(" ")
    calculator.until(pressed_by("dealer", "house way"))


def test_the_focus_stays_where_the_answer_redraws(calculator: Watched) -> None:
    page = calculator.page
    lay(calculator, "ks qd 9h 9c 7s 5d 2c as ad ah kd jc 8d x")
    settled(calculator, "document.querySelectorAll('[data-hand] .way').length === 2")
    page.get_by_role("region", name="Seat 1").get_by_role("button", name="by hand").focus()
    page.keyboard.press("Enter")
    settled(calculator, pressed_by("1", "by hand"))
    assert page.evaluate("document.activeElement.textContent") == "by hand"
    assert page.evaluate("document.activeElement.closest('[data-hand]').dataset.hand") == "1"
    # A card taken back leaves the focus on the place it lay in, not nowhere.
    page.focus("[data-hand='1'] [data-card=KD]")
    page.keyboard.press("Enter")
    settled(calculator, "!document.querySelector('[data-hand=\"1\"] [data-card=KD]')")
    assert page.evaluate("document.activeElement.closest('[data-hand]')?.dataset.hand") == "1"
    # Nor does a seat that is taken away.
    page.get_by_role("button", name="Take seat 1 away").focus()
    page.keyboard.press("Enter")
    settled(calculator, "document.querySelectorAll('[data-hand]').length === 1")
    assert page.evaluate("document.activeElement.textContent") == "Dealer"


def test_games_and_options_are_changed_in_forms(calculator: Watched) -> None:
    page = calculator.page
    page.keyboard.press("o")
    page.select_option("[data-key='rules.game']", "imperial_pai_gow_draw")
    settled(calculator, "document.querySelector('#problems li, .fault:not(:empty)')")
    # The former game's pay tables do not fit: that is shown at their fields or above.
    page.select_option("#rules-from", "game imperial_pai_gow_draw")
    settled(calculator, "!document.querySelector('#problems li')")
    page.evaluate("document.activeElement.blur()")
    lay(calculator, "ks qd 9h 9c 7s 5d 2c 3c")
    settled(calculator, "document.querySelector('[data-hand=dealer] .way')")
    assert cards(calculator, "dealer", 2) != []
    page.fill("[data-key='rules.limits.main.min_cents']", "abc")
    page.press("[data-key='rules.limits.main.min_cents']", "Tab")
    assert "write a sum" in text_of(
        calculator, ".field:has([data-key='rules.limits.main.min_cents'])"
    )
    page.fill("[data-key='rules.limits.main.min_cents']", "900")
    page.press("[data-key='rules.limits.main.min_cents']", "Tab")
    page.fill("[data-key='rules.limits.main.max_cents']", "5")
    page.press("[data-key='rules.limits.main.max_cents']", "Tab")
    settled(calculator, "document.querySelector('#problems li')")
    assert "min_cents 90000 is above max_cents 500" in text_of(calculator, "#problems")


def test_a_table_file_of_ones_own_is_loaded(calculator: Watched, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text((tmp_path / "t1.toml").read_text().replace('table = "t1"', 'table = "mine"'))
    calculator.page.set_input_files("#own-file-input", own)
    calculator.until(
        "document.querySelector('#rules-from')?.selectedOptions[0]?.text.includes('mine')"
    )
    (tmp_path / "bad.toml").write_text("x = 1")
    calculator.page.set_input_files("#own-file-input", tmp_path / "bad.toml")
    calculator.page.wait_for_selector(".toast[data-kind=bad]")
    assert "is missing" in text_of(calculator, ".toast[data-kind=bad]")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (3840, 2160)])
def test_nothing_overflows(calculator: Watched, width: int, height: int) -> None:
    calculator.page.set_viewport_size({"width": width, "height": height})
    lay(calculator, "ks qd 9h 9c 7s 5d 2c as ad ah kd jc 8d x")
    settled(calculator, "document.querySelectorAll('[data-hand] .way').length === 2")
    wide = calculator.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    out = calculator.page.evaluate(
        "[...document.querySelectorAll('.panel')]"
        ".filter(p => p.scrollWidth > p.clientWidth + 1).length"
    )
    assert out == 0
