"""Webhooks to a real receiver over TLS, vouched for by a house's own authority or by nobody."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from surveillance.alerts.webhooks import Hook, HookState, Webhooks
from surveillance.config.site_file import WebhookPart
from tests.certificates import Authority, Pair
from tests.waiting import until

SECRET = "sixteen characters or more"
DAY = timedelta(days=1)

Receive = Callable[[Pair], str]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def came() -> list[bytes]:
    return []


@pytest.fixture
def receive(came: list[bytes]) -> Iterator[Receive]:
    """Starts a receiver with a certificate; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Callers that do not believe it hang up; that is no fault of the receiver."""

    servers = []

    def start(pair: Pair) -> str:
        server = Server(("127.0.0.1", 0), Handler)
        servers.append(server)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair.files)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"https://127.0.0.1:{server.server_port}/hook?key=hidden"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def sent(url: str, ca_file: Path | None) -> HookState:
    """What becomes of an alert that is tried twice."""
    webhooks = Webhooks([Hook(url, SECRET, ca_file=ca_file)], delays_s=(0.02,))
    webhooks.start()
    webhooks.send("alert", {"id": 7})
    until(lambda: not webhooks.states()[0].waiting, "nothing waits", within_s=30)
    webhooks.stop()
    return webhooks.states()[0]


def test_a_receiver_of_the_houses_own_authority_is_sent_to(
    receive: Receive, authority: Authority, came: list[bytes]
) -> None:
    state = sent(receive(authority.server("hook")), authority.cert)
    assert (state.delivered, state.failed) == (1, 0)
    assert b'"id": 7' in came[0]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("unknown", "unable to get local issuer certificate"),
        ("other authority", "certificate verify failed|unable to get local issuer certificate"),
        ("other host", "certificate is not valid for '127.0.0.1'"),
        ("ended", "certificate has expired"),
    ],
)
def test_who_is_not_vouched_for_is_sent_nothing(
    receive: Receive, authority: Authority, came: list[bytes], tmp_path: Path, case: str, words: str
) -> None:
    pair = authority.server(
        "hook",
        hosts=("pit.example",) if case == "other host" else ("127.0.0.1",),
        begins=-3 * DAY,
        ends=-DAY if case == "ended" else DAY,
    )
    ca_file: Path | None = authority.cert
    if case == "unknown":
        ca_file = None
    elif case == "other authority":
        ca_file = Authority(tmp_path, "other").cert
    last = sent(receive(pair), ca_file).last[0]
    assert (last.state, last.tries, last.status) == ("failed", 2, None)
    assert last.message.startswith("its certificate is not trusted (")
    assert any(word in last.message for word in words.split("|")), last.message
    assert last.message.endswith("; name the file of its authority in ca_file")
    assert "hidden" not in last.message
    assert came == []


@pytest.mark.parametrize(
    ("content", "words"), [(None, "No such file or directory"), (b"x", "no certificate in it")]
)
def test_an_authority_that_cannot_be_read_is_reported_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, words: str
) -> None:
    monkeypatch.setenv("FELTWATCH_TEST_HOOK", SECRET)
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    part = WebhookPart(
        url="https://pit.example/key", secret_env="FELTWATCH_TEST_HOOK", ca_file=file
    )
    with pytest.raises(FeltwatchError) as raised:
        Webhooks.of([part])
    assert str(raised.value).startswith(
        f"webhook https://pit.example/...: ca_file: {file}: {words}; name a PEM file"
    )
