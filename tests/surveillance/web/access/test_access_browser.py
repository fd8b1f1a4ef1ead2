"""Login, one-time links, people, tokens and the log in a real browser, as people use them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect

from surveillance.accounts import Role, first_link
from surveillance.live.states import LiveEvent
from surveillance.web.access import SESSION_COOKIE
from tests.surveillance.web.access.access_made import CAMERA, PASSWORD, Place, made
from tests.waiting import WITHIN_S, until

NEW_PASSWORD = "nine blue chips"


@pytest.fixture
def place(tmp_path: Path, table_path: Path) -> Iterator[Place]:
    with made(tmp_path, table_path) as place:
        yield place


@pytest.fixture
def address(place: Place) -> Iterator[str]:
    """The place's application behind a real socket; its lifespan is the fixture's."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(place.app, log_level="error", lifespan="off", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        place.bus.close()
        server.should_exit = True
        thread.join(15)


class Person:
    """Somebody with a browser of their own, and what it complained about."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.context = context
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        context.on("request", self._asked)
        self.page: Page = context.new_page()
        self.page.set_default_timeout(WITHIN_S * 1000)
        self.page.on(
            "console", lambda m: self.complaints.append(f"{m.type}: {m.text} {m.location['url']}")
        )
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    def _asked(self, request: object) -> None:
        url: str = request.url  # type: ignore[attr-defined]
        if not url.startswith((self.address, "data:", "about:")):
            self.foreign.append(url)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector("body[data-ready=true]")

    def at(self, path: str) -> None:
        self.page.wait_for_url(f"{self.address}{path}")

    def log_in(self, name: str, password: str = PASSWORD) -> None:
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.keyboard.press("Enter")


@pytest.fixture
def enter(browser: Browser, address: str) -> Iterator[object]:
    people: list[Person] = []

    def enter(width: int = 1366, height: int = 768) -> Person:
        context = browser.new_context(viewport={"width": width, "height": height})
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        people.append(Person(context, address))
        return people[-1]

    yield enter
    for person in people:
        person.context.close()
        assert person.foreign == []


def expected(person: Person, *statuses: int) -> None:
    """The browser complained of these answers and of nothing else."""
    # A complaint may come after what the page shows of the same answer.
    until(
        lambda: person.page.evaluate("true") and len(person.complaints) >= len(statuses),
        f"complaints of {statuses}",
    )
    failed = [c for c in person.complaints if "Failed to load resource" in c]
    assert [c for c in person.complaints if c not in failed] == []
    assert [int(c.partition("status of ")[2][:3]) for c in failed] == list(statuses), failed


def test_the_first_admin_comes_in_by_the_link_and_invites(
    enter: object, place: Place, tmp_path: Path
) -> None:
    path = first_link(place.store)
    assert path is not None
    ann = enter()  # type: ignore[operator]
    ann.open(path)
    ann.page.screenshot(path=tmp_path / "first.png")
    ann.page.get_by_label("Your name").fill("ann")
    ann.page.get_by_label("Password, 12").fill("short")
    ann.page.get_by_label("once more").fill("shorter")
    ann.page.keyboard.press("Enter")
    ann.page.get_by_text("The two passwords are not the same.").wait_for()
    ann.page.get_by_label("once more").fill("short")
    ann.page.keyboard.press("Enter")
    ann.page.get_by_text("The password has 5 characters; give at least 12.").wait_for()
    expected(ann, 422)
    ann.complaints.clear()
    for field in ("Password, 12", "once more"):
        ann.page.get_by_label(field).fill(PASSWORD)
    ann.page.keyboard.press("Enter")
    ann.at("/")

    ann.open("/people")
    ann.page.get_by_label("Name", exact=True).fill("Bob")
    ann.page.locator("#invite-role").select_option("reviewer")
    ann.page.keyboard.press("Enter")
    ann.page.locator("#link-value").wait_for()
    ann.page.screenshot(path=tmp_path / "invited.png")
    ann.page.get_by_role("button", name="Copy").click()
    ann.page.get_by_text("Copied.").wait_for()
    link = ann.page.evaluate("navigator.clipboard.readText()")
    ann.page.keyboard.press("Escape")
    ann.page.locator("#link-value").wait_for(state="detached")
    ann.page.get_by_role("row", name="Bob").get_by_text("invited").wait_for()
    expected(ann)

    bob = enter()  # type: ignore[operator]
    bob.page.goto(link)
    bob.page.get_by_text("You log in as Bob (reviewer).").wait_for()
    for field in ("Password, 12", "once more"):
        bob.page.get_by_label(field).fill(NEW_PASSWORD)
    bob.page.keyboard.press("Enter")
    bob.at("/")
    bob.page.goto(link)
    bob.page.get_by_text("This link leads nowhere").wait_for()
    bob.page.screenshot(path=tmp_path / "gone.png")
    expected(bob, 410)


def test_one_logs_in_is_led_back_and_logs_out(enter: object, place: Place, tmp_path: Path) -> None:
    place.add("ann", Role.ADMIN)
    ann = enter()  # type: ignore[operator]
    ann.page.goto(f"{ann.address}/log?act=logged+in")
    ann.at("/login?next=*")
    ann.ready()
    ann.log_in("ann", "a wrong password")
    ann.page.get_by_text("Name or password is wrong.").wait_for()
    ann.page.screenshot(path=tmp_path / "wrong.png")
    assert ann.page.get_by_label("Password").input_value() == ""
    expected(ann, 401)
    ann.complaints.clear()
    ann.log_in("ann")
    ann.at("/log?act=logged+in")
    ann.page.get_by_role("cell", name="logged in").first.wait_for()
    assert ann.page.evaluate("document.cookie") == ""
    [cookie] = [c for c in ann.context.cookies() if c["name"] == SESSION_COOKIE]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    ann.ready()
    ann.page.get_by_role("button", name="Log out").click()
    ann.at("/login")
    ann.page.go_back()
    ann.at("/login?next=*")
    expected(ann)


def test_people_are_changed_by_keyboard_and_lose_their_login(
    enter: object, place: Place, tmp_path: Path
) -> None:
    place.add("ann", Role.ADMIN)
    place.add("bob", Role.VIEWER)
    place.add("cleo", Role.REVIEWER)
    place.accounts.administration.invite("dora", Role.VIEWER)
    ann, bob = enter(), enter()  # type: ignore[operator]
    for person, name in ((ann, "ann"), (bob, "bob")):
        person.open("/login?next=/me")
        person.log_in(name)
        person.at("/me")
    ann.open("/people")
    assert ann.page.get_by_label("Role of ann").is_disabled()
    ann.page.get_by_label("Role of bob").select_option("reviewer")
    ann.page.get_by_text("bob is reviewer now").wait_for()
    bob.page.goto(f"{bob.address}/me")
    bob.at("/login?next=%2Fme")
    ann.page.get_by_role("button", name="Disable: cleo").focus()
    ann.page.keyboard.press("Enter")
    ann.page.get_by_text("Shut cleo out?").wait_for()
    changes: list[str] = []
    ann.page.on("request", lambda r: changes.append(r.url) if r.method == "PATCH" else None)
    ann.page.keyboard.press("Enter")
    ann.page.get_by_text("Shut cleo out?").wait_for(state="hidden")
    assert not place.store.people.by_name("cleo").disabled  # type: ignore[union-attr]
    ann.page.get_by_role("button", name="Disable: cleo").click()
    ann.page.get_by_role("button", name="Disable", exact=True).click()
    ann.page.get_by_role("button", name="Enable: cleo").wait_for()
    assert place.store.people.by_name("cleo").disabled  # type: ignore[union-attr]
    # The first Enter asked for nothing, not even later.
    assert len(changes) == 1
    ann.page.screenshot(path=tmp_path / "people.png")
    assert ann.complaints == []


def test_a_token_is_made_shown_once_and_revoked(
    enter: object, place: Place, tmp_path: Path
) -> None:
    place.add("ann", Role.REVIEWER)
    ann = enter()  # type: ignore[operator]
    ann.open("/login?next=/me")
    ann.log_in("ann")
    ann.at("/me")
    options = ann.page.locator("#token-scope option").all_inner_texts()
    assert options == ["viewer", "reviewer"]
    ann.page.get_by_label("What it is for").fill("the wall in the pit")
    ann.page.get_by_role("button", name="Make a token").click()
    secret = ann.page.locator("#secret-value").input_value()
    ann.page.screenshot(path=tmp_path / "token.png")
    assert place.with_token(secret).get("/api/me").json()["scope"] == "viewer"
    ann.page.get_by_role("button", name="Done").click()
    ann.page.reload()
    assert secret not in ann.page.content()
    ann.page.screenshot(path=tmp_path / "me.png")
    ann.page.get_by_role("button", name="Revoke: the wall in the pit").click()
    ann.page.locator("#tokens").get_by_text("revoked", exact=True).first.wait_for()
    assert place.with_token(secret).get("/api/me").status_code == 401

    ann.page.get_by_label("Password now").fill(PASSWORD)
    ann.page.get_by_label("New, 12").fill(NEW_PASSWORD)
    again = ann.page.get_by_label("The new one once more")
    again.fill(NEW_PASSWORD)
    again.press("Enter")
    ann.page.get_by_text("The password is changed").wait_for()
    ann.open("/me")
    assert ann.complaints == []


def test_an_alert_while_the_password_changes_leads_nobody_away(
    enter: object, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.add("ann", Role.REVIEWER)
    ann = enter()  # type: ignore[operator]
    ann.open("/login?next=/me")
    ann.log_in("ann")
    ann.at("/me")
    ann.page.wait_for_selector("body[data-connection=open]")
    sessions = place.accounts.sessions
    opened = sessions.open
    counts: list[str] = []
    ann.page.on("request", lambda r: counts.append(r.url) if "counts" in r.url else None)

    def slowly(*given: object) -> object:
        # The former log-in is closed, the page has no other yet.
        now = datetime.now(UTC)
        place.bus.publish(LiveEvent(kind="alert_changed", camera=CAMERA, table="t3", at=now))
        time.sleep(3)
        return opened(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(sessions, "open", slowly)
    ann.page.get_by_label("Password now").fill(PASSWORD)
    ann.page.get_by_label("New, 12").fill(NEW_PASSWORD)
    ann.page.get_by_label("The new one once more").fill(NEW_PASSWORD)
    counts.clear()
    ann.page.keyboard.press("Enter")
    ann.page.get_by_text("The password is changed").wait_for()
    ann.at("/me")
    until(lambda: ann.page.evaluate("true") and counts != [], "a count of the alerts")
    assert ann.complaints == []


def test_a_page_that_only_listens_leads_to_the_login_when_its_login_ends(
    enter: object, place: Place
) -> None:
    user = place.add("ann", Role.REVIEWER)
    ann = enter()  # type: ignore[operator]
    ann.open("/login?next=/me")
    ann.log_in("ann")
    ann.at("/me")
    ann.page.wait_for_selector("body[data-connection=open]")
    ann.page.wait_for_timeout(2_000)  # until the first count of the alerts is answered
    place.accounts.sessions.close_all(user.id)
    ann.at("/login?next=%2Fme")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (3840, 2160)])
@pytest.mark.parametrize("path", ["/login", "/people", "/me", "/log"])
def test_pages_are_right_at_both_sizes(
    enter: object, place: Place, tmp_path: Path, path: str, width: int, height: int
) -> None:
    user = place.add("ann", Role.ADMIN)
    for n, role in enumerate((Role.VIEWER, Role.REVIEWER, Role.VIEWER)):
        place.add(f"person-{n}", role)
    place.accounts.tokens.make(user, "prometheus", Role.VIEWER, None)
    now = place.store.people.get(user.id).created_at
    for n in range(130):
        at = now - timedelta(minutes=n)
        place.store.audit.write("ann", "clip seen", f"alert {n}", {"n": n}, "10.0.0.7", at)
    ann = enter(width=width, height=height)  # type: ignore[operator]
    if path != "/login":
        secret = place.accounts.sessions.open(user, "", "").secret
        cookie = {"name": SESSION_COOKIE, "value": secret, "url": ann.address}
        ann.context.add_cookies([cookie])
    ann.open(path)
    measured = ann.page.evaluate(
        """() => ({
          scrolls: document.documentElement.scrollWidth > innerWidth,
          letter: parseFloat(getComputedStyle(document.documentElement).fontSize),
          cut: [...document.querySelectorAll('main button, main .btn, main th, main label > span')]
            .filter(n => n.scrollWidth > n.clientWidth + 1)
            .filter(n => getComputedStyle(n).display !== 'inline')
            .filter(n => !n.closest('.unseen')).map(n => n.outerHTML.slice(0, 80)),
          unnamed: [...document.querySelectorAll('button, input, select')]
            .filter(n => !n.closest('dialog, [hidden]') && !n.textContent.trim()
              && !n.ariaLabel && !n.labels?.length).length,
          small: [...document.querySelectorAll('main *')].filter(n => n.childElementCount === 0
            && n.textContent.trim() && parseFloat(getComputedStyle(n).fontSize) < 13).length,
        })"""
    )
    ann.page.screenshot(path=tmp_path / f"{path.strip('/')}-{width}.png")
    assert measured["scrolls"] is False
    assert measured["cut"] == []
    assert measured["unnamed"] == 0
    assert measured["small"] == 0
    assert measured["letter"] >= (16 if width == 1366 else 28)
    if path == "/log":
        assert ann.page.locator("tbody tr").count() == 100
        ann.page.get_by_role("link", name="Older").click()
        ann.page.get_by_role("link", name="Newest").wait_for()
        # The older page has the rest.
        expect(ann.page.locator("tbody tr")).to_have_count(30, timeout=WITHIN_S * 1000)
    assert ann.complaints == []
