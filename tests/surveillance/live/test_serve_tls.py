"""`feltwatch serve` over TLS as browsers see it, and errors of unusable certificates."""

from __future__ import annotations

import re
import signal
import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from surveillance import cli
from surveillance.accounts import devices
from surveillance.web.access import SESSION_COOKIE
from tests.certificates import Authority
from tests.surveillance.live.live_room import PATIENCE_S, write_site, write_toml
from tests.surveillance.live.serving import serving
from tests.surveillance.web.review_browser import launched
from tests.vision.sources.live_films import write_film

PASSWORD = "seven red chips"
DAY = timedelta(days=1)


@pytest.mark.slow
def test_pages_cookie_and_news_come_over_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair = authority.server("pit", hosts=("127.0.0.1",))
    write_film(tmp_path / "film.mp4", 2.0, rate=5)
    web = {"port": 0, "tls_cert": pair.cert.name, "tls_key": pair.key.name}
    site_file = write_site(tmp_path, "film.mp4", camera={"loop": True}, web=web)
    later: list[str] = []
    with serving(site_file, later) as (process, lines):
        found = re.search(r"(https://127\.0\.0\.1:\d+/)(welcome#\S+)", lines[1])
        assert found is not None
        address, welcome = found[1], found[2]
        context = ssl.create_default_context(cafile=authority.cert)
        with httpx.Client(verify=context, base_url=address, timeout=PATIENCE_S) as client:
            assert client.get("login").status_code == 200
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(address, trust_env=False)
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(address.replace("https:", "http:"), timeout=PATIENCE_S)
        token = in_a_browser(address, welcome)
        with httpx.Client(verify=context, base_url=address, timeout=PATIENCE_S) as client:
            client.cookies.update(token)
            with client.stream("GET", "api/events") as news:
                assert news.status_code == 200
                lines_of_news = news.iter_lines()
                assert any(line == "event: state" for line in lines_of_news)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert [line for line in later if "ERROR" in line or "Traceback" in line] == []


def in_a_browser(address: str, welcome: str) -> dict[str, str]:
    """The first admin comes, and sees the table play; gives the cookie of the login."""
    with launched() as browser:
        context = browser.new_context()
        page = context.new_page()
        with pytest.raises(Exception, match="ERR_CERT_AUTHORITY_INVALID"):
            page.goto(address)
        context.close()
        context = browser.new_context(ignore_https_errors=True)
        context.set_default_timeout(PATIENCE_S * 1000)
        complaints: list[str] = []
        context.on("console", lambda m: complaints.append(f"{m.type}: {m.text}"))
        context.on("weberror", lambda e: complaints.append(f"error: {e.error}"))
        page = context.new_page()
        page.goto(address + welcome)
        page.wait_for_selector("body[data-ready=true]")
        page.get_by_label("Your name").fill("ann")
        for label in ("Password, 12", "once more"):
            page.get_by_label(label).fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(address)
        # The stream of events is open, and the table plays.
        page.wait_for_function("() => document.body.dataset.connection === 'open'")
        tile = "document.querySelector(\"a[href='/tables/view/c1']\")"
        page.wait_for_function(f"() => ['running', 'too_slow'].includes({tile}?.dataset.state)")
        kept = {cookie["name"]: cookie for cookie in context.cookies()}
        assert kept.keys() == {SESSION_COOKIE, devices.COOKIE}
        for cookie in kept.values():
            safe = (cookie["secure"], cookie["httpOnly"], cookie["sameSite"])
            assert safe == (True, True, "Strict")
        assert complaints == []
        context.close()
        return {SESSION_COOKIE: kept[SESSION_COOKIE]["value"]}


Spoil = Callable[[Authority, Path], tuple[Path, Path]]


def other_key(authority: Authority, _: Path) -> tuple[Path, Path]:
    return authority.server("a").cert, authority.server("b").key


def ended(authority: Authority, _: Path) -> tuple[Path, Path]:
    return authority.server("a", begins=-3 * DAY, ends=-DAY).files


def not_begun(authority: Authority, _: Path) -> tuple[Path, Path]:
    return authority.server("a", begins=DAY, ends=3 * DAY).files


def locked(authority: Authority, _: Path) -> tuple[Path, Path]:
    return authority.server("a", password="pass").files


def swapped(authority: Authority, _: Path) -> tuple[Path, Path]:
    pair = authority.server("a")
    return pair.key, pair.cert


def rubbish_key(authority: Authority, folder: Path) -> tuple[Path, Path]:
    (folder / "rubbish").write_bytes(b"\x00\xff rubbish")
    return authority.server("a").cert, folder / "rubbish"


def no_file(authority: Authority, folder: Path) -> tuple[Path, Path]:
    return folder / "none.pem", authority.server("a").key


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (other_key, "tls_key: {0}/b.key.pem: not the key of {0}/a.crt.pem; give the one"),
        (ended, "tls_cert: {0}/a.crt.pem: the certificate ended on 20"),
        (not_begun, "tls_cert: {0}/a.crt.pem: the certificate begins on 20"),
        (locked, "tls_key: {0}/a.key.pem: the key is locked with a password; give one without"),
        (swapped, "tls_cert: {0}/a.key.pem: no certificate in it; give a PEM file"),
        (rubbish_key, "tls_key: {0}/rubbish: not a private key"),
        (no_file, "tls_cert: {0}/none.pem: no such file"),
    ],
)
def test_an_unusable_pair_is_reported_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Spoil, words: str
) -> None:
    cert, key = spoil(Authority(tmp_path), tmp_path)
    web = {"port": 0, "tls_cert": str(cert), "tls_key": str(key)}
    site_file = write_toml(tmp_path / "site.toml", {"web": web})
    assert cli.main(["serve", "--config", str(site_file)]) == 2
    error = capsys.readouterr().err
    assert f"{site_file}: web.{words.format(tmp_path)}" in error
    assert error.count("\n") == 1


def test_a_right_pair_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = Authority(tmp_path).server("a")
    web = {"host": "0.0.0.0", "tls_cert": pair.cert.name, "tls_key": pair.key.name}
    site_file = write_toml(tmp_path / "site.toml", {"web": web})
    assert cli.main(["serve", "--config", str(site_file), "--check"]) == 0
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["camera", "webhook"])
def test_unusable_authorities_are_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
) -> None:
    monkeypatch.setenv("FELTWATCH_TEST_HOOK", "sixteen characters or more")
    site_file = write_site(
        tmp_path, "rtsps://10.0.0.7/t", camera={"ca_file": "ca.pem"},
        webhook=[
            {"url": "https://h/x", "secret_env": "FELTWATCH_TEST_HOOK", "ca_file": "hook.pem"}
        ],
    )  # fmt: skip
    good = Authority(tmp_path).cert.read_bytes()
    place = "camera 1 (c1)" if where == "camera" else "webhook 1"
    file = tmp_path / ("ca.pem" if where == "camera" else "hook.pem")
    for name in ("ca.pem", "hook.pem"):
        (tmp_path / name).write_bytes(good)
    assert cli.main(["serve", "--config", str(site_file), "--check"]) == 0
    capsys.readouterr()
    for spoil, words in (
        (lambda: file.write_bytes(b"no certificate"), "no certificate in it; give a PEM file"),
        (file.unlink, "No such file or directory; name a file that this user may read"),
    ):
        spoil()
        assert cli.main(["serve", "--config", str(site_file), "--check"]) == 2
        assert f"{site_file}: {place}.ca_file: {file}: {words}" in capsys.readouterr().err


def test_an_authority_is_for_cameras_over_tls_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site_file = write_site(tmp_path, "rtsp://10.0.0.7/t", camera={"ca_file": "ca.pem"})
    assert cli.main(["serve", "--config", str(site_file), "--check"]) == 2
    assert "camera 1 (c1): ca_file is for cameras over TLS only, rtsps" in capsys.readouterr().err
