"""`feltwatch dataset review` as a person starts and ends it."""

from __future__ import annotations

import json
import signal
import socket
import urllib.request
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from settlement.errors import FeltwatchError
from surveillance.cli.datasets import review_cmd
from surveillance.cli.datasets.review_cmd import checked_name, is_loopback, review_command
from tests.surveillance.web.review_made import start_server


def run(*arguments: str) -> object:
    app = typer.Typer()
    app.command()(review_command)
    result = CliRunner().invoke(app, list(arguments))
    return result.exception or result


def refusal(*arguments: str) -> str:
    error = run(*arguments)
    assert isinstance(error, FeltwatchError), error
    return str(error)


@pytest.mark.slow
def test_it_says_where_it_is_and_ends_on_ctrl_c(dataset_folder: Path) -> None:
    server = start_server(dataset_folder, name="bob")
    try:
        assert server.address == f"http://127.0.0.1:{server.port}/"
        with urllib.request.urlopen(f"{server.address}api/me") as answer:
            assert json.load(answer)["name"] == "bob"
            assert "server" not in answer.headers
    finally:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=60) == 0


def test_others_are_let_in_only_on_purpose(
    dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org"):
        assert "--i-know-there-is-no-login" in refusal(str(dataset_folder), "--host", host)
        assert not is_loopback(host)
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "LocalHost"))

    started: list[object] = []
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: started.append(self.config.app))
    arguments = ("--host", "0.0.0.0", "--port", "0", "--i-know-there-is-no-login")
    run(str(dataset_folder), *arguments, "--allow-host", "Pit-3")
    [app] = started
    hosts = app.state.settings.hosts  # type: ignore[attr-defined]
    assert hosts == {"127.0.0.1", "localhost", "::1", "0.0.0.0", "pit-3"}


def test_a_port_in_use_is_said(dataset_folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        words = refusal(str(dataset_folder), "--port", port)
    assert words.startswith(f"--host 127.0.0.1 --port {port}: cannot be listened on")


def test_a_folder_that_is_no_dataset_is_said(tmp_path: Path) -> None:
    assert "holds no dataset" in refusal(str(tmp_path), "--port", "0")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 61])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(FeltwatchError, match="--name"):
        checked_name(name)


def test_the_browser_is_opened_when_asked(
    dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    opened: list[str] = []
    monkeypatch.setattr(review_cmd.webbrowser, "open", opened.append)  # type: ignore[attr-defined]

    def run_until_opened(self: object, sockets: object) -> None:
        self.started = True  # type: ignore[attr-defined]
        deadline = time.monotonic() + 60
        while not opened and time.monotonic() < deadline:
            time.sleep(0.02)

    monkeypatch.setattr("uvicorn.Server.run", run_until_opened)
    run(str(dataset_folder), "--port", "0", "--open")
    assert len(opened) == 1
    assert opened[0].startswith("http://127.0.0.1:")
