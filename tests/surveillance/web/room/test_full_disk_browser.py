"""A data folder whose disk is really full: the pages say in large letters what is not kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from surveillance.live import recorder as recorder_module
from surveillance.live.journal import Journal
from surveillance.live.recorder import Recorder
from surveillance.store import RoundFilter
from tests.surveillance.full_disk import fill, free, small_disk
from tests.surveillance.web.room.room_browser import Visit, clock, decided, listens
from tests.surveillance.web.room_made import CAMERA, TABLE, MadeRoom, Running, made_room
from tests.waiting import until
from vision.geometry.table import TableFile

BOTTOM = "node => node.getBoundingClientRect().bottom"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 16) as disk:
        yield disk


@pytest.fixture
def room(disk: Path, table: TableFile) -> Iterator[MadeRoom]:
    with made_room(disk / "room", table) as room:
        yield room


@pytest.fixture
def recorder(room: MadeRoom, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    monkeypatch.setattr(recorder_module, "RETRY_MOST_S", 0.5)
    # Without its reserve the journal has no more space than others.
    journal = Journal(room.folder / "journal.sqlite", reserve_bytes=0)
    recorder = Recorder(room.store, room.bus, room.evidence_dir, journal=journal)
    recorder.add_camera(CAMERA, TABLE)
    room.app.state.settings = replace(room.app.state.settings, recorder=recorder)
    yield recorder
    recorder.close(10)


def said(page: Page) -> str:
    page.wait_for_selector("#record[data-kind=journal]:not([hidden])")
    return page.inner_text("#record")


def test_a_journal_that_cannot_be_written_is_said_in_large_letters_until_it_can(
    visit: Visit, recorder: Recorder, disk: Path, room: MadeRoom, server: Running
) -> None:
    wall = listens(visit("/"))
    wall.wait_for_selector(".tile img:not([hidden])")
    assert wall.locator("#record").is_hidden()
    before = room.store.rounds.count(RoundFilter()).rounds
    fill(disk)
    rounds = 0
    while recorder.status.held < 2:
        assert rounds < 60, "the journal is written on a full disk"
        rounds += 1
        recorder.take(decided(rounds))
    since = recorder.status.journal_down_since
    assert since is not None
    words = said(wall)
    assert f"NOTHING CAN BE WRITTEN since {clock(wall, since)}" in words
    until(lambda: "2 entries are in memory only, and lost if the server ends." in said(wall), "two")
    assert "journal.sqlite: database or disk is full" in words
    title = wall.locator("#record .record-title").first
    size_px, usual_px = (
        float(one.evaluate("node => parseFloat(getComputedStyle(node).fontSize)"))
        for one in (title, wall.locator("body"))
    )
    assert size_px >= 2 * usual_px
    # It hides no table, and these are shown on.
    tile = wall.locator(".tile").first
    until(lambda: tile.evaluate(BOTTOM) <= wall.evaluate("innerHeight"), "the tile is in view")
    wall.screenshot(path=disk.parent / "journal-down.png")
    room.set_state("stalled", "no picture for 4 s")
    tile.get_by_text("No frames arrive").wait_for()
    # So does a page that is loaded now, whatever it is.
    for path in ("alerts", "rounds", ""):
        wall.goto(f"{server.address}{path}")
        assert f"NOTHING CAN BE WRITTEN since {clock(wall, since)}" in said(wall)

    free(disk)
    wall.wait_for_selector("#record", state="hidden")
    assert recorder.wait_stored(30)
    assert recorder.status.held == 0
    assert room.store.rounds.count(RoundFilter()).rounds == before + rounds
    wall.reload()
    assert listens(wall).locator("#record").is_hidden()
