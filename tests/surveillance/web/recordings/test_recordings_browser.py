"""Recordings in a real browser: an audit is watched, stopped, gone on with, and played."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from benchmarks.room.served import served
from surveillance.recordings import manager
from surveillance.recordings.results import take_results
from surveillance.store import Store
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.conftest import HEIGHT, WIDTH, table_text
from tests.surveillance.web.recordings.recordings_made import hold_audits, manager_of
from tests.surveillance.web.tools_made import Watched
from tests.vision.sources.live_films import write_film
from tests.vision.sources.recorder_cuts import cut
from vision.geometry.table import FurtherCamera, TableFile


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir()
    return folder


@pytest.fixture
def page(
    browser: Browser, tmp_path: Path, folder: Path, video: Path, table_path: Path
) -> Iterator[Watched]:
    shutil.copy(video, folder / "night.mp4")
    shutil.copy(table_path, folder / "table.toml")
    with (
        Store.open(f"sqlite:///{tmp_path / 'w.sqlite'}") as store,
        manager_of(store, folder, tmp_path / "data") as manager,
    ):
        app = create_app(WebSettings(store=store, recordings=manager))
        user = store.people.add("rae", "reviewer", None)
        secret = app.state.accounts.sessions.open(user, "127.0.0.1", "test").secret
        with served(app) as address:
            context = browser.new_context(viewport={"width": 1366, "height": 768})
            context.add_cookies([{"name": "feltwatch_session", "value": secret, "url": address}])
            watched = Watched(context.new_page(), address)
            yield watched
            context.close()
            watched.assert_calm()


def test_an_audit_is_started_stopped_gone_on_with_and_played(page: Watched, folder: Path) -> None:
    web = page.page
    hold_audits(folder, 1.0)  # or it may be over before it is stopped
    web.goto(f"{page.address}/recordings")
    web.wait_for_selector("[data-video='night.mp4']")
    web.click("[data-video='night.mp4'] button")
    web.wait_for_selector("#audits tr[data-state=running]")
    page.until("Number(document.querySelector('#audits progress')?.value) > 0.5")
    web.click("#audits button:has-text('Stop')")
    web.wait_for_selector("#audits tr[data-state=stopped]")
    assert "goes on from" in web.inner_text("#audits .message")
    hold_audits(folder, 2.0)
    web.click("#audits button:has-text('Go on')")
    web.wait_for_selector("#audits tr[data-state=running]")
    web.click("#audits a")
    web.wait_for_url("**/recordings/1")
    hold_audits(folder, None)
    web.wait_for_selector("#state .badge[data-state=done]")
    web.wait_for_selector("#acts button:has-text('Audit again')")
    page.until("document.querySelectorAll('.timeline .round').length === 5")
    assert web.locator(".timeline .mark").count() > 0

    # The video plays from a round that is clicked, and from an alert by keyboard.
    web.wait_for_selector("body[data-video=original]")
    starts = web.evaluate(
        "fetch(location.pathname.replace('/recordings', '/api/recordings') + '/timeline')"
        ".then(a => a.json()).then(t => t.rounds.map(r => r.start_s))"
    )
    # These rounds overlap; the left end of each is its own.
    web.click("[data-round='3']", position={"x": 4, "y": 20})
    page.until(f"document.querySelector('video')?.currentTime >= {min(starts[3], 3.9) - 0.2}")
    page.until("document.querySelector('video')?.readyState >= 2")
    web.evaluate("document.querySelector('video').pause()")
    web.focus("#timeline")
    web.keyboard.press("0")
    first = web.get_attribute("#alerts button", "data-alert")
    web.click("[data-alert='0']")
    page.until("document.querySelector('#alerts button')?.ariaCurrent === 'true'")
    web.evaluate("document.querySelector('video').pause()")
    web.evaluate("document.activeElement.blur()")
    web.keyboard.press("j")
    page.until("document.querySelectorAll('#alerts button')[1]?.ariaCurrent === 'true'")
    web.keyboard.press("k")
    page.until("document.querySelector('#alerts button')?.ariaCurrent === 'true'")
    assert first == web.get_attribute("#alerts button[aria-current=true]", "data-alert")
    # It plays from the alert once it has loaded: a time before that is none of the alert's.
    shown = "document.querySelector('video')"
    page.until(f"{shown}?.readyState >= 2 && !{shown}.seeking && {shown}.currentTime > 0.1")
    web.evaluate("document.querySelector('video').pause()")
    page.until(f"{shown}?.paused")
    at = web.evaluate("document.querySelector('video').currentTime")
    web.keyboard.press("ArrowLeft")
    page.until(f"document.querySelector('video')?.currentTime <= {max(at - 0.01, 0)}")
    for width, height in ((1366, 768), (3840, 2160)):
        web.set_viewport_size({"width": width, "height": height})
        assert web.evaluate("document.documentElement.scrollWidth") <= width


def test_the_timeline_stays_while_the_results_are_kept(
    page: Watched, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clips and bundles of a shift take minutes; what was found is there all that time."""
    begun, may_go_on = threading.Event(), threading.Event()

    def take(*given: object) -> object:
        begun.set()
        assert may_go_on.wait(60)
        return take_results(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(manager, "take_results", take)
    web = page.page
    hold_audits(folder, 2.0)
    web.goto(f"{page.address}/recordings")
    web.click("[data-video='night.mp4'] button")
    web.click("#audits a")
    web.wait_for_url("**/recordings/1")
    many = "document.querySelectorAll('#alerts button').length"
    page.until(f"{many} > 0")
    hold_audits(folder, None)
    try:
        assert begun.wait(60)
        assert not (tmp_path / "data" / "audit-work" / "1").exists()
        page.until("document.querySelectorAll('.timeline .round').length === 5")
        found = web.evaluate(many)
        web.reload()
        page.until(f"{many} === {found}")
        assert web.locator("#state .badge[data-state=running]").count() == 1
        assert web.locator(".timeline .round").count() == 5
        web.evaluate(
            f"window.fewest = {many}; new MutationObserver(() => "
            f"{{ window.fewest = Math.min(window.fewest, {many}); }})"
            ".observe(document.body, { childList: true, subtree: true })"
        )
    finally:
        may_go_on.set()
    web.wait_for_selector("#state .badge[data-state=done]")
    page.until("document.querySelectorAll('#alerts a').length > 0")  # to the evidence
    assert web.evaluate("window.fewest") == found > 0


def test_files_are_chosen_as_one_shift(
    page: Watched, folder: Path, tmp_path: Path, video: Path
) -> None:
    web = page.page
    film = write_film(tmp_path / "film.mp4", 4.0, 10, size=(WIDTH, HEIGHT))
    names = ["t3_20261122_180000.mp4", "t3_20261122_180002.mp4"]
    for name, (a, b) in zip(names, ((0, 2), (2, 4)), strict=True):
        cut(film, folder / name, a, b)
    web.goto(f"{page.address}/recordings")
    web.wait_for_selector("[data-video='night.mp4']")
    button = web.locator("#queue-shift")
    web.get_by_label(f"{names[1]} in a shift").check()
    assert not button.is_visible()
    web.get_by_label(f"{names[0]} in a shift").check()
    assert button.inner_text() == "Audit 2 files as one shift"
    button.click()
    web.wait_for_selector("#audits tr[data-state=done]")
    assert web.locator("#audits tr[data-recording]").count() == 1
    assert web.inner_text("#audits a") == f"{names[0]} and 1 more"
    assert not button.is_visible()
    for name in names:
        assert web.locator(f"[data-video='{name}'] .badge[data-state=done]").count() == 1
    assert web.locator("[data-video='night.mp4'] .badge").count() == 0
    web.click("#audits a")
    web.wait_for_url("**/recordings/1")
    assert web.inner_text("h1") == f"{names[0]} and 1 more"
    assert "Several files play as one" in web.inner_text("#source")
    web.click("#source button")
    web.wait_for_selector("body[data-video=preview]")
    page.until("document.querySelector('video').duration > 3.5")


def test_a_folder_outside_is_refused_at_its_field(page: Watched) -> None:
    web = page.page
    web.goto(f"{page.address}/recordings")
    web.wait_for_selector("[data-video]")
    web.fill("#folder", "/etc")
    web.press("#folder", "Enter")
    web.wait_for_selector("#folder-error:not([hidden])")
    assert "outside the folders of recordings" in web.inner_text("#folder-error")
    assert web.locator("[data-video]").count() == 0


def test_rows_stay_while_audits_go_on(page: Watched, folder: Path, video: Path) -> None:
    web = page.page
    shutil.copy(video, folder / "evening.mp4")
    shutil.copy(folder / "table.toml", folder / "table2.toml")
    hold_audits(folder, 0.6)
    web.goto(f"{page.address}/recordings")
    chosen = web.get_by_label("Table file for evening.mp4")
    chosen.select_option("table2.toml")
    web.get_by_role("row", name="night.mp4").get_by_role("button", name="Audit").click()
    row = "#audits tr[data-state=running]"
    stop = web.locator(f"{row} button", has_text="Stop")
    stop.focus()
    stop.evaluate("button => { window.kept = button }")
    progress = f"Number(document.querySelector('{row} progress')?.value)"
    page.until(f"{progress} > 0.3")
    for at_s in (1.2, 1.8):
        hold_audits(folder, at_s)
        page.until(f"{progress} > {at_s - 0.3}")
        assert web.evaluate("document.activeElement === window.kept")
    # Where the button goes the focus does not get lost either.
    web.keyboard.press("Enter")
    web.wait_for_selector("#audits tr[data-state=stopped]")
    assert web.evaluate("document.activeElement.textContent") == "Go on"
    hold_audits(folder, 2.4)
    web.keyboard.press("Enter")
    web.wait_for_selector(row)
    assert web.evaluate("document.activeElement.textContent") == "Stop"
    # What was chosen for another recording is still chosen.
    assert chosen.evaluate("select => select.selectedOptions[0].textContent") == "table2.toml"
    # On the recording's own page the button stays as well, and so do the alerts.
    web.click("#audits a")
    web.wait_for_url("**/recordings/1")
    page.until("document.querySelector('#facts').textContent.includes('0:02 of 0:04')")
    alert = web.locator("#alerts button").first
    alert.focus()
    alert.evaluate("button => { window.kept = button }")
    many = "document.querySelectorAll('#alerts button').length"
    before = web.evaluate(many)
    hold_audits(folder, 3.4)
    page.until(f"{many} > {before}")
    assert web.evaluate("document.activeElement === window.kept")
    web.focus("#acts button")
    web.evaluate("window.kept = document.activeElement")
    hold_audits(folder, 3.7)
    page.until("document.querySelector('#facts').textContent.includes('0:03 of 0:04')")
    assert web.evaluate("document.activeElement === window.kept")
    web.keyboard.press("Enter")
    web.wait_for_selector("#state .badge[data-state=stopped]")
    assert web.evaluate("document.activeElement.textContent") == "Go on"


def test_further_cameras_are_offered_with_files_of_the_same_name(
    page: Watched, folder: Path, table: TableFile
) -> None:
    web = page.page
    assert table.camera is not None
    low = FurtherCamera(name="low", **dict(table.camera))
    text = table_text(table.model_copy(update={"cameras": (low,)}))
    (folder / "two.toml").write_text(text)
    shutil.copy(folder / "night.mp4", folder / "night-low.mp4")
    web.goto(f"{page.address}/recordings")
    row = web.locator("[data-video='night.mp4']")
    row.wait_for()
    assert row.get_by_label("File of camera low").count() == 0
    audit = row.get_by_role("button", name="Audit", exact=True)
    row.locator("select").select_option(label="two.toml")
    field = row.get_by_label("File of camera low for night.mp4")
    assert field.input_value() == "night-low.mp4"
    row.get_by_label("Seconds later that camera low began").fill("0.5")
    # What is read beside another is no new recording of its own.
    assert web.locator("#queue-all").is_hidden()
    audit.click()
    web.get_by_text("with low: night-low.mp4").wait_for()
    web.wait_for_selector("#audits tr[data-state=done]")
    web.click("#audits a")
    web.get_by_text("with low: night-low.mp4").wait_for()
    web.go_back()
    field.wait_for(state="detached")


def test_a_shift_takes_the_files_of_a_further_camera_that_its_rows_name(
    page: Watched, folder: Path, table: TableFile
) -> None:
    web = page.page
    assert table.camera is not None
    low = FurtherCamera(name="low", **dict(table.camera))
    two = table.model_copy(update={"cameras": (low,)})
    (folder / "table.toml").write_text(table_text(two))
    for start in ("180000", "180004"):
        shutil.copy(folder / "night.mp4", folder / f"t1_20261122_{start}.mp4")
        shutil.copy(folder / "night.mp4", folder / f"t1_20261122_{start}-low.mp4")
    shutil.copy(folder / "night.mp4", folder / "low_20261122_180008.mp4")
    web.goto(f"{page.address}/recordings")
    first, second = (
        web.locator(f"[data-video='t1_20261122_{start}.mp4']") for start in ("180000", "180004")
    )
    first.wait_for()
    second.get_by_label("One more for camera low").click()
    more = second.get_by_label("File 2 of camera low for t1_20261122_180004.mp4")
    assert more.evaluate("field => document.activeElement === field")
    more.fill("low_20261122_180008.mp4")
    first.get_by_role("checkbox").check()
    second.get_by_role("checkbox").check()
    web.get_by_role("button", name="Audit 2 files as one shift").click()
    web.get_by_text("with low: t1_20261122_180000-low.mp4 and 2 more").wait_for()
    web.wait_for_selector("#audits tr[data-state=done]")
    web.click("#audits a")
    web.get_by_text("with low: t1_20261122_180000-low.mp4 and 2 more").wait_for()
