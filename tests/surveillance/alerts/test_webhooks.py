"""Webhooks against a real server on loopback: signed, tried again, given up, never in the way."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from settlement.errors import FeltwatchError
from surveillance.alerts.webhooks import (
    DELIVERY_HEADER,
    EVENT_HEADER,
    SIGNATURE_HEADER,
    TIME_HEADER,
    Hook,
    HookState,
    Webhooks,
    shown_url,
)
from tests import waiting

SECRET = "sixteen characters or more"
ALERT: dict[str, Any] = {"id": 7, "code": "wrong_pay", "message": "Sitz 3 bekam zu viel – 20 $"}
QUICK_S = (0.02, 0.02)

until = partial(waiting.until, within_s=20.0)


@dataclass
class Receiver:
    """A server that notes what comes and answers as set, 204 in the end."""

    answers: list[int] = field(default_factory=list)
    location: str = ""
    hang_s: float = 0.0
    came: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=hidden"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.came.append((self.path, headers, body))
            time.sleep(receiver.hang_s)
            status = receiver.answers.pop(0) if receiver.answers else 204
            self.send_response(status)
            if receiver.location:
                self.send_header("location", receiver.location)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield receiver
    server.shutdown()
    server.server_close()


@pytest.fixture
def started() -> Iterator[Callable[..., Webhooks]]:
    made: list[Webhooks] = []

    def start(*hooks: Hook, delays_s: tuple[float, ...] = QUICK_S, queue: int = 500) -> Webhooks:
        webhooks = Webhooks(hooks, delays_s, queue)
        webhooks.start()
        made.append(webhooks)
        return webhooks

    yield start
    for webhooks in made:
        webhooks.stop()


def settled(webhooks: Webhooks, number: int = 0) -> HookState:
    until(lambda: webhooks.states()[number].waiting == 0, "nothing waits")
    return webhooks.states()[number]


Start = Callable[..., Webhooks]


def test_an_alert_comes_signed_as_json(receiver: Receiver, started: Start) -> None:
    webhooks = started(Hook(receiver.url, SECRET))
    webhooks.send("alert", ALERT, "wrong_pay")
    state = settled(webhooks)
    [(path, headers, body)] = receiver.came
    event = json.loads(body)
    assert path == "/hook?key=hidden"
    assert headers["content-type"] == "application/json"
    assert headers[EVENT_HEADER] == event["event"] == "alert"
    assert headers[DELIVERY_HEADER] == event["delivery"] == state.last[0].id
    assert event["body"] == ALERT
    assert (state.delivered, state.failed, state.dropped) == (1, 0, 0)
    assert (state.last[0].state, state.last[0].tries, state.last[0].status) == ("delivered", 1, 204)


@pytest.mark.parametrize("secret", [SECRET, "whsec_" + base64.b64encode(b"k" * 24).decode()])
def test_a_receiver_checks_a_delivery_by_the_standard(
    receiver: Receiver, started: Start, secret: str
) -> None:
    """By the library of Standard Webhooks; another body, secret or time is refused."""
    started(Hook(receiver.url, secret)).send("alert", ALERT)
    until(lambda: bool(receiver.came), "it came")
    [(_, headers, body)] = receiver.came
    own = Webhook(secret if secret.startswith("whsec_") else secret.encode())
    assert own.verify(body, headers)["body"] == ALERT
    old = str(int(headers[TIME_HEADER]) - 301)
    for spoilt in ({TIME_HEADER: old}, {DELIVERY_HEADER: "other"}, {SIGNATURE_HEADER: "v1,AAAA"}):
        with pytest.raises(WebhookVerificationError):
            own.verify(body, headers | spoilt)
    with pytest.raises(WebhookVerificationError):
        own.verify(body + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(b"another secret").verify(body, headers)


def test_a_hook_gets_its_codes_only(receiver: Receiver, started: Start) -> None:
    webhooks = started(Hook(receiver.url, SECRET, frozenset({"wrong_pay"})))
    webhooks.send("alert", ALERT, "foul_hand")
    webhooks.send("alert", ALERT, "wrong_pay")
    assert settled(webhooks).delivered == 1
    assert len(receiver.came) == 1


@pytest.mark.parametrize("first", [500, 502, 503, 408, 429])
def test_what_passes_is_tried_again_under_the_same_number(
    receiver: Receiver, started: Start, first: int
) -> None:
    receiver.answers = [first, first]
    webhooks = started(Hook(receiver.url, SECRET))
    webhooks.send("alert", ALERT)
    last = settled(webhooks).last[0]
    assert (last.state, last.tries, last.status) == ("delivered", 3, 204)
    assert len({headers[DELIVERY_HEADER] for _, headers, _ in receiver.came}) == 1
    assert len({body for _, _, body in receiver.came}) == 1


def test_it_is_given_up_in_the_end_and_the_next_one_is_sent(
    receiver: Receiver, started: Start
) -> None:
    receiver.answers = [500, 500, 500]
    webhooks = started(Hook(receiver.url, SECRET))
    webhooks.send("alert", ALERT)
    webhooks.send("alert", ALERT)
    state = settled(webhooks)
    assert [(d.state, d.tries, d.status) for d in state.last] == [
        ("delivered", 1, 204),
        ("failed", 3, 500),
    ]
    assert (state.delivered, state.failed) == (1, 1)
    assert state.last[1].message == "refused (status 500)"


def test_further_tries_wait_longer_and_longer(receiver: Receiver, started: Start) -> None:
    receiver.answers = [500, 500, 500]
    webhooks = started(Hook(receiver.url, SECRET), delays_s=(0.1, 0.3))
    began = time.monotonic()
    webhooks.send("alert", ALERT)
    settled(webhooks)
    assert time.monotonic() - began >= 0.4
    assert len(receiver.came) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_a_refusal_is_final(receiver: Receiver, started: Start, status: int) -> None:
    receiver.answers = [status]
    webhooks = started(Hook(receiver.url, SECRET))
    webhooks.send("alert", ALERT)
    last = settled(webhooks).last[0]
    assert (last.state, last.tries, last.status) == ("failed", 1, status)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(receiver: Receiver, started: Start, status: int) -> None:
    receiver.answers = [status]
    receiver.location = f"http://127.0.0.1:{receiver.port}/elsewhere"
    webhooks = started(Hook(receiver.url, SECRET))
    webhooks.send("alert", ALERT)
    last = settled(webhooks).last[0]
    assert (last.state, last.tries) == ("failed", 1)
    assert "redirects are not followed" in last.message
    assert [path for path, _, _ in receiver.came] == ["/hook?key=hidden"]


def test_a_server_that_is_not_there_is_tried_and_given_up(started: Start) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    webhooks = started(Hook(f"http://127.0.0.1:{port}/key-in-the-path", SECRET))
    webhooks.send("alert", ALERT)
    last = settled(webhooks).last[0]
    assert (last.state, last.tries, last.status) == ("failed", 3, None)
    assert last.message == "not reached (ConnectError)"


def test_sending_never_waits_and_the_oldest_are_dropped(receiver: Receiver, started: Start) -> None:
    receiver.hang_s = 0.3
    webhooks = started(Hook(receiver.url, SECRET), queue=5)
    webhooks.send("alert", {"n": 0})
    until(lambda: len(receiver.came) == 1, "the first is on its way")
    began = time.monotonic()
    for n in range(1, 41):
        webhooks.send("alert", {"n": n})
    assert time.monotonic() - began < 0.25
    assert webhooks.states()[0].waiting <= 6
    receiver.hang_s = 0.0
    state = settled(webhooks)
    assert (state.delivered, state.dropped) == (6, 35)
    assert [json.loads(body)["body"]["n"] for _, _, body in receiver.came] == [0, *range(36, 41)]
    assert sum(d.state == "dropped" for d in state.last) == 35


def test_a_hook_that_hangs_does_not_hold_up_another(receiver: Receiver, started: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        stuck = Hook(f"http://127.0.0.1:{mute.getsockname()[1]}/", SECRET)
        webhooks = started(stuck, Hook(receiver.url, SECRET))
        for _ in range(5):
            webhooks.send("alert", ALERT)
        assert settled(webhooks, 1).delivered == 5
        assert webhooks.states()[0].waiting == 5


def test_stop_does_not_wait_for_further_tries(receiver: Receiver) -> None:
    receiver.answers = [500]
    webhooks = Webhooks([Hook(receiver.url, SECRET)], delays_s=(600.0,))
    webhooks.start()
    webhooks.send("alert", ALERT)
    until(lambda: len(receiver.came) == 1, "it was tried")
    began = time.monotonic()
    webhooks.stop()
    assert time.monotonic() - began < 5


def test_the_list_of_outcomes_does_not_grow_without_end(receiver: Receiver, started: Start) -> None:
    webhooks = started(Hook(receiver.url, SECRET))
    for _ in range(130):
        webhooks.send("alert", ALERT)
    state = settled(webhooks)
    assert state.delivered == 130
    assert len(state.last) == 100


def test_a_test_goes_to_one_hook_whatever_its_codes(receiver: Receiver, started: Start) -> None:
    webhooks = started(Hook(receiver.url, SECRET, frozenset({"wrong_pay"})))
    assert webhooks.test(1) is None
    assert webhooks.test(-1) is None
    sent = webhooks.test(0)
    assert sent is not None
    assert settled(webhooks).last[0].id == sent.id
    assert receiver.came[0][1][EVENT_HEADER] == "test"


# Addresses and secrets


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://pit.example/hook", "not https"),
        ("http://10.0.0.7/hook", "not https"),
        ("http://127.0.0.1.evil.example/", "not https"),
        ("ftp://pit.example/", "no address"),
        ("pit.example", "no address"),
        ("", "no address"),
        ("https://", "no address"),
        ("https://ann:pw@pit.example/", "holds a password"),
        ("https://[::1", "no address"),
    ],
)
def test_addresses_that_will_not_do_are_refused_without_telling_them(url: str, words: str) -> None:
    with pytest.raises(FeltwatchError, match=words) as raised:
        Hook(url, SECRET)
    assert "pw" not in str(raised.value)
    assert "/hook" not in str(raised.value)


@pytest.mark.parametrize("url", ["https://pit.example/x", "http://localhost:1/", "http://[::1]:8/"])
def test_https_and_this_machine_are_taken(url: str) -> None:
    assert Hook(url, SECRET).url == url


@pytest.mark.parametrize("secret", ["whsec_0123456789abc", "whsec_=========="])
def test_an_encoded_secret_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(FeltwatchError, match="begins with whsec_ and is no base64"):
        Hook("https://pit.example/hook", secret)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(FeltwatchError, match="short"):
        Hook("https://pit.example/", "secret")


def test_neither_secret_nor_key_is_ever_shown(receiver: Receiver, started: Start) -> None:
    hook = Hook(receiver.url, SECRET)
    webhooks = started(hook)
    webhooks.send("alert", ALERT)
    shown = repr(settled(webhooks)) + repr(hook.__class__) + shown_url(receiver.url)
    assert SECRET not in shown + repr(hook)
    assert "hidden" not in shown


@dataclass
class Config:
    url: str = "https://pit.example/hook"
    secret_env: str = "FELTWATCH_TEST_HOOK"
    codes: tuple[str, ...] = ("wrong_pay",)
    ca_file: Path | None = None
    checkpoints: bool = False


def test_the_secret_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FELTWATCH_TEST_HOOK", raising=False)
    with pytest.raises(FeltwatchError, match="FELTWATCH_TEST_HOOK is not set"):
        Webhooks.of([Config()])
    monkeypatch.setenv("FELTWATCH_TEST_HOOK", SECRET)
    [state] = Webhooks.of([Config()]).states()
    assert (state.url, state.codes) == ("https://pit.example/...", ("wrong_pay",))
