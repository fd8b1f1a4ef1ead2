"""An evening in the room as people have it: two cameras, a server, two people in the browser.

Real RTSP, `feltwatch serve` as its own process, real Chromium. Nothing is given beforehand to
what is tested: the mistakes stand in the sample's truth, and must come to the queue by
themselves.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from surveillance import cli
from tests.e2e.evening_films import SAMPLE, Films, make_films
from tests.rtsp.loopback import RtspServer
from tests.surveillance.live.live_room import PATIENCE_S, wait_for, write_toml
from tests.surveillance.live.serving import serving
from tests.surveillance.web.review_browser import launched

CAMERA_PASSWORD = "s3cret-of-the-evening"
PASSWORDS = {"ann": "seven red chips", "bob": "nine blue chips"}
TABLES = ("pit1-t1", "pit1-t2")
ROUND_S = 600.0
"""For a round to be played and decided; films play again when they are over."""

COMMENT = "set so by the supervisor's leave; c, r and x are letters here"
SHOTS = os.environ.get("FELTWATCH_SHOTS", "")
"""A folder for screenshots, to be looked at; none are made without it."""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Films:
    return make_films(tmp_path_factory.mktemp("films"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@dataclass
class Person:
    """Somebody with a browser of their own; what it complained of and whom it asked."""

    context: BrowserContext
    address: str
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE_S * 1000)
        self.context.on("request", self._asked)
        self.context.on(
            "console", lambda m: self.complaints.append(f"{m.type}: {m.text} {m.location['url']}")
        )
        self.context.on("weberror", lambda e: self.complaints.append(f"error: {e.error}"))

    def _asked(self, request: object) -> None:
        url: str = request.url  # type: ignore[attr-defined]
        if not url.startswith((self.address, "data:")):
            self.foreign.append(url)

    def open(self, path: str) -> Page:
        page = self.context.new_page()
        page.goto(self.address + path.lstrip("/"))
        page.wait_for_selector("body[data-ready=true]")
        return page

    def choose_password(self, page: Page, name: str) -> None:
        for label in ("Password, 12", "once more"):
            page.get_by_label(label).fill(PASSWORDS[name])
        page.keyboard.press("Enter")
        page.wait_for_url(self.address)


def a_place_where_it_is_noon() -> str:
    """A time zone in which the day does not end while the test runs."""
    ahead = 12 - datetime.now(UTC).hour
    return "UTC" if ahead == 0 else f"Etc/GMT{'-' if ahead > 0 else '+'}{abs(ahead)}"


@pytest.fixture
def people(browser: Browser) -> Iterator[Callable[[str], Person]]:
    """Browsers for people; at the end none has complained, none has asked a stranger."""
    there: list[Person] = []

    def enter(address: str) -> Person:
        context = browser.new_context(
            viewport={"width": 1366, "height": 768}, timezone_id=a_place_where_it_is_noon()
        )
        there.append(Person(context, address))
        return there[-1]

    yield enter
    for person in there:
        person.context.close()


def write_site(folder: Path, rtsp: RtspServer) -> Path:
    cameras = []
    for name in TABLES:
        table = folder / f"{name}.toml"
        text = (SAMPLE / "table.toml").read_text(encoding="utf-8")
        table.write_text(re.sub(r'(?m)^table = ".*"', f'table = "{name[-2:]}"', text, count=1))
        cameras.append(
            {
                "name": name, "table_file": table.name, "source": rtsp.url(name),
                "username": "viewer", "password_env": "EVENING_PASSWORD",
            }
        )  # fmt: skip
    return write_toml(
        folder / "site.toml",
        {
            "site": {"name": "The evening"},
            "web": {"port": 0},
            "evidence": {"before_s": 4, "after_s": 2},
            "limits": {"heartbeat_s": 120.0, "start_s": 300.0},
            "camera": cameras,
        },
    )


def until(page: Page, script: str, patience_s: float = PATIENCE_S) -> None:
    # As a function: a plain expression would be evaluated in the page, which its CSP forbids.
    page.wait_for_function(f"() => Boolean({script})", timeout=patience_s * 1000)


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def listed(page: Page) -> dict[tuple[str, str], int]:
    """The alerts of the queue: the newest of each table and title."""
    lines: list[tuple[str, str, int]] = page.eval_on_selector_all(
        "#list li",
        "items => items.map(item => [item.querySelector('.item-low span').textContent.slice(0, 2),"
        " item.querySelector('strong').textContent, Number(item.dataset.id)])",
    )
    return {(table, title): id for table, title, id in reversed(lines)}


def choose(page: Page, alert: int) -> None:
    """Go to an alert by keys."""
    page.keyboard.press("Home")
    for _ in range(page.locator("#list li").count()):
        if page.locator(f"#alert-{alert}[aria-selected=true]").count():
            break
        page.keyboard.press("j")
    page.wait_for_selector(f"#detail[data-alert='{alert}']")


def test_two_tables_are_watched_judged_and_reported(
    tmp_path: Path, films: Films, people: Callable[[str], Person]
) -> None:
    later: list[str] = []
    mounts = dict(zip(TABLES, (films.first, films.second), strict=True))
    with RtspServer(mounts, "viewer", CAMERA_PASSWORD) as rtsp:
        site_file = write_site(tmp_path, rtsp)
        with serving(site_file, later, EVENING_PASSWORD=CAMERA_PASSWORD) as (process, lines):
            link = re.search(r"(http://\S+/)(welcome#\S+)", lines[1])
            assert link is not None
            ann, bob = people(link[1]), people(link[1])
            ann_page = ann.open(link[2])
            ann_page.get_by_label("Your name").fill("ann")
            ann.choose_password(ann_page, "ann")
            bob_begins(ann_page, ann, bob)

            wall = bob.open("/")
            queue = bob.open("/alerts")
            queue.wait_for_selector("body[data-queue=ready]")
            both_tables_play(wall)
            confirmed, rejected = mistakes_are_judged(queue, films.codes)
            report_agrees(bob, confirmed, rejected)
            assert CAMERA_PASSWORD not in wall.content() + queue.content()
            for person in (ann, bob):
                for page in person.context.pages:
                    page.close()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0
            for person in (ann, bob):
                assert person.complaints == []
                assert person.foreign == []
    assert [line for line in later if "ERROR" in line or "Traceback" in line] == []
    assert CAMERA_PASSWORD not in "".join(later)
    evidence_stands(tmp_path / "feltwatch-data", confirmed)


def bob_begins(page: Page, ann: Person, bob: Person) -> None:
    """The admin invites a reviewer, who comes in by the link."""
    page.goto(f"{ann.address}people")
    page.get_by_label("Name", exact=True).fill("bob")
    page.locator("#invite-role").select_option("reviewer")
    page.keyboard.press("Enter")
    page.locator("#link-value").wait_for()
    value = page.locator("#link-value")
    invitation = value.evaluate("node => node.value ?? node.textContent")
    own = bob.context.new_page()
    own.goto(invitation)
    own.get_by_text("You log in as bob (reviewer).").wait_for()
    bob.choose_password(own, "bob")
    own.close()


def both_tables_play(wall: Page) -> None:
    for name in TABLES:
        tile = wall.locator("li", has=wall.locator(f"a[href='/tables/view/{name}']"))
        picture = tile.locator(".picture img:not([hidden])")
        picture.wait_for(timeout=PATIENCE_S * 1000)
        assert picture.evaluate("image => image.naturalWidth") == 1280
        before = picture.get_attribute("src")
        wait_for(lambda p=picture, b=before: p.get_attribute("src") != b)  # type: ignore[misc]
        shown = f"document.querySelector(\"a[href='/tables/view/{name}']\")"
        until(wall, f"['running', 'too_slow'].includes({shown}?.dataset.state)")
    shot(wall, "wall")


def mistakes_are_judged(queue: Page, codes: tuple[str, ...]) -> tuple[int, int]:
    """Alerts come by themselves; one is confirmed, one of the other table is rejected."""
    before = set(listed(queue).values())
    titles = {code: queue.evaluate(TITLE, code) for code in codes}
    first, last = ("t1", titles[codes[0]]), ("t2", titles[codes[-1]])

    def both_there() -> bool:
        if queue.locator("#fresh:not([hidden])").count():
            queue.keyboard.press(".")  # what comes while they are fetched is there next time
        return {first, last} <= set(listed(queue)) and bool(set(listed(queue).values()) - before)

    wait_for(both_there, ROUND_S)
    confirmed, rejected = listed(queue)[first], listed(queue)[last]

    queue.wait_for_selector(f"#alert-{confirmed} [title='with a clip']", timeout=PATIENCE_S * 1000)
    choose(queue, confirmed)
    queue.wait_for_selector(".stage[data-kind=pair] img")
    until(
        queue,
        "[...document.querySelectorAll('.stage img')].every(i => i.complete && i.naturalWidth)",
    )
    shot(queue, "alert")
    queue.wait_for_selector(".strip .clip")
    queue.keyboard.press("Space")
    # Half a second was played, though by now it may have come to its end.
    played = "document.querySelector('video')?.played"
    until(queue, f"{played}?.length && {played}.end({played}.length - 1) - {played}.start(0) > 0.5")
    assert queue.evaluate("document.querySelector('video').currentTime") > 0
    assert queue.evaluate("document.querySelector('video').error") is None
    assert queue.evaluate("document.querySelector('video').videoWidth") >= 1280
    shot(queue, "clip")
    queue.keyboard.press("c")
    queue.wait_for_selector(f"#alert-{confirmed}[data-state=confirmed]")

    choose(queue, rejected)
    queue.keyboard.press("e")
    queue.keyboard.type(COMMENT)
    queue.keyboard.press("Escape")
    queue.keyboard.press("r")
    queue.wait_for_selector(f"#alert-{rejected}[data-state=rejected]")
    return confirmed, rejected


TITLE = """async (code) => JSON.parse(document.getElementById('start').textContent)
  .codes.find((one) => one.code === code).title"""


def report_agrees(bob: Person, confirmed: int, rejected: int) -> None:
    """The day's report as page, PDF and CSV, beside the verdicts given."""
    page = bob.open("/reports")
    page.wait_for_selector("body[data-loaded=true]")
    person = page.locator("tr", has=page.get_by_role("rowheader", name="bob", exact=True))
    assert person.locator("td").all_inner_texts() == ["1", "1", "0"]
    upheld = page.locator("a[href^='/alerts?alert=']")
    assert [link.get_attribute("href") for link in upheld.all()] == [
        f"/alerts?alert={confirmed}&state="
    ]
    shot(page, "report")
    page.evaluate("document.activeElement.blur()")
    papers = {}
    for key in ("p", "c"):
        with page.expect_download(timeout=PATIENCE_S * 1000) as taken:
            page.keyboard.press(key)
        papers[key] = Path(taken.value.path()).read_bytes()
        if SHOTS:
            shutil.copy(taken.value.path(), Path(SHOTS) / taken.value.suggested_filename)

    lines = {tuple(line[:3]): line[3] for line in csv.reader(io.StringIO(papers["c"].decode()))}
    counts = {
        state: int(lines["alerts", "all", state])
        for state in ("open", "confirmed", "rejected", "corrected")
    }
    assert counts.items() >= {"confirmed": 1, "rejected": 1, "corrected": 0}.items()
    for verdict in ("confirmed", "rejected"):
        assert lines["reviewer", "bob", verdict] == "1"
    by_table = [int(v) for (s, _, what), v in lines.items() if s == "table" and what in counts]
    assert sum(by_table) == sum(counts.values())
    assert any(own[0] == "alert" and f"no. {confirmed}" in own[1] for own in lines)
    assert not any(own[0] == "alert" and f"no. {rejected}" in own[1] for own in lines)

    paper = pypdfium2.PdfDocument(papers["p"])
    words = " ".join(" ".join(sheet.get_textpage().get_text_bounded().split()) for sheet in paper)
    assert re.search(r"\bbob 1 1 0\b", words), words
    page.close()


def evidence_stands(data: Path, confirmed: int) -> None:
    from surveillance.store import Store

    with Store.open(f"sqlite:///{data}/feltwatch.sqlite") as store:
        row = store.alerts.get(confirmed)
        assert row.bundle is not None
        assert (data / "evidence" / row.bundle).is_file()
    assert cli.main(["verify", str(data / "evidence")]) == 0
