"""Rounds, reports, and every page of the room at both sizes of screen, in a real browser."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from settlement.record import Undecided
from surveillance.store import NewRound
from tests.surveillance.web.room.room_browser import Visit, press
from tests.surveillance.web.room_made import CAMERA, MadeRoom

SIZES = [(1366, 768), (3840, 2160)]


def test_rounds_and_reports_by_keyboard(visit: Visit, room: MadeRoom) -> None:
    page = visit("/rounds")
    page.wait_for_selector("#rounds tbody tr")
    assert page.locator("#rounds tbody tr").count() == 5
    press(page, "j", "Enter")
    page.wait_for_selector(".round-hands")
    page.wait_for_url("**/rounds/5")  # and its scripts, which take the keys
    assert "002" in page.inner_text(".wagers cite")
    press(page, "g", "p")
    page.wait_for_url("**/reports?*")
    page.wait_for_selector("#report .stats")
    with page.expect_download() as taken:
        press(page, "p")
    assert Path(taken.value.path()).read_bytes().startswith(b"%PDF")
    assert taken.value.suggested_filename.endswith(".pdf")
    press(page, "?")
    assert "the day before, after" in page.inner_text("#keys")


def test_what_is_worth_a_look_is_found_from_the_list(visit: Visit, room: MadeRoom) -> None:
    room.add_doubtful_round(6)
    page = visit("/rounds")
    page.wait_for_selector("#rounds tbody tr:nth-child(6)")
    page.select_option("select[name=show]", "suspicions")
    page.wait_for_selector("#rounds tbody tr:only-child")
    assert "1 worth a look" in page.inner_text("#rounds tbody tr")
    page.click("#rounds tbody a")
    page.wait_for_selector("#suspicions li")
    words = page.inner_text("#suspicions")
    assert "Paid too much?" in words
    assert "Perhaps (88%): Seat 3" in words
    page.goto(page.url.replace("/6", "/5"))
    page.wait_for_selector(".round-hands")
    assert not page.is_visible("#suspicions")


def test_rounds_come_page_by_page(visit: Visit, room: MadeRoom) -> None:
    model = room.store.rounds.page(limit=1).rows[0]
    for n in range(120):
        at_ = model.ended_at - timedelta(hours=1, minutes=n)
        room.store.rounds.add(
            NewRound(
                table=model.table, camera=model.camera, round_id=f"t1-1{n:05}", game=model.game,
                started_at=at_ - timedelta(seconds=70), ended_at=at_, source="made",
                record=model.record, settlement=model.settlement, dealer=model.dealer,
            )
        )  # fmt: skip
    page = visit("/rounds")
    rows = page.locator("#rounds tbody tr")
    more = page.get_by_role("button", name="More")
    expect(rows).to_have_count(60)
    # In one turn, so that the second certainly comes while the first is on its way: one counts.
    page.evaluate(
        """["m", "m"].forEach((key) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""
    )
    expect(rows).to_have_count(120)
    more.focus()
    press(page, "Enter")
    expect(rows).to_have_count(125)
    expect(more).to_be_hidden()
    shown_ids = page.locator("#rounds tbody th").all_inner_texts()
    assert shown_ids == [
        *(f"t1-00000{n}" for n in (5, 4, 3, 2, 1)), *(f"t1-1{n:05}" for n in range(120)),
    ]  # fmt: skip
    # The focus goes on to the first that came.
    assert page.evaluate("document.activeElement.textContent") == shown_ids[120]


MEASURE = """() => {
  const cut = [...document.querySelectorAll('.btn, .badge, .shell-nav a, .stats dd, th, .pcard b')]
    .filter(n => n.offsetParent && getComputedStyle(n).display !== 'inline')
    .filter(n => n.scrollWidth > n.clientWidth + 2)
    .map(n => n.outerHTML.slice(0, 90));
  const small = [...document.querySelectorAll('main *')]
    .filter(n => n.offsetParent && [...n.childNodes].some(c => c.nodeType === 3 && c.data.trim()))
    .filter(n => parseFloat(getComputedStyle(n).fontSize) < 11)
    .map(n => n.outerHTML.slice(0, 90));
  return {
    wide: document.documentElement.scrollWidth > innerWidth, cut, small,
    letter: parseFloat(getComputedStyle(document.documentElement).fontSize),
    unnamed: [...document.querySelectorAll('button, input, select, textarea')]
      .filter(n => n.offsetParent && !n.textContent.trim())
      .filter(n => !n.ariaLabel && !n.labels?.length).length,
  };
}"""


def hours(off: int) -> str:
    """A time so many hours from now, as a page's field gives it."""
    return f"{datetime.now() + timedelta(hours=off):%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_page_is_right_at_both_sizes(
    visit: Visit, room: MadeRoom, width: int, height: int
) -> None:
    why = "no picture from 81.2 s to 90.4 s (frames dropped): not seen while it was settled"
    room.add_round(40, undecided=(Undecided(seat=3, what="main.action", why=why),))
    pages = {
        "/": ".tile img:not([hidden])",
        f"/tables/view/{CAMERA}": ".picture img:not([hidden])",
        "/alerts": "#detail .stage img",
        "/rounds": "#rounds tbody tr",
        "/rounds/5": ".round-hands",
        "/reports": "#report .stats",
        # A span of its own: the rounds may be of the day before.
        f"/reading?shift=custom&from={hours(-20)}&to={hours(2)}": "#reading .grid-table",
    }
    page = visit("/", width=width, height=height)
    for path, there in pages.items():
        page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/", 3)[2] + path)
        page.wait_for_selector(there)
        measured = page.evaluate(MEASURE)
        assert not measured["wide"], path
        assert measured["cut"] == [], path
        assert measured["small"] == [], path
        assert measured["unnamed"] == 0, path
        # Letters of 16 px at 1366 and 28 px at 3840: read from two metres.
        assert measured["letter"] >= (16 if width == 1366 else 28), path


def test_a_rounds_timeline_is_drawn_place_by_place(visit: Visit, tmp_path: Path) -> None:
    page = visit("/rounds/5")
    felt = page.locator(".felt-timeline")
    expect(felt.locator(".felt-seat h3")).to_have_text(["Dealer", "Seat 3", "Seat 5"])
    expect(felt.locator(".felt-phase")).to_have_text(["bets", "dealt"])
    expect(felt.locator(".step")).to_have_attribute("title", re.compile("set, again, 14.0 s"))
    stake = felt.locator(".lay.undecided[data-item=stack]")
    expect(stake).to_have_attribute("title", re.compile("main.stake undecided: two sums"))
    expect(felt.get_by_text("The end was not seen, 44.0 s")).to_be_visible()
    expect(stake).to_contain_text("by low, shoulder too")
    pay = felt.locator(".lay", has_text="$5")
    expect(pay).to_contain_text("by low alone")
    expect(pay).to_have_attribute("title", re.compile("seen without it until 30.4 s and from 41.2"))
    track, own = felt.locator(".felt-track").first.bounding_box(), stake.bounding_box()
    assert track is not None
    assert own is not None
    # From 2 to 40 s of 2 to 44 s.
    assert abs(own["width"] / track["width"] - 38 / 42) < 0.02
    unseen = stake.locator(".not-at-rest").bounding_box()
    assert unseen is not None
    assert abs(unseen["width"] / own["width"] - 4 / 38) < 0.02
    # Chips by no spot and a lammer lie there at once: a row for each.
    rows = felt.locator(".felt-row")
    expect(rows.filter(has_text="envy").locator(".felt-place")).to_have_text("lammers")
    expect(rows.filter(has_text="2 white").locator(".felt-place")).to_have_text("by no spot")
    expect(felt.locator(".felt-tick").first).to_have_text("5 s")
    expect(felt.locator(".felt-event")).to_have_attribute("title", "The end was not seen, 44.0 s")
    # A payout stands beneath its stake, what lies by no wager below both.
    places = felt.locator(".felt-seat").nth(1).locator(".felt-place")
    expect(places).to_have_text(
        [
            "steps",
            "Main",
            "pay: Main",
            "lamp: Emperor's Treasure Progressive",
            "by no spot",
            "lammers",
        ]
    )
    lamps = rows.filter(has_text="lamp:").locator(".lay")
    expect(lamps).to_have_text(["unlit", "lit"])
    dealers = felt.locator(".felt-seat").first.locator(".felt-place")
    expect(dealers).to_have_text(
        ["low hand", "meter: Emperor's Treasure Progressive 2", "banker's marker"]
    )
    expect(rows.filter(has_text="meter:").locator(".lay")).to_have_text("$6,102.31")
    unseen_hand = felt.locator(".felt-seat").nth(2).locator(".felt-row")
    expect(unseen_hand).to_contain_text("hand: never seen")
    # Who hid it, and behind what.
    expect(stake.locator(".not-at-rest")).to_have_attribute(
        "title", "not seen at rest: motion, arm of seat 3, the dealer's arm"
    )
    expect(pay.locator(".not-at-rest")).to_have_attribute("title", "not seen: behind 5 red (Main)")
    # Chips that grew in number are one thing with one sum after another.
    strays = rows.filter(has_text="2 white").locator(".lay")
    expect(strays).to_have_text(["$1 (1 white)", "$2 (2 white)"])
    # Words that a short bar would cut stand beside it.
    assert is_shown_whole(pay.locator(".felt-words"))
    felt.screenshot(path=tmp_path / "felt.png")


def is_shown_whole(words: Locator) -> bool:
    """Whether words are cut neither by their bar nor by its track."""
    return bool(
        words.evaluate(
            """(own) => {
              const right = (node) => node.getBoundingClientRect().right;
              const bar = own.parentElement;
              const hides = getComputedStyle(bar).overflow === "hidden";
              const edge = hides ? right(bar) : right(own.closest(".felt-track"));
              return right(own) <= edge + 1;
            }"""
        )
    )
