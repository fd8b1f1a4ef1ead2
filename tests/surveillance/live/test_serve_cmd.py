"""The command as it is run: what it prints, how it ends, what it leaves behind."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from surveillance import cli
from tests.surveillance.live.live_room import PATIENCE_S, wait_for, write_site
from tests.vision.live_films import write_film

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def site_file(tmp_path: Path) -> Path:
    write_film(tmp_path / "film.mp4", 2.0, rate=5)
    return write_site(tmp_path, "film.mp4", camera={"loop": True})


def children(process_id: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = stat.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(parts[1]) == process_id and parts[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@contextmanager
def serving(site_file: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    command = [sys.executable, "-m", "surveillance", "serve", "--config", str(site_file)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    said: queue.Queue[str] = queue.Queue()
    out = process.stdout
    threading.Thread(target=lambda: [said.put(line) for line in out], daemon=True).start()
    try:
        yield process, [said.get(timeout=PATIENCE_S), said.get(timeout=PATIENCE_S)]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_tells_where_it_is_and_ends_in_good_order(site_file: Path, by: int) -> None:
    with serving(site_file) as (process, lines):
        assert "1 camera, at http://127.0.0.1:" in lines[0]
        assert "the first admin opens" in lines[1]
        assert "/welcome#" in lines[1]
        wait_for(lambda: bool(children(process.pid)))
        own = children(process.pid)
        process.send_signal(by)
        assert process.wait(PATIENCE_S) == 0
        # Python's own helper for spawned processes ends by itself just after.
        wait_for(lambda: not [child for child in own if is_running(child)], 30)


def test_cameras_do_not_outlive_a_server_that_was_killed(site_file: Path) -> None:
    with serving(site_file) as (process, _):
        wait_for(lambda: bool(children(process.pid)))
        own = children(process.pid)
        process.kill()
        process.wait(30)
        wait_for(lambda: not [child for child in own if is_running(child)], 120)


def is_running(process_id: int) -> bool:
    # Whoever inherits it may be slow to reap it.
    try:
        text = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


def test_a_port_that_is_taken_is_told_with_file_and_key(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ear:
        port = ear.getsockname()[1]
        assert cli.main(["serve", "--config", str(site_file), "--port", str(port)]) == 2
    told = capsys.readouterr().err
    assert f"{site_file}: web.port: 127.0.0.1 port {port} cannot be listened on" in told


def test_passwords_do_not_cross_the_net_unencrypted(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = site_file.read_text().replace("port = 0", 'port = 0\nhost = "0.0.0.0"')
    site_file.write_text(text)
    assert cli.main(["serve", "--config", str(site_file), "--check"]) == 2
    assert "web.host: 0.0.0.0 is reached by other machines" in capsys.readouterr().err


def test_check_and_example(site_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--config", str(site_file), "--check"]) == 0
    assert capsys.readouterr().out == f"{site_file}: right; 1 camera\n"
    assert cli.main(["serve", "--example"]) == 0
    assert "[[camera]]" in capsys.readouterr().out
    assert cli.main(["serve"]) == 2
    assert "--config is missing; 'feltwatch serve --example" in capsys.readouterr().err
