"""The alert queue in a real browser: worked by keyboard, while alerts arrive and change."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta

from surveillance.alerts.model import Alert
from surveillance.store import AlertFilter, NewAlert
from tests.surveillance.web.room.room_browser import Visit, at, held, numbers, press, queue, shown
from tests.surveillance.web.room_made import MadeRoom
from tests.waiting import until


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
    # And in the precision of its code, without loading it again.
    page.get_by_text(re.compile(r"was right .* verdicts?\)")).wait_for()


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
