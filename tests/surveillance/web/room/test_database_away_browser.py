"""A PostgreSQL that is really stopped: what the pages show meanwhile, and when it is back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from surveillance.live import recorder as recorder_module
from surveillance.live.recorder import Recorder
from surveillance.store import AlertFilter
from tests.surveillance import postgres
from tests.surveillance.web.room.room_browser import (
    Visit,
    at,
    clock,
    decided,
    listens,
    numbers,
    press,
    queue,
    shown,
)
from tests.surveillance.web.room_made import CAMERA, TABLE, MadeRoom, Running, acts, made_room
from tests.waiting import until
from vision.geometry.table import TableFile

HAS_IMAGE = """[...document.querySelectorAll("#detail img")]
    .some((image) => image.complete && image.naturalWidth > 1)"""


def log_in(page: Page) -> None:
    page.fill("#name", "vic")
    page.fill("#password", "seven red chips")
    page.click("#go")


@pytest.fixture
def database() -> Iterator[postgres.Server]:
    with postgres.stoppable_server() as database:
        postgres.run(database.host, "CREATE DATABASE pages")
        yield database


@pytest.fixture
def room(database: postgres.Server, tmp_path: Path, table: TableFile) -> Iterator[MadeRoom]:
    url = postgres.url(database.host, "pages")
    with made_room(tmp_path / "room", table, url=url) as room:
        yield room


@pytest.fixture
def recorder(room: MadeRoom, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    monkeypatch.setattr(recorder_module, "RETRY_MOST_S", 0.5)
    recorder = Recorder(room.store, room.bus, room.evidence_dir)
    recorder.add_camera(CAMERA, TABLE)
    room.app.state.settings = replace(room.app.state.settings, recorder=recorder)
    yield recorder
    recorder.close(10)


def test_pages_go_on_from_memory_while_the_database_is_stopped(
    visit: Visit,
    browser: Browser,
    room: MadeRoom,
    server: Running,
    recorder: Recorder,
    database: postgres.Server,
    complaints: list[str],
    tmp_path: Path,
) -> None:
    complaints += ["Failed to load resource"]
    wall, other, alerts = listens(visit("/")), visit("/"), queue(visit)
    wall.wait_for_selector(".tile img:not([hidden])")
    open_ones, first = numbers(alerts), shown(alerts)
    assert len(open_ones) == 4

    database.stop()
    for page in (wall, alerts):
        page.wait_for_selector("#record[data-kind=store]:not([hidden])")
    since = recorder.status.store_down_since
    assert since is not None
    said = f"The database cannot be used since {clock(wall, since)}"
    recorder.take(decided(1))
    for page in (wall, alerts):
        assert said in page.inner_text("#record")
        assert room.store.database.name in page.inner_text("#record")
        page.get_by_text(
            re.compile(r"Tables are watched on; \d+ entr(y waits|ies wait) in")
        ).wait_for()
    # What was loaded stays.
    assert numbers(alerts) == open_ones
    assert shown(alerts) == first
    alerts.screenshot(path=tmp_path / "alerts-loaded.png")
    # A page loaded afresh shows the tables as they are, and the alerts as they were.
    wall.reload()
    tile = listens(wall).locator(".tile").first
    wall.wait_for_selector(".tile img:not([hidden])")
    tile.get_by_text("4 open").wait_for()
    assert said in wall.inner_text("#record")
    room.set_state("stalled", "no picture for 4 s")
    tile.get_by_text("No frames arrive").wait_for()
    wall.screenshot(path=tmp_path / "wall-afresh.png")
    alerts.goto(f"{server.address}alerts")
    alerts.wait_for_selector("body[data-queue=ready]")
    at(alerts, first)
    assert numbers(alerts) == open_ones
    alerts.wait_for_selector("#record:not([hidden])")
    assert said in alerts.inner_text("#record")
    assert "later ones are not shown yet" in alerts.inner_text("#list-foot")
    # One that nobody had opened is shown too.
    press(alerts, "j")
    at(alerts, open_ones[1])
    until(lambda: alerts.evaluate(HAS_IMAGE), "its evidence is shown")
    alerts.screenshot(path=tmp_path / "alerts-afresh.png")
    # Who is not logged in yet reads why that cannot be now.
    door = browser.new_page()
    door.goto(f"{server.address}login")
    log_in(door)
    door.get_by_text("the database cannot be read or written since").wait_for()
    # A list that nobody had asked for is no empty one.
    other.goto(f"{server.address}alerts?seat=3")
    other.get_by_text("This list cannot be read now").wait_for()
    assert "No alert" not in other.inner_text("#detail")
    table = wall.context.new_page()
    table.goto(f"{server.address}tables/view/{CAMERA}")
    until(lambda: table.inner_text("#alerts") == "▲ cannot be read now", "it is not called empty")
    # A verdict cannot be kept: that is said, and the alert waits on.
    press(alerts, "c")
    alerts.locator(".toast", has_text="the database cannot be read or written").first.wait_for()
    assert shown(alerts) == open_ones[1]

    database.start()
    for page in (wall, alerts):
        page.wait_for_selector("#record", state="hidden")
    assert recorder.wait_stored(30)
    alerts.get_by_text("1 new alert").wait_for()
    until(lambda: alerts.inner_text("#list-foot") == "4 in all", "the list is the database's")
    tile.get_by_text("5 open").wait_for()
    press(alerts, ".")
    until(lambda: len(numbers(alerts)) == 5, "the alert of the outage is listed")
    at(alerts, open_ones[1])
    press(alerts, "c")
    until(lambda: room.store.alerts.counts(AlertFilter())["confirmed"] == 1, "the verdict is kept")
    # The logins of before hold, and who looked meanwhile stands in the log.
    wall.reload()
    tile.get_by_text("4 open").wait_for()
    until(lambda: len(numbers(other)) >= 4, "the other list is read by itself")
    until(lambda: table.locator("#alerts li").count() == 5, "the table's alerts are read")
    table.close()
    log_in(door)
    door.locator(".tile").first.wait_for()
    assert acts(room).count("wall seen") == 5
    door.close()
