"""Cameras over TLS: a real server, vouched for or not; what is not proven is not believed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.rtsp.loopback import RtspServer
from tests.vision.sources.live_films import live, until, write_film
from vision.sources.base import SourceState
from vision.sources.camera_backends import LivePlace, LostError, open_place
from vision.sources.limits import LiveLimits
from vision.sources.url import Address

USER, PASSWORD = "ann", "s3cret-camera"
WAITS = LiveLimits(open_s=20.0)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "a.mp4", 20.0, rate=5)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def camera(film: Path, authority: Authority) -> Iterator[RtspServer]:
    with RtspServer({"t": film}, USER, PASSWORD, tls=authority.server("camera").files) as server:
        yield server


def refused(url: str, ca_file: Path | None) -> str:
    with pytest.raises(LostError) as raised:
        open_place(LivePlace(Address.parse(url, USER, PASSWORD, ca_file)), WAITS)
    words = str(raised.value)
    assert words.startswith(f"{url}: ")
    assert USER not in words
    assert PASSWORD not in words
    assert raised.value.__context__ is None
    return words.removeprefix(f"{url}: ")


def test_a_camera_that_is_vouched_for_is_watched(camera: RtspServer, authority: Authority) -> None:
    assert camera.url("t").startswith("rtsps://")
    options = {"username": USER, "password": PASSWORD, "ca_file": authority.cert}
    with live(camera.url("t"), **options) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        camera.say("drop")
        until(source, lambda s: s.state is SourceState.RECONNECTING)
        until(source, lambda s: s.state is SourceState.RUNNING)


def test_a_cameras_own_certificate_may_vouch_for_it(film: Path, authority: Authority) -> None:
    own = authority.server("alone")
    with RtspServer({"t": film}, tls=own.files) as server:
        place = LivePlace(Address.parse(server.url("t"), ca_file=own.cert))
        open_place(place, WAITS).container.close()


def test_by_itself_no_certificate_is_believed(camera: RtspServer) -> None:
    words = refused(camera.url("t"), None)
    assert words.startswith("its certificate is not trusted (unable to get local issuer")
    assert "in ca_file" in words


def test_another_authority_is_not_believed(camera: RtspServer, tmp_path: Path) -> None:
    words = refused(camera.url("t"), Authority(tmp_path, "other").cert)
    assert words.startswith("its certificate is not trusted (")


def test_a_certificate_of_another_host_is_not_believed(film: Path, authority: Authority) -> None:
    other = authority.server("other-host", hosts=("pit.example",))
    with RtspServer({"t": film}, USER, PASSWORD, tls=other.files) as server:
        words = refused(server.url("t"), authority.cert)
    assert "certificate is not valid for '127.0.0.1'" in words
    assert "reach it by a name or address that stands in the certificate" in words


def test_a_certificate_that_has_ended_is_not_believed(film: Path, authority: Authority) -> None:
    day = timedelta(days=1)
    old = authority.server("old", begins=-3 * day, ends=-day)
    with RtspServer({"t": film}, USER, PASSWORD, tls=old.files) as server:
        words = refused(server.url("t"), authority.cert)
    assert "(certificate has expired)" in words


def test_a_wrong_password_is_reported_as_such(camera: RtspServer, authority: Authority) -> None:
    address = Address.parse(camera.url("t"), USER, "wrong-word", authority.cert)
    with pytest.raises(LostError, match="refuses the user name or password") as raised:
        open_place(LivePlace(address), WAITS)
    assert raised.value.refused
    assert "wrong-word" not in str(raised.value)


def test_a_camera_without_tls_is_reported(film: Path, authority: Authority) -> None:
    with RtspServer({"t": film}, USER, PASSWORD) as server:
        words = refused(server.url("t").replace("rtsp:", "rtsps:"), authority.cert)
    assert words.startswith("it does not speak TLS; check the port")


def test_one_that_never_answers_is_given_up(authority: Authority) -> None:
    quick = LiveLimits(open_s=1.0, give_up_s=1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"rtsps://127.0.0.1:{mute.getsockname()[1]}/t"
        place = LivePlace(Address.parse(url, USER, PASSWORD, authority.cert))
        with pytest.raises(LostError, match="it does not answer"):
            open_place(place, quick)
