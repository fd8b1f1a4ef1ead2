"""Calibrating and editing a table file in a real browser, at `feltwatch calibrate` itself."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.surveillance.web.laid_browser import calibrate_page
from tests.surveillance.web.tools_made import COMMENT, SAMPLE, Watched, table_copy
from vision.geometry.calibration import Calibration
from vision.geometry.table import load_table


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    """The page that the command opens."""
    with calibrate_page(browser, SAMPLE / "video.mp4", table_copy(tmp_path)) as watched:
        watched.until("document.body.dataset.fitted === 'true'")
        yield watched


def error_px(page: Watched) -> float:
    page.until("document.body.dataset.fitted === 'true'")
    return float(page.page.inner_text("#fit dd").split()[0])


def middle(page: Watched, point: int) -> tuple[float, float]:
    box = page.page.locator(f"[data-point='{point}'] .ring").bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def edit(page: Watched) -> None:
    """From calibrating to the editor, which calls itself ready by the same name."""
    page.page.click("text=Edit the table")
    page.page.wait_for_selector("#tab-rules")
    page.until("document.body.dataset.editor === 'ready'")


def saved(page: Watched) -> None:
    page.until("document.body.dataset.state === 'ok'")


def test_points_are_dragged_nudged_added_and_saved(page: Watched, tmp_path: Path) -> None:
    path = tmp_path / "t1.toml"
    before = load_table(path).camera
    assert before is not None
    assert error_px(page) == pytest.approx(Calibration.fit(before).rms_px, abs=0.01)
    assert page.page.locator(".outline").count() > 30
    page.page.click("#sights summary")
    assert page.page.locator("#sight-rows tr").count() == 6
    assert "off the vertical" in page.page.inner_text("#hints")
    page.page.click("#sights summary")

    # By mouse: wide of its mark, and what is wrong is shown while it is dragged.
    x, y = middle(page, 4)
    mouse = page.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 6, y + 4, steps=3)
    page.until("document.querySelector('.point.is-bad')")
    mouse.up()
    page.page.wait_for_selector("#problem:not([hidden])")
    assert "check point 5" in page.page.inner_text("#problem")
    page.page.wait_for_selector("body[data-state=bad]")
    assert page.page.is_disabled("#save")
    page.page.keyboard.press("Control+z")
    page.page.wait_for_selector("#problem[hidden]", state="attached")
    assert error_px(page) == pytest.approx(Calibration.fit(before).rms_px, abs=0.01)

    # By keyboard: half a px a press, Shift ten times that.
    page.page.focus("#stage")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("Shift+ArrowUp")
    page.page.keyboard.press("Alt+ArrowLeft")
    # A further point, where the fit shows it.
    page.page.select_option("#mark", label="Seat 4, Main: middle")
    page.page.click("#add")
    page.until(f"document.querySelectorAll('#points tr').length === {len(before.points) + 1}")
    page.page.wait_for_selector("body[data-state=warn]")
    page.page.keyboard.press("Control+s")
    saved(page)

    after = load_table(path).camera
    assert after is not None
    assert len(after.points) == len(before.points) + 1
    moved = [i for i, (a, b) in enumerate(zip(before.points, after.points, strict=False)) if a != b]
    assert len(moved) == 1
    was, now = before.points[moved[0]].image_px, after.points[moved[0]].image_px
    assert now[0] - was[0] == pytest.approx(0.45, abs=0.011)
    assert now[1] - was[1] == pytest.approx(-5.0, abs=0.011)
    added = after.points[-1]
    shown = Calibration.fit(before).felt_to_image(
        load_table(path).seat(4).spots["main"].array.mean(axis=0)[None]
    )[0]
    assert added.image_px == pytest.approx(tuple(shown), abs=2.0)
    assert COMMENT in path.read_text()

    # Four points are the least.
    for _ in range(len(after.points) - 4):
        page.page.click("#points tr:first-child button")
    page.page.click("#points tr:first-child button")
    page.page.wait_for_selector(".toast[data-kind=bad]")
    assert page.page.locator("#points tr").count() == 4


def test_another_image_is_sent_and_broken_ones_are_reported(page: Watched, tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff" + b"nothing" * 30)
    page.page.set_input_files("#picture-file", tmp_path / "broken.jpg")
    page.page.wait_for_selector(".toast[data-kind=bad]")
    assert page.page.is_hidden("#veil")
    Image.new("RGB", (1920, 1080), (90, 120, 90)).save(tmp_path / "half.png")
    page.page.set_input_files("#picture-file", tmp_path / "half.png")
    page.until("document.querySelector('#picture-from option')?.text.includes('1920')")
    # A smaller image of the same shape keeps the camera's px.
    assert page.page.inner_text("#state") == "saved"
    Image.new("RGB", (1600, 1200), (90, 120, 90)).save(tmp_path / "other.png")
    page.page.set_input_files("#picture-file", tmp_path / "other.png")
    page.page.wait_for_selector("body[data-state=warn], body[data-state=bad]")


def test_the_editor_checks_as_one_types_and_writes(page: Watched, tmp_path: Path) -> None:
    path = tmp_path / "t1.toml"
    edit(page)
    least = "[data-key='rules.limits.main.min_cents']"
    page.page.fill(least, "900")
    page.page.press(least, "Tab")
    page.page.wait_for_selector("#faults li, .fault:not(:empty)")
    page.page.wait_for_selector("body[data-state=bad]")
    assert "min_cents 90000 is above max_cents 50000" in page.page.inner_text("main")
    assert page.page.is_disabled("#save")
    page.page.fill(least, "25")
    page.page.press(least, "Tab")
    page.page.wait_for_selector("body[data-state=warn]")

    page.page.click("#tab-chips")
    page.page.fill("[data-key='chips.red.value_cents']", "7.50")
    page.page.press("[data-key='chips.red.value_cents']", "Tab")
    page.page.click("#tab-felt")
    page.page.fill("[data-key='seats.2.spots.main.x']", "9000")
    page.page.press("[data-key='seats.2.spots.main.x']", "Tab")
    page.page.wait_for_selector("[data-fault='seats.2.spots.main']:not(:empty)")
    assert "off the felt" in page.page.inner_text("[data-fault='seats.2.spots.main']")
    page.page.evaluate("document.activeElement.blur()")
    page.page.keyboard.press("Control+z")
    page.page.wait_for_selector("body[data-state=warn]")

    # A spot is dragged on the drawing, then moved by keys.
    shape = page.page.locator("[data-shape='seats.2.spots.main'].shape")
    box = shape.bounding_box()
    assert box
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] / 2 + 9, box["y"] + box["height"] / 2, steps=3)
    page.page.mouse.up()
    page.page.keyboard.press("ArrowDown")
    page.page.wait_for_selector("body[data-state=warn]")
    page.page.keyboard.press("Control+s")
    saved(page)
    table = load_table(path)
    assert table.rules.limits["main"].min_cents == 2500
    assert table.chips["red"].value_cents == 750
    former = load_table(SAMPLE / "table.toml").seat(3).spots["main"].center_mm
    now = table.seat(3).spots["main"].center_mm
    assert now[0] - former[0] > 10
    assert now[1] - former[1] == pytest.approx(1.0, abs=0.11)
    assert COMMENT in path.read_text()
    assert len(list((tmp_path / ".backups").iterdir())) == 1

    # Somebody else writes the file: this page's change is refused, theirs stays.
    path.write_text(path.read_text() + "\n# theirs\n")
    page.page.click("#tab-rules")
    page.page.fill(least, "15")
    page.page.press(least, "Tab")
    page.page.wait_for_selector("body[data-state=warn]")
    page.page.click("#save")
    page.page.wait_for_selector(".toast[data-kind=bad]")
    assert "changed it meanwhile" in page.page.inner_text("#state")
    assert tomllib.loads(path.read_text())["rules"]["limits"]["main"]["min_cents"] == 2500


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (3840, 2160)])
def test_the_pages_fit_their_window(page: Watched, width: int, height: int) -> None:
    page.page.set_viewport_size({"width": width, "height": height})
    for path in ("", "edit"):
        if path:
            edit(page)
            page.page.click("#tab-felt")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
