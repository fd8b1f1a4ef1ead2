"""Labelling at the review page: many boxes at once, turned boxes, suggestions, steps kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from benchmarks.review import crowded_dataset
from datasets.labelled.diff import diff_datasets
from datasets.labelled.manifest import Box, Dataset
from datasets.labelled.suggestions import Suggestions, keep_suggestions
from tests.surveillance.web.review_browser import Reviewer, stored, stored_labels
from tests.surveillance.web.review_made import FIRST_BOXES, make_dataset, running
from tests.waiting import until


@pytest.fixture
def ann(browser: Browser, dataset_folder: Path) -> Iterator[Reviewer]:
    """A person at the first image, whose browser must have nothing to complain about."""
    with running(dataset_folder) as server:
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        person = Reviewer(context, server.address)
        person.open()
        yield person
        context.close()
        assert person.complaints == []
        assert person.foreign == []


def click(ann: Reviewer, x: float, y: float, *modifiers: str) -> None:
    for key in modifiers:
        ann.page.keyboard.down(key)
    ann.page.mouse.click(*ann.point(x, y))
    for key in modifiers:
        ann.page.keyboard.up(key)


def test_several_boxes_are_named_moved_and_deleted_at_once(
    ann: Reviewer, dataset_folder: Path
) -> None:
    click(ann, 90, 120)
    click(ann, 230, 120, "Control")
    assert "2 of 3 boxes" in ann.page.inner_text("#hint")
    ann.type("10c")
    ann.press("Enter")
    ann.saved()
    assert stored_labels(dataset_folder) == ["QH", "TC", "TC"]
    # Let go, and take all of one name again.
    ann.press("Escape", "Tab", "*")
    assert "2 of 3 boxes" in ann.page.inner_text("#hint")
    ann.press("Shift+ArrowRight")
    until(lambda: [b.x0 for b in stored(dataset_folder)] == [70, 210, 60], "both were moved")
    ann.press("Control+z", "Control+z")
    ann.saved()
    assert [b.label for b in stored(dataset_folder)] == ["AS", "KD", "QH"]

    # A frame selects what has its centre within; Delete deletes all of it, as one step.
    ann.press("Escape")
    ann.page.keyboard.down("Control")
    ann.page.keyboard.down("Shift")
    ann.drag((30, 60), (160, 400))
    ann.page.keyboard.up("Shift")
    ann.page.keyboard.up("Control")
    ann.press("Delete")
    ann.saved()
    assert stored_labels(dataset_folder) == ["KD"]
    ann.press("Control+z")
    ann.saved()
    assert stored_labels(dataset_folder) == ["AS", "KD", "QH"]

    ann.press("Control+a", "ArrowDown")
    until(lambda: [b.y0 for b in stored(dataset_folder)] == [81, 81, 301], "all were moved")
    # A group stops where its first box meets the edge: its boxes keep their distances.
    ann.press(*["Shift+ArrowLeft"] * 9)
    until(lambda: [b.x0 for b in stored(dataset_folder)] == [0, 140, 0], "the group stops")


def test_boxes_are_copied_from_the_image_before(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("c")
    assert "first image" in ann.page.inner_text("#notice")
    ann.press("ArrowRight", "ArrowRight")
    ann.at(3)
    ann.press("c")
    ann.saved()
    assert stored_labels(dataset_folder, 3) == ["2C"]
    ann.press("Escape", "c")
    assert "left out" in ann.page.inner_text("#notice")
    assert stored_labels(dataset_folder, 3) == ["2C"]

    ann.press("ArrowLeft", "ArrowLeft")
    ann.at(1)
    ann.press("Control+a", "Control+c", "Escape", "ArrowRight", "ArrowRight", "ArrowRight")
    ann.at(4)
    ann.press("Control+v", "ArrowRight")
    until(lambda: stored_labels(dataset_folder, 4) == ["AS", "KD", "QH"], "they were pasted")
    until(lambda: stored(dataset_folder, 4)[0].x0 == 61, "what was pasted is selected")
    assert stored(dataset_folder, 4)[0].score is None


def test_boxes_are_turned_by_key_and_by_knob(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("Tab", ".", ".", ".")
    until(lambda: stored(dataset_folder)[0].angle_deg == 3, "it was turned by keys")
    ann.press(":")
    until(lambda: stored(dataset_folder)[0].angle_deg == 18, "it was turned farther")
    assert stored(dataset_folder)[0].xyxy == FIRST_BOXES[0].xyxy

    x, y, width, height = ann.edges("#canvas .knob")
    ann.page.mouse.move(x + width / 2, y + height / 2)
    ann.page.mouse.down()
    # Straight to the right of the centre: a quarter turn.
    ann.page.mouse.move(*ann.point(150, 121))
    ann.page.mouse.move(*ann.point(170, 120))
    ann.page.mouse.up()
    until(
        lambda: stored(dataset_folder)[0].angle_deg == pytest.approx(90, abs=1),
        "it was turned by the knob",
    )
    ann.press("Control+z", "Control+z", "Control+z")
    ann.saved()
    assert stored(dataset_folder)[0].angle_deg is None


def test_a_turned_box_is_drawn_along_its_edge(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("r")
    # An edge at 30 degrees, 80 px long; then 40 px across.
    start = np.array([400.0, 200.0])
    along = np.array([math.cos(math.pi / 6), math.sin(math.pi / 6)])
    across = np.array([-along[1], along[0]])
    end = start + 80 * along
    far = end + 40 * across
    ann.drag(tuple(start), tuple(end))
    ann.page.mouse.move(*ann.point(*(end + 20 * across)))
    ann.page.mouse.click(*ann.point(*far))
    ann.type("9h")
    ann.press("Enter")
    ann.saved()
    box = stored(dataset_folder)[-1]
    centre = start + 40 * along + 20 * across
    assert box.label == "9H"
    assert box.angle_deg == pytest.approx(30, abs=1)
    assert (box.x1 - box.x0, box.y1 - box.y0) == pytest.approx((80, 40), abs=2)
    assert ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2) == pytest.approx(tuple(centre), abs=1.5)

    # Escape gives up half way; the next drag draws an upright box again.
    ann.press("Escape", "r")
    ann.drag((300, 300), (360, 320))
    ann.press("Escape")
    ann.drag((300, 300), (360, 360))
    ann.type("9d")
    ann.press("Enter")
    ann.saved()
    assert stored(dataset_folder)[-1].angle_deg is None
    assert len(stored(dataset_folder)) == 5


def test_steps_can_be_undone_after_a_reload(ann: Reviewer, dataset_folder: Path) -> None:
    ann.press("Tab")
    ann.type("td")
    ann.press("Enter", "Delete")
    ann.press("n")
    ann.type("joker")
    ann.press("Enter")
    ann.saved()
    ann.press("Escape", "Control+z")
    ann.saved()
    assert stored_labels(dataset_folder) == ["KD", "QH"]
    ann.page.reload()
    ann.ready()
    ann.press("Control+y")
    until(lambda: stored_labels(dataset_folder) == ["JOKER", "KD", "QH"], "done again")
    ann.press("Control+z", "Control+z")
    until(lambda: stored_labels(dataset_folder) == ["KD", "QH", "TD"], "undone twice")
    ann.saved()
    ann.page.reload()
    ann.ready()
    ann.press("Control+z")
    until(lambda: stored(dataset_folder)[0].label == "AS", "the first step is undone")
    assert stored(dataset_folder) == FIRST_BOXES
    ann.press("Control+z")
    assert "Nothing left to undo" in ann.page.inner_text("#notice")
    ann.saved()

    # Somebody else's change ends what could be undone here.
    ann.press("Tab", "ArrowDown")
    until(lambda: stored(dataset_folder)[0].y0 == 81, "one more step")
    ann.saved()
    with Dataset.open(dataset_folder) as dataset:
        now = dataset.picture(1).revision
        dataset.set_boxes(1, [Box("QS", 1, 1, 9, 9)], by="person:bob", revision=now)
    ann.page.reload()
    ann.ready()
    ann.press("Control+z")
    assert "Nothing left to undo" in ann.page.inner_text("#notice")
    assert stored_labels(dataset_folder) == ["QS"]


@pytest.fixture
def suggested_folder(dataset_folder: Path, tmp_path: Path) -> Path:
    """The dataset with suggestions: four for image 1, one each for 2 and 5."""
    other = make_dataset(tmp_path / "other")
    changes: dict[int, list[Box]] = {
        # AS is called AC, KD is not there, QH is looser, and a JOKER more.
        1: [
            Box("AC", 60, 80, 120, 160, score=0.9),
            Box("QH", 70, 315, 135, 400, score=0.8),
            Box("JOKER", 400, 300, 460, 380, score=0.7),
        ],
        5: [Box("9S", 10, 10, 60, 80, score=0.6)],
        2: [],
    }
    with Dataset.open(other) as second:
        for id, boxes in changes.items():
            second.set_boxes(id, boxes, by="model:v2", revision=1)
        with Dataset.open(dataset_folder) as dataset:
            diff_datasets(dataset, second, found=keep_suggestions(dataset, "model:v2"))
    return dataset_folder


def hints(ann: Reviewer, count: int) -> None:
    """Wait until so many suggestions are drawn."""
    drawn = ann.page.locator("#canvas .hint")
    until(lambda: drawn.count() == count, f"{count} suggestions are left")


def test_suggestions_are_accepted_and_rejected_by_key(
    suggested_folder: Path, ann: Reviewer
) -> None:
    ann.page.wait_for_selector("#suggestions h2")
    assert ann.page.inner_text("#suggestions h2").endswith("4")
    assert ann.page.locator("#canvas .hint").count() == 4
    # What is selected shows that it is: suggestions for it are out of its way.
    ann.press("Control+a")
    hints(ann, 1)
    ann.press("Escape")
    hints(ann, 4)
    # The surest first: A♠ is A♣.
    assert "A♠ is A♣" in ann.page.inner_text("#hint").replace("\ufe0e", "")
    ann.press("a")
    until(lambda: stored_labels(suggested_folder) == ["AC", "KD", "QH"], "the name was taken")
    assert stored(suggested_folder)[0].score is None
    hints(ann, 3)
    # KD is not found by the model: the person knows better.
    until(lambda: "delete K" in ann.page.inner_text("#hint"), "the next one's turn")
    ann.press("x")
    ann.saved()
    with Dataset.open(suggested_folder) as dataset:
        kept = Suggestions(dataset).of(1)
        assert kept is not None
        assert len(kept.rejected) == 1
    ann.press("Shift+A")
    until(lambda: stored_labels(suggested_folder) == ["AC", "JOKER", "KD", "QH"], "all were taken")
    assert next(b for b in stored(suggested_folder) if b.label == "QH").xyxy == (70, 315, 135, 400)
    hints(ann, 0)

    # Each is a step that can be taken back, the rejection too; what was rejected stays so.
    assert "Accepted all" in ann.page.inner_text("#notice")
    ann.press("Control+z")
    assert ann.page.inner_text("#notice") == "Undone."
    until(lambda: stored_labels(suggested_folder) == ["AC", "KD", "QH"], "taken back")
    hints(ann, 2)
    ann.saved()
    ann.page.reload()
    ann.ready()
    hints(ann, 2)
    ann.press("Control+z")
    hints(ann, 3)
    ann.saved()
    with Dataset.open(suggested_folder) as dataset:
        kept = Suggestions(dataset).of(1)
        assert kept is not None
        assert kept.rejected == frozenset()


def test_images_come_by_disagreement(suggested_folder: Path, ann: Reviewer) -> None:
    ann.page.select_option("#filter-order", "disagreement")
    ann.at(1)
    ids = "nodes => nodes.map((n) => +n.dataset.id)"
    until(
        lambda: ann.page.eval_on_selector_all("#film button", ids) == [1, 2, 5],
        "those that differ, the most first",
    )
    until(lambda: ann.page.inner_text("#place") == "1 of 3", "only those are counted")
    ann.page.focus("#stage")
    ann.press("ArrowRight")
    ann.at(2)
    ann.press("ArrowRight")
    ann.at(5)
    ann.page.wait_for_selector("#canvas .hint")
    # Accepted and confirmed: on to the next that nobody confirmed.
    ann.press("a", "Enter")
    ann.saved()
    assert stored_labels(suggested_folder, 5) == ["9S"]
    ann.at(1)
    ann.page.reload()
    ann.ready()
    assert ann.page.input_value("#filter-order") == "disagreement"
    ann.at(1)


@pytest.mark.parametrize("query", ["", "&show=confirmed", "&split=val", "&order=disagreement"])
def test_the_address_opens_the_image_it_names(
    ann: Reviewer, dataset_folder: Path, query: str
) -> None:
    ann.open(picture=5, query=query)
    ann.at(5)
    assert ann.page.title().startswith("5.jpg")


def test_who_labels_is_asked_for(browser: Browser, dataset_folder: Path) -> None:
    with running(dataset_folder, name=None) as server:
        context = browser.new_context()
        ann = Reviewer(context, server.address)
        ann.open()
        ann.page.wait_for_selector("#who[open]")
        ann.page.fill("#who-name", "Zoë")
        ann.press("Enter")
        ann.page.wait_for_selector("#who:not([open])", state="attached")
        ann.press("Tab", "Delete")
        ann.saved()
        with Dataset.open(dataset_folder) as dataset:
            assert dataset.picture(1).labelled_by == "person:Zoë"
        # Once is enough for this browser.
        ann.open()
        assert ann.page.locator("#who[open]").count() == 0
        context.close()
        assert ann.complaints == []


COUNT_CHANGES = """() => {
  window.changes = 0;
  new MutationObserver((found) => {
    for (const { addedNodes, removedNodes } of found) {
      window.changes += addedNodes.length + removedNodes.length;
    }
  }).observe(document.querySelector("main"), { childList: true, subtree: true });
}"""


def test_a_step_changes_what_it_is_about_and_not_2000_boxes(
    browser: Browser, tmp_path: Path
) -> None:
    folder = crowded_dataset(tmp_path / "many", 2000, 3840, 2160)
    with running(folder) as server:
        context = browser.new_context(viewport={"width": 1920, "height": 1080})
        ann = Reviewer(context, server.address)
        ann.page.goto(f"{server.address}datasets/{folder.name}/review?picture=1")
        ann.ready()
        ann.page.evaluate(COUNT_CHANGES)
        ann.press("Tab", "Tab", "ArrowRight", "ArrowDown", ".", ",", "Escape", "Shift+ArrowLeft")
        ann.saved()
        # Every box drawn and listed again by each of these would be 30,000 nodes.
        assert ann.page.evaluate("window.changes") < 300
        ann.page.evaluate("window.changes = 0")
        # Zooming and hiding names draw all boxes again, once each.
        ann.page.evaluate("window.changes = 0")
        ann.press("+", "-", "v", "v", "v")
        assert ann.page.evaluate("window.changes") < 5 * 4 * 2000
        assert ann.page.locator("#canvas .box").count() == 2000
        ann.page.evaluate("window.changes = 0")
        # The number of each line changes with the first box, and its text alone.
        ann.press("Tab", "Delete", "Control+z")
        ann.saved()
        assert ann.page.evaluate("window.changes") < 3 * 2 * 2000
        assert len(stored(folder)) == 2000
        context.close()
        assert ann.complaints == []
