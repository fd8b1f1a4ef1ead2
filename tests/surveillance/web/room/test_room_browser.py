"""The room's pages in a real browser: worked by keyboard, live, at both sizes of screen."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from settlement.declared import Declared
from settlement.record import Undecided
from settlement.rules import TableRules
from surveillance.alerts.model import Alert
from surveillance.config.site_file import load_site
from surveillance.evidence.bundle import FurtherClip
from surveillance.live.states import CameraState, FurtherNow
from surveillance.store import AlertFilter, NewAlert, NewRound
from surveillance.web.access import SESSION_COOKIE
from tests.surveillance.web.room.declared_site import site_file
from tests.surveillance.web.room.relay import Relay
from tests.surveillance.web.room_made import CAMERA, MadeRoom, Running, acts, made_room, make_clip
from tests.waiting import WITHIN_S, until
from vision.geometry.standard_layout import standard_table

Visit = Callable[..., Page]
SIZES = [(1366, 768), (3840, 2160)]


@pytest.fixture
def server(room: MadeRoom) -> Iterator[Running]:
    server = Running(room)
    yield server
    server.stop()


@pytest.fixture
def complaints() -> list[str]:
    """What a test expects the browsers to say; all else fails it."""
    return []


@pytest.fixture
def visit(
    browser: Browser, room: MadeRoom, server: Running, complaints: list[str]
) -> Iterator[Visit]:
    """Open a page as somebody; at the end nothing was complained of, nothing foreign asked for."""
    contexts = []
    heard: list[str] = []
    foreign: list[str] = []

    def visit(
        path: str, name: str = "ann", width: int = 1366, height: int = 768, port: int = 0
    ) -> Page:
        address = f"http://127.0.0.1:{port or server.port}/"
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        cookie = {"name": SESSION_COOKIE, "value": room.session(name), "url": address}
        context.add_cookies([cookie])  # type: ignore[list-item]
        context.on(
            "request",
            lambda r: (
                None if r.url.startswith((address, "data:", "blob:")) else foreign.append(r.url)
            ),
        )
        page = context.new_page()
        page.set_default_timeout(WITHIN_S * 1000)
        page.on("console", lambda m: heard.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.goto(f"{address}{path.lstrip('/')}")
        page.wait_for_selector("body[data-ready=true]")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert foreign == []
    assert [words for words in heard if not any(known in words for known in complaints)] == []


def listens(page: Page) -> Page:
    """Wait until the page receives events: those sent before reach nobody."""
    page.wait_for_selector("body[data-connection=open]")
    return page


def queue(visit: Visit, path: str = "/alerts", **how: object) -> Page:
    page = listens(visit(path, **how))
    page.wait_for_selector("body[data-queue=ready]")
    page.wait_for_selector("#detail[data-alert]")
    return page


def shown(page: Page) -> int:
    return int(page.get_attribute("#detail", "data-alert") or 0)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at(page: Page, alert: int) -> None:
    page.wait_for_selector(f"#detail[data-alert='{alert}']")


def numbers(page: Page) -> list[int]:
    found: list[int] = page.eval_on_selector_all(
        "#list li", "items => items.map(item => Number(item.dataset.id))"
    )
    return found


def test_the_queue_is_worked_from_the_keyboard(visit: Visit, room: MadeRoom) -> None:
    page = queue(visit)
    first, second, third, fourth = numbers(page)
    at(page, first)
    assert "Underpaid" not in page.inner_text("#detail")
    assert "paid $5.00" in page.inner_text("#detail .seen")
    assert "$25.00" in page.inner_text("#detail .due")
    assert page.inner_text("#detail .rule").startswith("Rule 002")
    # Both hands of the seat stand there as cards.
    hands = page.locator("#detail .seat-hands.marked .pcard")
    assert [hands.nth(n).get_attribute("aria-label") for n in range(2)] == [
        "ace of hearts", "king of diamonds",
    ]  # fmt: skip
    # Before and after stand side by side.
    assert page.locator(".stage[data-kind=pair] figure").count() == 2

    press(page, "j")
    at(page, second)
    press(page, "k")
    at(page, first)
    press(page, "c")
    until(lambda: room.store.alerts.get(first).state == "confirmed", "the verdict was kept")
    at(page, second)  # on to the next that is open

    press(page, "e")
    page.keyboard.type("the chips were read wrong; c and r are letters here")
    press(page, "Escape", "r")
    until(lambda: room.store.alerts.get(second).state == "rejected", "the verdict was kept")
    (verdict,) = room.store.alerts.verdicts(second)
    assert (verdict.by, verdict.comment) == (
        "ann", "the chips were read wrong; c and r are letters here",
    )  # fmt: skip

    at(page, third)
    press(page, "x")
    page.wait_for_selector("#correct[open]")
    page.fill("#correct [name=seen]", "paid $21.00")
    press(page, "Control+Enter")
    until(lambda: room.store.alerts.get(third).state == "corrected", "the verdict was kept")
    assert room.store.alerts.verdicts(third)[0].corrected == {"seen": "paid $21.00"}
    at(page, fourth)

    # Taken back: the alert is open again, by a verdict that is added to the first.
    press(page, "u")
    at(page, third)
    until(lambda: room.store.alerts.get(third).state == "open", "it was taken back")
    assert room.store.alerts.get(third).decided_by is None
    # What was judged twice goes back to what was said before, as a verdict of its own.
    press(page, "c")
    at(page, fourth)
    press(page, "k")
    at(page, third)
    press(page, "r")
    until(lambda: room.store.alerts.get(third).state == "rejected", "another verdict was given")
    press(page, "u")
    until(lambda: room.store.alerts.get(third).state == "confirmed", "it was taken back")
    assert [v.verdict for v in room.store.alerts.verdicts(third)] == [
        "corrected", "reopened", "confirmed", "rejected", "confirmed",
    ]  # fmt: skip
    page.wait_for_selector("#detail .history li >> nth=2")


def test_images_by_keys_and_the_clip_plays_at_the_moment(visit: Visit) -> None:
    page = queue(visit, "/alerts?code=OVERPAID")
    press(page, "n")  # the clip comes first after the pair
    press(page, "n")
    page.wait_for_selector(".stage[data-kind=picture] img")
    until(
        lambda: page.evaluate("document.querySelector('.stage img')?.naturalWidth ?? 0") > 600,
        "the picture is shown",
    )
    press(page, "p", "p")
    page.wait_for_selector(".stage[data-kind=pair]")

    press(page, "Space")
    page.wait_for_selector(".clip[data-ready=true]")
    video = "document.querySelector('video')"
    until(lambda: page.evaluate(f"{video}?.paused === false || {video}?.ended"), "the clip plays")
    # The moment lies 3.6 s into the clip; play begins a little before.
    until(lambda: page.evaluate(f"{video}?.currentTime ?? 0") > 2.2, "the clip goes on")
    assert page.evaluate(f"{video}.error") is None
    assert page.evaluate(f"{video}.played.start(0)") == pytest.approx(2.1, abs=0.3)
    assert page.evaluate(f"{video}.videoWidth") == 320
    press(page, "ArrowLeft")
    until(lambda: page.evaluate(f"{video}?.paused"), "a step stops it")
    # As nothing plays any more, it is the same however long the keys take.
    press(page, "m", "ArrowRight")
    assert page.evaluate(f"{video}.currentTime") == pytest.approx(3.1, abs=0.01)
    page.locator(".clip-words", has_text="0.5 s before the moment").wait_for()


def test_the_clips_of_each_camera_go_on_at_the_same_moment(
    visit: Visit, room: MadeRoom, tmp_path: Path
) -> None:
    low = make_clip(tmp_path / "low.mp4")
    further = (FurtherClip("low", low, "-1.000"), FurtherClip("high", missing="it was away"))
    own = room.evidence_dir / CAMERA / "clips" / "one.mp4"
    _, (row,) = room.add_round(63, paid_cents=3500, clip=own, further_clips=further)
    page = queue(visit, f"/alerts?alert={row.id}")
    at(page, row.id)
    assert page.inner_text(".clip-missing") == "No clip of high: it was away."
    press(page, "m", "ArrowRight")  # half a second before the moment
    page.locator(".clip-words", has_text="0.5 s before the moment").wait_for()
    press(page, "n")
    page.wait_for_selector("video[aria-label='Clip of the alert, low']")
    page.locator(".clip-words", has_text="0.5 s before the moment").wait_for()
    video = "document.querySelector('video')"
    # Its moment lies 2.6 s into it, the first one's 3.6 s.
    until(
        lambda: abs(page.evaluate(f"{video}?.currentTime ?? 0") - 2.1) < 0.05,
        "it goes on at the same moment",
    )
    press(page, "Space")
    until(lambda: page.evaluate(f"{video}?.currentTime ?? 0") > 2.4, "it plays")
    tabs = page.locator(".strip button.clip .tab-words").all_inner_texts()
    assert tabs == ["clip", "low: clip"]
    press(page, "p")
    page.wait_for_selector("video[aria-label='Clip of the alert']")


def test_a_place_chosen_before_the_clip_is_loaded_is_kept(visit: Visit, room: MadeRoom) -> None:
    make_clip(room.evidence_dir / CAMERA / "clips" / "one.mp4")
    page = queue(visit, "/alerts?code=OVERPAID")
    held: list[Route] = []
    clip = re.compile(r"/clip(\?|$)")
    page.route(clip, lambda route: held.append(route))
    page.reload()
    page.wait_for_selector("body[data-queue=ready]")
    page.wait_for_selector("#detail[data-alert]")
    press(page, "m", "ArrowRight", "ArrowRight")  # half a second after the moment
    page.wait_for_selector("video")

    def asked() -> bool:
        page.evaluate("0")  # routes are handled while the page is waited for
        return bool(held)

    until(asked, "the clip is asked for")
    for route in list(held):
        route.continue_()
    page.unroute(clip)
    page.locator(".clip-words", has_text="0.5 s after the moment").wait_for()


def test_a_clip_the_browser_cannot_play_is_shown_as_stills(
    visit: Visit, room: MadeRoom, complaints: list[str]
) -> None:
    if "libx265" not in av.codecs_available:
        pytest.skip("no H.265 here")
    make_clip(room.evidence_dir / CAMERA / "clips" / "one.mp4", "libx265")
    page = queue(visit, "/alerts?code=OVERPAID")
    press(page, "Space")
    page.wait_for_selector(".clip .still")
    until(
        lambda: page.evaluate("document.querySelector('.still')?.naturalWidth") == 320,
        "a still is shown",
    )
    assert "cannot play the clip's codec" in page.inner_text(".clip-words")
    first = page.get_attribute(".still", "src")
    until(lambda: page.get_attribute(".still", "src") != first, "it goes on by itself")


def test_alerts_arrive_without_moving_what_one_reads(visit: Visit, room: MadeRoom) -> None:
    page = queue(visit)
    before = numbers(page)
    press(page, "j")
    at(page, before[1])
    top = page.evaluate(
        "document.querySelector('[aria-selected=true]').getBoundingClientRect().top"
    )
    _, (row,) = room.add_round(60, 4000)
    room.publish("alert", row)
    page.wait_for_selector("#fresh:not([hidden])")
    assert "1 new alert" in page.inner_text("#fresh")
    until(lambda: page.inner_text("#open-alerts") == "5", "the bar counts it")
    assert shown(page) == before[1]
    assert numbers(page) == before
    after = page.evaluate(
        "document.querySelector('[aria-selected=true]').getBoundingClientRect().top"
    )
    # Only the line that names it may have pushed the list down, never scrolled it.
    assert 0 <= after - top < 60
    press(page, ".")
    until(lambda: numbers(page) == [row.id, *before], "it is shown when asked for")
    assert shown(page) == before[1]

    # Another's verdict shows in the list and beside the evidence.
    room.store.alerts.judge(before[1], "confirmed", "as seen by bob", "bob")
    room.publish("alert_changed", room.store.alerts.get(before[1]))
    page.get_by_text("as seen by bob").wait_for()
    page.wait_for_selector(f"#alert-{before[1]}[data-state=confirmed]")


LISTEN_LATER = """
const Real = SharedWorker;
window.SharedWorker = function (url, options) {
  const port = { start() {}, postMessage() {} };
  window.listenNow = () => {
    const real = new Real(url, options);
    real.port.onmessage = (event) => port.onmessage(event);
    real.port.start();
    real.port.postMessage("hello");
  };
  return { port };
};
"""


def test_what_came_before_a_page_listened_is_shown(visit: Visit, room: MadeRoom) -> None:
    page = visit("/rounds")
    page.add_init_script(LISTEN_LATER)
    page.goto(page.url.replace("/rounds", "/alerts"))
    page.wait_for_selector("body[data-queue=ready]")
    before = numbers(page)
    _, (row,) = room.add_round(60, 4000)
    room.publish("alert", row)
    page.evaluate("listenNow()")
    page.wait_for_selector("#fresh:not([hidden])")
    assert "1 new alert" in page.inner_text("#fresh")
    assert numbers(page) == before
    press(page, ".")
    until(lambda: numbers(page) == [row.id, *before], "it is shown when asked for")


def test_a_further_camera_shows_before_and_after_too(visit: Visit, room: MadeRoom) -> None:
    _, (alert,) = room.add_round(60, paid_cents=3500, further="shoulder")
    page = queue(visit)
    at(page, alert.id)
    own = page.locator(".strip button.pair")
    assert own.all_inner_texts() == ["before | after", "shoulder: before | after"]
    own.nth(1).click()
    shown = page.locator(".stage[data-kind=pair] figcaption")
    assert ["shoulder: seat 3" in words for words in shown.all_inner_texts()] == [True, True]


def test_evidence_that_comes_after_its_alert_is_shown(visit: Visit, room: MadeRoom) -> None:
    known = room.store.alerts.page(AlertFilter(code="OVERPAID"), limit=1).rows[0]
    assert known.bundle is not None
    assert known.bundle_sha256 is not None
    late = room.store.alerts.add(
        NewAlert(
            alert=known.alert.model_copy(update={
                "alert_id": "late", "message": "late",
                "pictures": tuple(n.replace("/run1/", "/run2/") for n in known.alert.pictures),
            }),
            table=known.table, camera=known.camera, source="made", at=datetime.now(UTC),
            round=known.round,
        )
    )  # fmt: skip
    page = queue(visit)
    at(page, late.id)
    page.get_by_text("The pictures are being kept").wait_for()
    for was, now in zip(known.alert.pictures, late.alert.pictures, strict=True):
        (room.evidence_dir / now).parent.mkdir(exist_ok=True)
        shutil.copy(room.evidence_dir / was, room.evidence_dir / now)
    room.publish("alert_changed", late)
    page.wait_for_selector(".stage[data-kind=pair] img")
    press(page, "n")
    page.wait_for_selector(".stage[data-kind=picture] img")
    seen = page.get_attribute(".stage img", "src")
    row = room.store.alerts.set_bundle(late.id, known.bundle, known.bundle_sha256, known.clip)
    room.publish("alert_changed", row)
    page.wait_for_selector(".strip .clip")
    # The open alert stays.
    assert page.get_attribute(".stage img", "src") == seen
    press(page, "Space")
    page.wait_for_selector(".clip[data-ready=true]")


def test_a_comment_is_written_on_while_its_alert_changes(visit: Visit, room: MadeRoom) -> None:
    page = queue(visit)
    first = shown(page)
    press(page, "e")
    page.keyboard.type("the chips")
    room.store.alerts.set_case(first, True, "bob")
    room.publish("alert_changed", room.store.alerts.get(first))
    page.wait_for_selector("#detail [data-state=case]")
    page.keyboard.type(" were read wrong; c and r are letters here")
    assert page.input_value("#comment") == (
        "the chips were read wrong; c and r are letters here"
    )  # fmt: skip
    press(page, "Control+Enter")
    until(lambda: len(room.store.alerts.verdicts(first)) > 0, "the verdict was kept")
    assert [(v.verdict, v.comment) for v in room.store.alerts.verdicts(first)] == [
        ("confirmed", "the chips were read wrong; c and r are letters here")
    ]


@contextmanager
def held(page: Page, path: str) -> Iterator[None]:
    """As on a slow net: what is asked for there is sent on at the end only."""
    waiting: list[Route] = []
    page.route(path, lambda route: waiting.append(route))
    yield
    until(lambda: page.evaluate("true") and bool(waiting), f"{path} is asked for")
    for route in waiting:
        route.continue_()
    page.unroute(path)


def test_a_verdict_is_given_on_what_is_shown(visit: Visit, room: MadeRoom) -> None:
    page = queue(visit)
    first, second, third, _ = numbers(page)
    with held(page, f"**/api/alerts/{second}"):
        press(page, "j", "c")
        page.get_by_text("The alert is not shown yet").wait_for()
        assert shown(page) == first
    at(page, second)
    # Whoever goes on while the verdict is on its way is not led elsewhere by it.
    with held(page, "**/verdict"):
        press(page, "c", "j")
        at(page, third)
        press(page, "r")
    page.get_by_text("Confirmed:").wait_for()
    page.wait_for_selector(f"#alert-{second}[data-state=confirmed]")
    page.wait_for_selector(f"#alert-{third}[aria-selected=true]")
    assert shown(page) == third
    assert room.store.alerts.counts() | {"open": 3, "confirmed": 1} == room.store.alerts.counts()


def test_filters_by_keyboard_stand_in_the_address(visit: Visit, room: MadeRoom) -> None:
    page = queue(visit)
    press(page, "f")
    assert page.evaluate("document.activeElement.name") == "state"
    page.select_option("[name=code]", "UNDERPAID")
    until(lambda: len(numbers(page)) == 2, "only those are listed")
    page.wait_for_url("**code=UNDERPAID*")
    page.select_option("[name=seat]", "5")
    page.get_by_text("No alert is like that.").wait_for()
    page.reload()
    page.wait_for_selector("body[data-queue=ready]")
    assert page.input_value("[name=seat]") == "5"
    page.click("#clear-filters")
    until(lambda: len(numbers(page)) == 4, "all open ones are listed")
    page.wait_for_url("**/alerts?")
    press(page, "i")
    page.wait_for_selector("#precision[open] table")
    assert "UNDERPAID" in page.inner_text("#precision")


def test_a_viewer_is_offered_no_verdict(visit: Visit, room: MadeRoom) -> None:
    page = queue(visit, name="vic")
    assert page.get_by_role("button", name="Confirm").count() == 0
    press(page, "c")
    page.get_by_text("Verdicts are given by reviewers").wait_for()
    assert room.store.alerts.counts()["open"] == 4


def test_the_wall_is_live_and_says_when_it_is_cut_off(
    visit: Visit, room: MadeRoom, server: Running, complaints: list[str]
) -> None:
    complaints += ["Failed to load resource", "ERR_"]
    page = listens(visit("/"))
    page.wait_for_selector(".tile img:not([hidden])")
    tile = page.locator(".tile").first
    assert "Watching" in tile.inner_text()
    assert "settling" in tile.inner_text()
    sent = page.get_attribute(".tile img", "src")
    until(lambda: page.get_attribute(".tile img", "src") != sent, "the picture changes")
    low = FurtherNow(name="low", state=CameraState.RECONNECTING, message="away", asked=9, missed=4)
    room.set_state("running", further=(low,))
    tile.get_by_text("low reconnecting").wait_for()
    page.goto(f"{page.url}tables/view/{CAMERA}")
    page.get_by_text("low reconnecting, no frame at 4 of 9 moments").wait_for()
    page.go_back()
    page.wait_for_selector(".tile img:not([hidden])")
    listens(page)
    room.set_state("stalled", "no picture for 4 s")
    tile.get_by_text("No frames arrive").wait_for()
    tile.get_by_text("no picture for 4 s").wait_for()
    assert page.get_attribute(".tile", "data-state") == "stalled"
    press(page, "o")
    assert page.get_attribute("#overlay", "aria-pressed") == "false"
    until(lambda: "overlay=0" in (page.get_attribute(".tile img", "src") or ""), "it is plain")

    server.stop()
    page.wait_for_selector("#connection:not([hidden])")
    assert "Connection lost" in page.inner_text("#connection")
    page.wait_for_selector(".picture.old")
    room.restart()
    server.start()
    page.wait_for_selector("#connection", state="hidden")
    room.set_state("running")
    tile.get_by_text("Watching").wait_for()


def test_a_tables_page_shows_each_camera_and_enlarges_one(visit: Visit, room: MadeRoom) -> None:
    data = cv2.imencode(".jpg", np.full((90, 160, 3), 40, np.uint8))[1].tobytes()
    room.bus.set_pictures(CAMERA, data, data, 0.5, "low")
    low = FurtherNow(name="low", state=CameraState.RUNNING)
    away = FurtherNow(name="high", state=CameraState.RECONNECTING)
    room.set_pictures()
    room.set_state(further=(low, away))
    page = listens(visit(f"/tables/view/{CAMERA}"))
    small = page.locator(".further-pictures button")
    small.first.locator("img:not([hidden])").wait_for()
    assert [one.get_attribute("aria-label") for one in small.all()] == [
        "Enlarge low",
        "Enlarge high",
    ]
    assert "no image yet" in small.nth(1).inner_text()
    large = page.locator("#picture > .picture img")
    assert large.get_attribute("alt") == "Table t1, live"
    # Each counts the age of its own image, and marks it when it is no live one any more.
    room.bus.set_pictures(CAMERA, data, data, 7.0, "low")
    room.set_pictures()
    room.set_state(further=(low, away))
    small.first.locator(".picture.stale .picture-age").wait_for()
    assert float(small.first.locator(".picture-age").inner_text().split()[0]) >= 7
    press(page, "c")
    page.locator("#picture > .picture img[alt='Table t1, low, live']").wait_for()
    assert large.evaluate("image => image.naturalWidth") == 160
    assert "further=low" in (large.get_attribute("src") or "")
    assert small.first.get_attribute("aria-label") == f"Enlarge {CAMERA}"
    room.bus.set_pictures(CAMERA, data, data, 0.0, "low")
    room.set_state(further=(low, away))
    page.locator("#picture > .picture:not(.stale)").wait_for()
    small.first.focus()
    press(page, "Enter")
    page.locator("#picture > .picture img[alt='Table t1, live']").wait_for()
    assert acts(room).count("live picture seen") == 2  # one of each camera


def test_a_table_with_one_camera_has_no_other_images(visit: Visit) -> None:
    page = listens(visit(f"/tables/view/{CAMERA}"))
    page.wait_for_selector("#picture img:not([hidden])")
    assert page.locator(".further-pictures").is_hidden()
    press(page, "c")
    page.get_by_text("This table has one camera.").wait_for()


def test_an_answer_on_its_way_does_not_undo_a_newer_event(visit: Visit, room: MadeRoom) -> None:
    page = listens(visit("/"))
    tile = page.locator(".tile").first
    tile.get_by_text("Watching").wait_for()
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/api/tables/*/line", lambda route: held.append((route, route.fetch())))
    room.set_state(seats=0)
    until(lambda: bool(held) or page.evaluate("false"), "the line is asked for")
    room.set_state("stalled", "no picture for 4 s", seats=0)
    tile.get_by_text("No frames arrive").wait_for()
    for route, answer in held:
        route.fulfill(response=answer, json={**answer.json(), "open_alerts": 77})
    tile.get_by_text("77 open").wait_for()
    assert "No frames arrive" in tile.inner_text()


def test_no_image_is_requested_before_the_first_is_there(visit: Visit, room: MadeRoom) -> None:
    # `visit` fails on any complaint, and Chromium complains of every 404.
    state = room.bus.state(CAMERA)
    assert state is not None
    late = state.model_copy(update={"camera": "pit1-t2", "table": "t2"})
    room.bus.set_state(late, datetime.now(UTC))
    wall = listens(visit("/"))
    table = listens(visit("/tables/view/pit1-t2"))
    tile = wall.locator(".tile", has_text="pit1-t2")
    tile.get_by_text("no image yet").wait_for()
    wall.wait_for_selector(".tile img:not([hidden])")
    assert tile.locator("img:not([hidden])").count() == 0
    room.bus.set_pictures(
        "pit1-t2", room.bus.picture(CAMERA, False) or b"", room.bus.picture(CAMERA, True) or b""
    )
    tile.locator("img:not([hidden])").wait_for()
    table.wait_for_selector(".picture img:not([hidden])")


def test_a_net_that_goes_silent_is_shown_and_comes_back(
    visit: Visit, room: MadeRoom, server: Running
) -> None:
    with Relay(server.port) as relay:
        page = listens(visit("/", port=relay.port))
        page.wait_for_selector(".tile img:not([hidden])")
        relay.hold()
        page.wait_for_selector(".picture.old")
        page.wait_for_selector("#connection:not([hidden])")
        room.set_state("stalled", "no picture for 4 s")
        relay.go_on()
        page.wait_for_selector("#connection", state="hidden")
        # What happened meanwhile is asked for.
        page.wait_for_selector(".tile[data-state=stalled]")
        page.wait_for_selector(".picture:not(.old)")


def test_a_table_shows_hands_and_takes_the_dealers_name(visit: Visit, room: MadeRoom) -> None:
    page = listens(visit(f"/tables/view/{CAMERA}"))
    page.wait_for_selector(".picture img:not([hidden])")
    cards = page.locator("#now .seat-hands .pcard")
    assert cards.count() == 7
    assert "ENVY" in page.inner_text("#now")
    assert "$25" in page.inner_text("#now")
    assert page.locator("#rounds li").count() == 5
    press(page, "d")
    page.wait_for_selector("#dealer-dialog[open]")
    page.fill("#dealer-name", "Lee")
    press(page, "Enter")
    page.get_by_text("Lee deals at t1 from now on.").wait_for()
    assert room.store.dealers.current("t1") == "Lee"
    press(page, "d")
    page.fill("#dealer-name", "Kim")
    press(page, "Escape")
    page.wait_for_selector("#dealer-dialog", state="hidden")
    _, (row,) = room.add_round(61, 4000)
    room.publish("alert", row)
    page.locator(f"#alerts a[href*='alert={row.id}&']").wait_for()
    assert room.store.dealers.current("t1") == "Lee"


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


def test_the_queue_goes_on_as_one_goes_down(visit: Visit, room: MadeRoom) -> None:
    model = room.store.alerts.page(limit=1).rows[0]
    for n in range(70):
        room.store.alerts.add(
            NewAlert(
                alert=Alert(
                    alert_id=f"more-{n}", code=model.alert.code, severity=model.alert.severity,
                    message="one more", seat=3,
                ),
                table=model.table, camera=model.camera, source="made", round=model.round,
                at=model.at - timedelta(hours=1, minutes=n),
            )
        )  # fmt: skip
    page = queue(visit)
    page.get_by_text("60 shown, more below").wait_for()
    first = numbers(page)
    assert len(first) == 60
    press(page, *["j"] * 59)
    page.get_by_text("74 in all").wait_for()
    whole = numbers(page)
    assert whole[:60] == first
    assert len(set(whole)) == 74
    at(page, whole[59])
    press(page, *["j"] * 20)
    at(page, whole[73])


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
    expect(felt.locator(".felt-seat h3")).to_have_text(["Dealer", "Seat 3"])
    expect(felt.locator(".felt-phase")).to_have_text(["bets", "dealt"])
    expect(felt.locator(".step")).to_have_attribute("title", re.compile("set, again, 14.0 s"))
    stake = felt.locator(".lay.undecided")
    expect(stake).to_have_attribute("title", re.compile("main.stake undecided: two sums"))
    expect(felt.get_by_text("The end was not seen, 44.0 s")).to_be_visible()
    track, own = felt.locator(".felt-track").first.bounding_box(), stake.bounding_box()
    assert track is not None
    assert own is not None
    # From 2 to 40 s of 2 to 44 s.
    assert abs(own["width"] / track["width"] - 38 / 42) < 0.02
    unseen = stake.locator(".not-at-rest").bounding_box()
    assert unseen is not None
    assert abs(unseen["width"] / own["width"] - 4 / 38) < 0.02
    felt.screenshot(path=tmp_path / "felt.png")


def test_facts_are_declared_on_the_tables_page(browser: Browser, tmp_path: Path) -> None:
    rules = TableRules(game="pai_gow_poker")
    seats = standard_table(rules, seats=3)
    site = load_site(site_file(tmp_path, seats))
    with made_room(tmp_path / "room", seats, site=site) as room:
        running = Running(room)
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        session = {"name": SESSION_COOKIE, "value": room.session("ann"), "url": running.address}
        context.add_cookies([session])  # type: ignore[list-item]
        page = context.new_page()
        page.goto(f"{running.address}tables/view/{CAMERA}")
        page.keyboard.press("b")
        dialog = page.locator("#facts-dialog")
        expect(dialog.get_by_text("Nothing is declared yet.")).to_be_visible()
        dialog.get_by_label("Who banks").select_option("seat 2")
        dialog.get_by_role("textbox", name="Seat 1").fill("4")
        dialog.get_by_role("textbox", name="Seat 3").fill("4")
        dialog.screenshot(path=tmp_path / "facts.png")
        dialog.get_by_role("button", name="Declare").click()
        expect(page.get_by_text("it counts from the next round that is settled")).to_be_visible()
        (row,) = room.store.declarations.in_force("t1", datetime.now(UTC))
        assert (row.facts, row.by) == (Declared(banker=2, players={1: 4, 3: 4}), "ann")
        page.keyboard.press("b")
        expect(dialog.get_by_label("Who banks")).to_have_value("2")
        context.close()
        running.stop()
