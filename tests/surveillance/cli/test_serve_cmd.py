"""The command as it is run: what it prints, how it ends, what it leaves behind."""

from __future__ import annotations

import re
import signal
import socket
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from surveillance import cli
from surveillance.config.site_file import load_site
from surveillance.store import AuditFilter, Store
from tests.surveillance.live.live_room import PATIENCE_S, wait_for, write_site, write_toml
from tests.surveillance.live.serving import serving
from tests.vision.sources.live_films import write_film

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_its_address_and_ends_in_good_order(site_file: Path, by: int) -> None:
    with serving(site_file) as (process, lines):
        assert "1 camera, at http://127.0.0.1:" in lines[0]
        assert "the first admin opens" in lines[1]
        assert "/welcome#" in lines[1]
        wait_for(lambda: bool(children(process.pid)))
        own = children(process.pid)
        process.send_signal(by)
        assert process.wait(PATIENCE_S) == 0
        # Python's own helper for spawned processes ends by itself just after.
        wait_for(lambda: not [child for child in own if is_running(child)])


def test_cameras_do_not_outlive_a_server_that_was_killed(site_file: Path) -> None:
    with serving(site_file) as (process, _):
        wait_for(lambda: bool(children(process.pid)))
        own = children(process.pid)
        process.kill()
        process.wait(PATIENCE_S)
        wait_for(lambda: not [child for child in own if is_running(child)], 120)


def is_running(process_id: int) -> bool:
    # Whoever inherits it may be slow to reap it.
    try:
        text = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_trusted_proxy_names_the_client(tmp_path: Path, is_trusted: bool) -> None:
    web = {"port": 0, "trusted_proxies": ["127.0.0.1"] if is_trusted else []}
    site_file = write_toml(tmp_path / "site.toml", {"web": web})
    with serving(site_file) as (process, lines):
        found = re.search(r"http://\S+/", lines[0])
        assert found is not None
        answer = httpx.post(
            f"{found[0]}api/login",
            json={"name": "ann", "password": "seven red chips"},
            # The first is what the browser itself claims; a proxy adds whom it heard it from.
            headers={"x-feltwatch": "1", "x-forwarded-for": "10.9.9.9, 203.0.113.7"},
            timeout=PATIENCE_S,
        )
        assert answer.status_code == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    asked_by = "203.0.113.7" if is_trusted else "127.0.0.1"
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    with Store.open(load_site(site_file).store_url) as store:
        assert store.people.failures("ann", asked_by, long_ago) == 1
        assert store.people.failures("ann", None, long_ago) == 1
        (line,) = store.audit.page(AuditFilter(act="login refused")).rows
        assert line.address == asked_by


def test_a_port_that_is_taken_is_reported_with_file_and_key(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert cli.main(["serve", "--config", str(site_file), "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert f"{site_file}: web.port: 127.0.0.1 port {port} cannot be listened on" in error


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
