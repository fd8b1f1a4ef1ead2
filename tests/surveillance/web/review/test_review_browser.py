"""The review page in a real browser: worked by keyboard and mouse, crashed, shared by two."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route

from datasets.labelled.manifest import Box, Dataset
from tests.surveillance.web.review_browser import Reviewer, stored, stored_labels
from tests.surveillance.web.review_made import FIRST_BOXES, Server, running, start_server
from tests.waiting import until

Enter = Callable[..., Reviewer]


@pytest.fixture
def server(browser: Browser, dataset_folder: Path) -> Iterator[Server]:
    with running(dataset_folder) as server:
        yield server
        # A test may have put another process in the place of the first.


@pytest.fixture
def enter(browser: Browser, server: Server) -> Iterator[Enter]:
    """Bring in a person with a browser of their own; at the end nothing foreign was asked for."""
    people: list[Reviewer] = []

    def enter(name: str | None = None, width: int = 1366, height: int = 768) -> Reviewer:
        context = browser.new_context(viewport={"width": width, "height": height})
        if name:
            cookie = {"name": "feltwatch_person", "value": name, "url": server.address}
            context.add_cookies([cookie])  # type: ignore[list-item]
        people.append(Reviewer(context, server.address))
        return people[-1]

    yield enter
    for person in people:
        person.context.close()
        assert person.foreign == []


@pytest.fixture
def ann(enter: Enter) -> Iterator[Reviewer]:
    """A person whose browser must have nothing to complain about at the end."""
    person = enter()
    person.open()
    yield person
    assert person.complaints == []


def test_boxes_are_named_moved_added_deleted_and_confirmed_by_keyboard(
    ann: Reviewer, dataset_folder: Path
) -> None:
    assert ann.labels() == ["AS", "KD", "QH"]

    # Name the first box, and with Tab go on to the second.
    ann.press("Tab")
    ann.type("td")
    ann.press("Tab")
    # The first letter of a ten is no unknown name.
    ann.type("1")
    assert ann.page.inner_text("#labelfield .warning") == ""
    assert ann.page.locator("#label-options li").first.inner_text().startswith("T")
    ann.type("0s")
    ann.press("Enter")
    ann.saved()
    assert [b.label for b in stored(dataset_folder)] == ["TD", "TS", "QH"]
    assert stored(dataset_folder)[0].score is None

    # Move the second one, and move its lower right corner.
    ann.press(*["ArrowRight"] * 3, "Shift+ArrowDown", "Control+ArrowRight", "Control+ArrowDown")
    until(lambda: stored(dataset_folder)[1].xyxy == (203, 90, 264, 171), "the box was moved")
    ann.press("Alt+ArrowLeft")
    until(lambda: stored(dataset_folder)[1].x0 == 202, "its upper left corner was moved")

    # Each is a step that can be taken back, and done again.
    ann.press("Control+z")
    ann.saved()
    assert stored(dataset_folder)[1].xyxy == (203, 90, 264, 171)
    ann.press("Control+y")
    ann.saved()
    assert ann.page.inner_text("#notice") == "Done again."
    assert stored(dataset_folder)[1].x0 == 202

    ann.press("Delete")
    ann.saved()
    assert stored_labels(dataset_folder) == ["QH", "TD"]

    ann.press("n")
    ann.type("joker")
    ann.press("Enter")
    ann.saved()
    assert stored_labels(dataset_folder) == ["JOKER", "QH", "TD"]
    ann.press("Control+z", "Control+z")
    ann.saved()
    assert stored_labels(dataset_folder) == ["QH", "TD", "TS"]

    ann.press("Escape", "Enter")
    ann.at(2)
    ann.saved()
    with Dataset.open(dataset_folder) as dataset:
        assert dataset.picture(1).confirmed_by == "person:ann"
        assert dataset.picture(1).labelled_by == "person:ann"
    ann.press("ArrowLeft")
    ann.at(1)
    assert "Confirmed" in ann.page.inner_text("#verdict")
    assert "by ann" in ann.page.inner_text("#verdict")
    ann.press("Shift+Enter")
    ann.saved()
    assert "Not confirmed" in ann.page.inner_text("#verdict")


def test_boxes_are_drawn_moved_and_resized_by_mouse(ann: Reviewer, dataset_folder: Path) -> None:
    ann.drag((400, 200), (460, 280))
    ann.type("9h")
    ann.press("Enter")
    ann.saved()
    new = stored(dataset_folder)[-1]
    assert new.label == "9H"
    assert new.xyxy == pytest.approx((400, 200, 460, 280), abs=1.5)

    ann.drag((430, 240), (480, 250))
    until(lambda: stored(dataset_folder)[-1].x0 > 440, "the box was moved")
    assert stored(dataset_folder)[-1].xyxy == pytest.approx((450, 210, 510, 290), abs=2)

    ann.drag((510, 290), (540, 330))
    until(lambda: stored(dataset_folder)[-1].x1 > 530, "the box was made larger")
    assert stored(dataset_folder)[-1].xyxy == pytest.approx((450, 210, 540, 330), abs=2)

    # Over the edge of the image: the box ends there.
    ann.press("Escape")
    ann.drag((600, 400), (700, 520))
    ann.type("back")
    ann.press("Enter")
    ann.saved()
    assert stored(dataset_folder)[-1].xyxy == pytest.approx((600, 400, 640, 480), abs=1.5)

    # A box within a box: Ctrl draws although there is one below.
    ann.page.keyboard.down("Control")
    ann.drag((70, 90), (100, 130))
    ann.page.keyboard.up("Control")
    ann.type("chip")
    ann.press("Enter")
    ann.saved()
    assert stored(dataset_folder)[-1].xyxy == pytest.approx((70, 90, 100, 130), abs=1.5)

    # Without a name it is dropped.
    count = len(stored(dataset_folder))
    ann.press("Escape")
    ann.drag((300, 300), (350, 350))
    ann.press("Escape")
    ann.saved()
    assert len(stored(dataset_folder)) == count


def test_a_turned_box_is_resized_along_its_own_axes(enter: Enter, dataset_folder: Path) -> None:
    turned = Box("back", 200, 200, 300, 260, angle_deg=30)
    with Dataset.open(dataset_folder) as dataset:
        dataset.set_boxes(5, [turned], by="import:x", revision=1)

    def on_picture(box: Box, x: float, y: float) -> tuple[float, float]:
        middle_x, middle_y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        turn = math.radians(30)
        dx, dy = x - middle_x, y - middle_y
        return (
            middle_x + dx * math.cos(turn) - dy * math.sin(turn),
            middle_y + dx * math.sin(turn) + dy * math.cos(turn),
        )

    ann = enter()
    ann.open(picture=5)
    ann.press("Tab")
    # Pull the middle of its right side 40 px out, along its turned axis.
    ann.drag(on_picture(turned, 300, 230), on_picture(turned, 340, 230))
    until(lambda: stored(dataset_folder, 5) != (turned,), "the box was resized")
    [box] = stored(dataset_folder, 5)
    assert box.angle_deg == 30
    assert (box.x1 - box.x0, box.y1 - box.y0) == pytest.approx((140, 60), abs=1.5)
    left = on_picture(box, box.x0, (box.y0 + box.y1) / 2)
    assert left == pytest.approx(on_picture(turned, 200, 230), abs=1.5)
    assert ann.complaints == []


def test_quick_keys_all_count(ann: Reviewer) -> None:
    ann.press(*["ArrowRight"] * 5)
    ann.at(6)
    ann.press(*["PageUp"] * 3)
    ann.at(3)


def test_zoom_and_pan_keep_boxes_on_the_image(ann: Reviewer, dataset_folder: Path) -> None:
    def width() -> float:
        found: float = ann.page.eval_on_selector(
            "#canvas image", "n => n.getBoundingClientRect().width"
        )
        return found

    before = width()
    ann.page.mouse.move(*ann.point(90, 120))
    ann.page.mouse.wheel(0, -600)
    ann.press("+")
    until(lambda: width() > 2 * before, "the picture is shown larger")
    x, y = ann.point(60, 80)
    edge = ann.page.eval_on_selector(
        "#canvas .box[data-label=AS] .edge",
        """n => {
          const { x, y } = new DOMPoint(+n.getAttribute('x'), +n.getAttribute('y'))
            .matrixTransform(n.getScreenCTM());
          return [x, y];
        }""",
    )
    assert tuple(edge) == pytest.approx((x, y), abs=0.6)
    ann.press("Home")
    until(lambda: abs(width() - before) < 0.5, "the whole picture is shown")
    ann.press("Tab", "End")
    tall = ann.page.eval_on_selector("#canvas .selected .edge", "n => +n.getAttribute('height')")
    assert tall > 0.3 * ann.page.eval_on_selector("#stage", "n => n.clientHeight")
    assert stored(dataset_folder) == FIRST_BOXES


def test_images_are_gone_through_by_keyboard_and_filter(
    ann: Reviewer, dataset_folder: Path
) -> None:
    ann.press("ArrowRight")
    ann.at(2)
    ann.press("PageDown", "PageDown")
    ann.at(4)
    ann.press("PageUp")
    ann.at(3)
    ann.press("/")
    ann.page.select_option("#filter-show", "empty")
    ann.page.select_option("#filter-split", "val")
    ann.press("Escape")
    ann.at(3)
    ann.page.wait_for_function("() => document.getElementById('place')?.textContent === '1 of 2'")
    ann.press("PageDown")
    ann.at(6)
    ann.press("PageDown")
    ann.page.locator("#notice").get_by_text("This is the last image.", exact=True).wait_for()
    # A reload comes back to the same place.
    ann.page.reload()
    ann.ready()
    ann.at(6)
    assert ann.page.inner_text("#place") == "2 of 2"
    # A new visit begins where confirmation stopped.
    with Dataset.open(dataset_folder) as dataset:
        for n in (1, 2, 3):
            dataset.confirm(n, by="person:bob", revision=1)
    ann.open(picture=None)
    ann.at(4)
    ann.press("Space")
    ann.at(5)
    ann.press("Space")
    ann.at(6)
    ann.press("Space")
    ann.at(4)


def test_the_deal_is_checked_as_labels_are_typed(ann: Reviewer, dataset_folder: Path) -> None:
    strip = ann.page.locator("#deal")
    strip.get_by_text("4 of 53").wait_for()
    assert ann.page.locator("#deal .card").count() == 53
    assert ann.page.get_attribute("[data-card=AS]", "aria-label") == "ace of spades: this image"
    assert ann.page.locator("[data-card='2C']").get_attribute("aria-label") == "2 of clubs: 2.jpg"
    ann.press("Tab")
    ann.type("2c")
    warning = ann.page.locator("#labelfield .warning")
    warning.get_by_text("2♣").wait_for()
    assert "lies twice in this deal: here and 2.jpg" in warning.inner_text()
    assert "double" in (ann.page.get_attribute("[data-card='2C']", "class") or "").split()
    assert stored(dataset_folder) == FIRST_BOXES
    ann.press("Enter")
    ann.saved()
    card = ann.page.locator("[data-card='2C']")
    assert "double" in (card.get_attribute("class") or "").split()
    assert "‼" in card.inner_text()
    assert "twice: 2♣" in strip.inner_text().replace("\ufe0e", "")
    # It can be confirmed all the same, but not by accident.
    ann.press("Escape", "Enter")
    ann.page.get_by_text("Enter again confirms").wait_for()
    with Dataset.open(dataset_folder) as dataset:
        assert dataset.picture(1).confirmed_by is None
    ann.press("Enter")
    ann.at(2)
    ann.saved()
    with Dataset.open(dataset_folder) as dataset:
        assert dataset.picture(1).confirmed_by == "person:ann"


def test_an_unknown_label_is_added_only_on_purpose(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("Tab")
    ann.type("plaque")
    ann.press("Enter")
    assert "no label “plaque”" in ann.page.inner_text("#labelfield .warning")
    assert stored_labels(dataset_folder) == ["AS", "KD", "QH"]
    ann.press("Control+Enter")
    ann.saved()
    until(lambda: "plaque" in stored_labels(dataset_folder), "the label was added")


def test_history_brings_boxes_back(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("Tab", "Delete", "Tab", "Delete")
    ann.saved()
    ann.press("Escape", "h")
    ann.page.get_by_role("button", name="Bring these boxes back").last.click()
    ann.saved()
    until(lambda: stored(dataset_folder) == FIRST_BOXES, "the first boxes are back")
    ann.press("Control+z")
    ann.saved()
    until(lambda: stored_labels(dataset_folder) == ["QH"], "that was undone")


def test_keys_are_listed_and_the_name_can_be_changed(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("?")
    assert ann.page.locator("#keys").is_visible()
    assert "take the confirmation back" in ann.page.inner_text("#keys")
    ann.press("Escape")
    ann.page.click("#person")
    ann.type("Zoë")
    ann.press("Enter")
    ann.page.wait_for_function("() => document.getElementById('person')?.textContent === 'Zoë'")
    ann.press("Tab", "Delete")
    ann.saved()
    with Dataset.open(dataset_folder) as dataset:
        assert dataset.picture(1).labelled_by == "person:Zoë"


def test_a_killed_server_loses_nothing(enter: Enter, server: Server, dataset_folder: Path) -> None:
    ann = enter()
    ann.open()
    ann.press("Tab")
    ann.type("td")
    ann.press("Enter")
    ann.saved()
    server.kill()
    assert stored_labels(dataset_folder) == ["KD", "QH", "TD"]

    # Work goes on while nothing answers, and the page says so loudly.
    ann.press("Delete")
    ann.page.wait_for_selector("#alarm:not([hidden])")
    assert "NOT SAVED: 1.jpg" in ann.page.inner_text("#alarm")
    assert ann.page.inner_text("#saved") == "▲ 1 not saved"
    ann.press("Tab")
    ann.type("9c")
    ann.press("Enter")
    assert stored_labels(dataset_folder) == ["KD", "QH", "TD"]

    again = start_server(dataset_folder, server.port)
    server.process = again.process
    ann.saved()
    assert stored_labels(dataset_folder) == ["9C", "QH"]
    assert ann.page.locator("#alarm").is_hidden()
    # Undo still knows every step.
    ann.press("Control+z", "Control+z", "Control+z")
    ann.saved()
    assert stored(dataset_folder) == FIRST_BOXES


def test_a_server_killed_amid_a_run_of_edits_loses_none(
    enter: Enter, server: Server, dataset_folder: Path
) -> None:
    ann = enter()
    ann.open(picture=6)
    for n in range(9):
        ann.press("Escape", "n")
        ann.type("chip")
        ann.press("Enter")
        if n in (2, 5):
            # No word is waited for: a save may be on its way, or its answer.
            server.kill()
            server.process = start_server(dataset_folder, server.port).process
    ann.saved()
    assert stored_labels(dataset_folder, 6) == ["chip"] * 9
    assert ann.page.locator("#conflict").is_hidden()
    with Dataset.open(dataset_folder) as dataset:
        revisions = [change.revision for change in dataset.history(6)]
    assert revisions == list(range(1, len(revisions) + 1))


def test_edits_outlive_server_and_page_together(
    enter: Enter, server: Server, dataset_folder: Path
) -> None:
    ann = enter()
    ann.open()
    server.kill()
    ann.press("Tab", "Delete", "Tab")
    ann.type("5s")
    ann.press("Enter")
    ann.page.wait_for_selector("#saved.bad")
    ann.page.close()
    assert stored(dataset_folder) == FIRST_BOXES
    server.process = start_server(dataset_folder, server.port).process
    ann.page = ann.new_page()
    ann.open(picture=4)
    until(lambda: stored_labels(dataset_folder) == ["5S", "QH"], "the edits were sent")
    ann.saved()
    # Nothing waits to be saved; the steps stay, so that they can be undone.
    kept = ann.page.evaluate("Object.keys(localStorage).map((name) => name.split('.')[1])")
    assert kept == ["steps"]


def test_an_answer_that_got_lost_is_no_conflict(enter: Enter, dataset_folder: Path) -> None:
    ann = enter()
    ann.open()
    lost: list[str] = []
    held: list[Route] = []
    was_seen = False

    def lose_first(route: Route) -> None:
        if not lost:
            lost.append(route.fetch().text())
            route.abort()
        elif was_seen:
            route.continue_()
        else:
            # The page tries again after half a second: not before the loss was looked for.
            held.append(route)

    ann.page.route("**/boxes", lose_first)
    ann.press("Tab", "Delete")
    ann.page.wait_for_selector("#saved.bad")
    was_seen = True
    for route in held:
        route.continue_()
    ann.press("Tab", "Delete")
    ann.saved()
    assert lost
    assert ann.page.locator("#conflict").is_hidden()
    with Dataset.open(dataset_folder) as dataset:
        assert [b.label for b in dataset.boxes(1)] == ["QH"]
        assert dataset.picture(1).revision == 3


@pytest.mark.parametrize(("key", "kept"), [("1", ["AS", "KD"]), ("2", ["2D", "KD", "QH"])])
def test_two_people_are_asked_which_version_to_keep(
    enter: Enter, dataset_folder: Path, key: str, kept: list[str]
) -> None:
    ann, bob = enter("ann"), enter("bob")
    bob.page.clock.install()
    for person in (ann, bob):
        person.open()
        # Neither sees the other's change before saving.
        person.page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    ann.press("Tab")
    ann.type("2d")
    ann.press("Enter")
    ann.saved()
    # From here on time passes for him as set, however slow the machine.
    bob.page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))
    bob.press("Shift+Tab", "Delete")
    bob.page.wait_for_selector("#conflict[open]")
    # Whoever goes on typing has not chosen.
    bob.page.clock.run_for(500)
    bob.press("1", "2", "Enter", " ")
    assert bob.page.locator("#conflict.ready").count() == 0
    bob.page.clock.run_for(500)
    bob.page.wait_for_selector("#conflict.ready[open]")
    shown = bob.page.inner_text("#conflict")
    assert "1.jpg was changed by ann meanwhile" in shown
    assert "only here: A♠" in shown.replace("\ufe0e", "")
    assert "only here: 2♦, Q♥" in shown.replace("\ufe0e", "")
    assert bob.page.locator("#conflict svg").count() == 2
    # Nor do Escape and Enter choose, and nothing is saved before somebody does.
    bob.press("Escape", "Enter")
    assert bob.page.locator("#conflict").is_visible()
    assert stored_labels(dataset_folder) == ["2D", "KD", "QH"]
    bob.press(key)
    bob.saved()
    assert bob.page.locator("#conflict").is_hidden()
    until(lambda: stored_labels(dataset_folder) == kept, "the version chosen is kept")
    assert bob.labels() == kept
    with Dataset.open(dataset_folder) as dataset:
        by = [change.by for change in dataset.history(1)]
    assert by == ["model:v1", "person:ann", "person:bob"][: 3 if key == "1" else 2]


def test_a_confirmation_of_what_another_changed_is_asked_about(
    enter: Enter, dataset_folder: Path
) -> None:
    bob = enter("bob")
    bob.open(picture=5)
    bob.page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    with Dataset.open(dataset_folder) as dataset:
        dataset.set_boxes(5, [Box("AS", 1, 1, 9, 9)], by="person:ann", revision=1)
    bob.press("Control+Enter")
    bob.page.wait_for_selector("#conflict.ready[open]")
    bob.press("2")
    bob.saved()
    with Dataset.open(dataset_folder) as dataset:
        assert dataset.picture(5).confirmed_by is None
        assert len(dataset.boxes(5)) == 1


def test_what_another_saved_is_shown_by_itself(ann: Reviewer, dataset_folder: Path) -> None:
    with Dataset.open(dataset_folder) as dataset:
        dataset.set_boxes(1, FIRST_BOXES[:1], by="person:bob", revision=1)
    ann.page.get_by_text("bob changed this image.").wait_for()
    assert ann.labels() == ["AS"]


def test_a_refused_save_is_said_and_can_be_undone(enter: Enter, dataset_folder: Path) -> None:
    ann = enter()
    ann.open()
    ann.page.route(
        "**/boxes", lambda route: route.fulfill(status=422, json={"detail": "no such day"})
    )
    ann.press("Tab", "Delete")
    ann.page.get_by_text("NOT SAVED: 1.jpg: no such day. Undo (Ctrl+Z) or change it.").wait_for()
    ann.press("Control+z")
    ann.saved()
    assert ann.page.locator("#alarm").is_hidden()
    assert stored(dataset_folder) == FIRST_BOXES


def test_an_address_of_an_image_that_is_gone_leads_to_another(enter: Enter) -> None:
    ann = enter()
    ann.open(picture=999)
    ann.at(1)
    assert ann.labels() == ["AS", "KD", "QH"]


def test_a_broken_image_is_reported(enter: Enter, dataset_folder: Path) -> None:
    (dataset_folder / "pictures" / "1.jpg").write_bytes(b"broken")
    ann = enter()
    ann.open()
    ann.page.get_by_text("1.jpg cannot be shown: the file is missing or broken.").wait_for()
    ann.press("ArrowRight")
    ann.at(2)


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (3840, 2160)])
def test_the_page_is_right_at_both_sizes(
    enter: Enter, tmp_path: Path, width: int, height: int
) -> None:
    ann = enter(width=width, height=height)
    ann.open()
    ann.page.locator("#deal .card").first.wait_for()
    ann.press("Tab")
    measured = ann.page.evaluate(
        """() => {
          const box = id => document.getElementById(id).getBoundingClientRect();
          const cut = [...document.querySelectorAll('.bar > *, .bar button, #verdict *, #deal b')]
            .filter(n => getComputedStyle(n).display !== 'inline')
            .filter(n => n.scrollWidth > n.clientWidth + 1)
            .map(n => n.outerHTML.slice(0, 80));
          return {
            scrolls: document.documentElement.scrollWidth > innerWidth
              || document.documentElement.scrollHeight > innerHeight,
            cut,
            letter: parseFloat(getComputedStyle(document.documentElement).fontSize),
            stage: box('stage').width * box('stage').height / (innerWidth * innerHeight),
            bottom: box('hint').bottom, right: box('side').right,
            unnamed: [...document.querySelectorAll('button, input, select')]
              .filter(n => !n.closest('dialog, [hidden]') && !n.textContent.trim()
                && !n.ariaLabel && !n.labels?.length).length,
          };
        }"""
    )
    assert measured["scrolls"] is False
    assert measured["cut"] == []
    assert measured["stage"] > 0.45
    assert (measured["right"], measured["bottom"]) == pytest.approx((width, height), abs=1)
    # A letter of 16 px at 1366 and 28 px at 3840 px: read from two metres.
    assert measured["letter"] >= (16 if width == 1366 else 28)
    assert measured["unnamed"] == 0
    ann.page.screenshot(path=tmp_path / f"review-{width}.png")
    assert ann.complaints == []


def test_the_next_image_is_there_at_once(ann: Reviewer) -> None:
    # It was fetched while the one before was looked at.
    for what in ("/pictures/2", "/pictures/2/image"):
        ann.page.wait_for_function(
            """what => performance.getEntriesByType('resource')
              .some(one => new URL(one.name).pathname.endsWith(what) && one.responseEnd > 0)""",
            arg=what,
        )
    # So it comes although nothing that is asked for from now on is answered.
    held: list[Route] = []
    ann.page.route("**", lambda route: held.append(route))
    ann.press("ArrowRight")
    ann.at(2)
    ann.page.locator("#canvas .box[data-label='2C']").wait_for()
    assert ann.page.get_attribute("#canvas image", "href").endswith("/pictures/2/image")  # type: ignore[union-attr]
    for route in held:
        route.continue_()
    ann.page.unroute("**")
