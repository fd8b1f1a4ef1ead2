"""The wall and a table's page in a real browser: live, cut off, silent and back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import APIResponse, Browser, Route, expect

from settlement.declared import Declared
from settlement.rules import TableRules
from surveillance.config.site_file import load_site
from surveillance.live.states import CameraState, FurtherNow
from surveillance.web.access import SESSION_COOKIE
from tests.surveillance.web.room.declared_site import site_file
from tests.surveillance.web.room.relay import Relay
from tests.surveillance.web.room.room_browser import Visit, listens, press
from tests.surveillance.web.room_made import CAMERA, MadeRoom, Running, acts, made_room
from tests.waiting import until
from vision.geometry.standard_layout import standard_table


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
    watched = page.locator("#coverage")
    assert watched.inner_text() == "30 min watched, 12 s skipped, hidden most: dealer 25%"
    assert watched.get_attribute("title") == "Something moved over: dealer 25%, seat 3 10%"
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
