"""A real RTSP server on loopback: stalls, drops, comes back, asks for a password, talks rubbish."""

from __future__ import annotations

import base64
import contextlib
import itertools
import logging
import re
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import av
import pytest

from tests.rtsp.loopback import RtspServer
from tests.vision.sources.live_films import PATIENCE_S, QUICK, live, until, write_film
from vision.sources.base import SourceState
from vision.sources.camera_backends import LivePlace, LostError, open_place
from vision.sources.limits import LiveLimits
from vision.sources.packets.packet_buffer import PacketRing
from vision.sources.url import Address

USER, PASSWORD = "ann", "p%40 ss:/w?rd"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "a.mp4", 40.0, rate=5)


@pytest.fixture(scope="module")
def server(film: Path) -> Iterator[RtspServer]:
    with RtspServer({"t": film}) as server:
        yield server


def test_frames_come_with_the_senders_time(server: RtspServer) -> None:
    ring = PacketRing(30)
    with live(server.url("t"), every_s=0.2, ring=ring) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        frames: list[Any] = []
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and not (frames and frames[-1].by_sender):
            frame = source.next_frame(1.0)
            if frame is not None:
                frames.append(frame)
        assert frames[-1].by_sender
        assert -0.5 < frames[-1].lag_s < 20
        # Sender's and receiver's clocks are one here: the frame is no older than the stream.
        assert abs(frames[-1].shown_at - time.time()) < 20
    times = [f.at_s for f in frames]
    assert times[0] >= 0
    assert all(b - a >= 0.199 for a, b in itertools.pairwise(times))
    assert len(ring) > 0


def test_each_frame_has_the_senders_time_from_the_first_report_on(tmp_path: Path) -> None:
    """Also where frames are sent in another order than they are shown in."""
    film = write_film(tmp_path / "b.mp4", 20.0, rate=10, b_frames=3)
    with av.open(str(film)) as container:
        stamps = [p.pts for p in container.demux(video=0) if p.pts is not None]
    assert stamps != sorted(stamps)
    with RtspServer({"t": film}) as server, live(server.url("t"), every_s=0.0) as source:
        known: list[bool] = []
        offsets: list[float] = []
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and known.count(True) < 60:
            frame = source.next_frame(1.0)
            if frame is None:
                continue
            known.append(frame.by_sender)
            if frame.by_sender:
                offsets.append(frame.shown_at - float(frame.at_s))
    assert known.count(True) >= 60
    assert all(known[known.index(True) :])
    assert max(offsets) - min(offsets) < 0.02


def test_a_dropped_connection_comes_back_and_time_goes_on(server: RtspServer) -> None:
    # So long a wait before the new attempt that nobody can miss it.
    limits = replace(QUICK, backoff_first_s=3.0, backoff_most_s=3.0)
    with live(server.url("t"), every_s=0.1, limits=limits) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        before = source._last_at
        server.say("drop")
        status = until(source, lambda s: s.state is SourceState.RECONNECTING)
        assert "it ended the stream; new attempt in" in status.words
        assert server.url("t") in status.words
        until(source, lambda s: s.state is SourceState.RUNNING)
        assert source.status().reconnects >= 1
        assert before is not None
        assert source._last_at is not None
        assert source._last_at > before


def test_a_stalled_camera_is_reported_within_seconds_and_given_up_in_time(
    server: RtspServer,
) -> None:
    with live(server.url("t"), every_s=0.1) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        server.say("stall")
        try:
            status = until(source, lambda s: s.state is SourceState.STALLED)
            assert status.message == "no picture comes"
            assert status.picture_age_s is not None
            assert status.picture_age_s < 10
            until(source, lambda s: s.state is SourceState.RECONNECTING)
        finally:
            server.say("go")
        until(source, lambda s: s.state is SourceState.RUNNING)


def test_a_camera_that_is_away_is_waited_for(film: Path) -> None:
    with RtspServer({"t": film}) as server, live(server.url("t"), every_s=0.1) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        server.say("down")
        until(source, lambda s: "connection refused" in s.message)
        server.say("up")
        until(source, lambda s: s.state is SourceState.RUNNING)


@pytest.mark.parametrize("digest", [False, True])
def test_a_password_lets_in(film: Path, digest: bool) -> None:
    with (
        RtspServer({"t": film}, USER, PASSWORD, digest) as server,
        live(server.url("t"), username=USER, password=PASSWORD) as source,
    ):
        until(source, lambda s: s.state is SourceState.RUNNING)


def secrets(password: str) -> list[str]:
    pair = base64.b64encode(f"{USER}:{password}".encode()).decode()
    return [password, quote(password, safe=""), quote(password), pair, pair.rstrip("=")]


def test_a_wrong_password_is_reported_and_never_shown(
    film: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = "wr0ng%2F pass:word@x"
    before = av.logging.get_level()
    av.logging.set_level(av.logging.TRACE)
    caplog.set_level(logging.DEBUG)
    try:
        with RtspServer({"t": film}, USER, PASSWORD) as server:
            place = LivePlace(Address.parse(server.url("t"), USER, wrong))
            # FFmpeg's own log, at its wordiest, is only shown blanked.
            with av.logging.Capture(local=False) as logged:
                with pytest.raises(LostError) as error:
                    open_place(place, LiveLimits(open_s=60))
                ffmpeg = "\n".join(line for _, _, line in logged)
            with live(server.url("t"), username=USER, password=wrong) as source:
                status = until(source, lambda s: s.reconnects > 0)
                texts = [repr(source.place), repr(status), status.message, source.name]
                texts.append(repr(source.place.address))
    finally:
        av.logging.set_level(before)
    assert error.value.refused
    assert str(error.value) == f"{server.url('t')}: it refuses the user name or password"
    assert error.value.__context__ is None
    texts += ["".join(traceback.format_exception(error.value)), place.address.blank(ffmpeg)]
    texts += [place.address.blank(record.getMessage()) for record in caplog.records]
    texts += [str(error.value), repr(error.value), *capfd.readouterr()]
    for secret in secrets(wrong):
        assert not any(secret in text for text in texts), secret
    # It was really there to be hidden.
    assert any(secret in ffmpeg for secret in secrets(wrong))


def test_no_such_stream_is_reported(server: RtspServer) -> None:
    with live(server.url("none")) as source:
        status = until(source, lambda s: s.reconnects > 0)
        assert "it has no such stream; check the path of the URL" in status.words


@contextmanager
def talker(speech: bytes, close: bool) -> Iterator[int]:
    """A server that says the same to everybody."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()
    held: list[socket.socket] = []

    def serve() -> None:
        listener.settimeout(0.2)
        while not over.is_set():
            try:
                caller, _ = listener.accept()
            except OSError:
                continue
            caller.sendall(speech)
            held.append(caller)
            if close:
                caller.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        thread.join()
        for caller in held:
            caller.close()
        listener.close()


@pytest.mark.parametrize(
    ("speech", "close"),
    [
        (b"\x00\xff" * 4000, False),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", True),
        (b"", True),
        (b"", False),
        (b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 99999999\r\n\r\nv=0", False),
    ],
    ids=["noise", "http", "closes", "silent", "endless"],
)
def test_what_is_no_camera_never_hangs_or_breaks(speech: bytes, close: bool) -> None:
    quick = LiveLimits(open_s=1.0, give_up_s=1.0, backoff_first_s=0.1, backoff_most_s=0.2)
    with talker(speech, close) as port:
        source = live(f"rtsp://127.0.0.1:{port}/t", limits=quick)
        with source:
            status = until(source, lambda s: s.reconnects >= 2)
        assert status.state is SourceState.RECONNECTING
        assert f"rtsp://127.0.0.1:{port}/t: " in status.words
    thread = source._thread
    assert thread is not None
    thread.join(20)
    assert not thread.is_alive()


class DamagingProxy:
    """Passes TCP on to a server; while it damages, requests arrive with changed letters."""

    def __init__(self, port: int) -> None:
        self.damages = threading.Event()
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
                for pair, is_request in (((near, far), True), ((far, near), False)):
                    threading.Thread(
                        target=self._pass, args=(*pair, is_request), daemon=True
                    ).start()

    def _pass(self, one: socket.socket, other: socket.socket, is_request: bool) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if is_request and self.damages.is_set():
                    data = re.sub(rb"(Authorization: Basic )..", rb"\g<1>xx", data)
                other.sendall(data)
        one.close()
        other.close()

    def drop(self) -> None:
        for line in self._open:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self._listener.close()
        self.drop()


def test_a_damaged_connection_is_no_wrong_password(film: Path) -> None:
    with RtspServer({"t": film}, USER, PASSWORD) as server:
        proxy = DamagingProxy(server.port)
        url = f"rtsp://127.0.0.1:{proxy.port}/t"
        try:
            with live(url, username=USER, password=PASSWORD) as source:
                until(source, lambda s: s.state is SourceState.RUNNING)
                proxy.damages.set()
                proxy.drop()
                status = until(source, lambda s: "it took before" in s.message)
                assert "the connection may be damaged" in status.words
                proxy.damages.clear()
                until(source, lambda s: s.state is SourceState.RUNNING)
                assert PASSWORD not in status.words
        finally:
            proxy.close()
