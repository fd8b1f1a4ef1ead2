"""A PostgreSQL server of our own, for the tests that run on both kinds of store."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

START_TIMEOUT_S = 60.0
_INITDB = ("-U", "feltwatch", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=100")


def no_postgres(reason: str) -> None:
    """Skip the test; where everything must run, fail it."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}: install the package postgresql")
    pytest.skip(reason)


def find_binaries() -> Path | None:
    """The newest folder with both initdb and postgres."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


def _as_owner() -> tuple[list[str], int | None]:
    """What to put before a command, and the user it then runs as; root is refused by it.

    With setpriv the server ends with this process, even when that is killed.
    """
    if os.geteuid() != 0:
        return ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else [], None
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users.get("nobody")
    if user is None or shutil.which("setpriv") is None:
        no_postgres("PostgreSQL refuses root, and there is no other user to run it as")
        raise AssertionError("not reached")
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", "--pdeathsig", "INT", *ids], user.pw_uid


class Server:
    """A server on a socket of its own that can be stopped and started again."""

    def __init__(self, binaries: Path, before: list[str], folder: Path) -> None:
        """Its data are in `folder` already; `host` is how it is reached."""
        self._binaries, self._before, self._folder = binaries, before, folder
        self._process: subprocess.Popen[bytes] | None = None
        self.host = str(folder)

    def start(self) -> None:
        """Start, and wait until it answers."""
        settings = [part for setting in _FAST for part in ("-c", setting)]
        data = self._folder / "data"
        server = str(self._binaries / "postgres")
        command = [*map(str, self._before), server, "-D", str(data), "-k", str(self._folder)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "-h", "", *settings], stdout=log, stderr=subprocess.STDOUT, cwd="/"
            )
        _wait(self._process, self._folder)

    def stop(self) -> None:
        """Stop at once; connections are cut."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """All of its processes stand still meanwhile: connections stay open, nothing answers."""
        assert self._process is not None
        # The parent first, so that it starts no others.
        self._process.send_signal(signal.SIGSTOP)
        found = subprocess.run(
            ["pgrep", "--parent", str(self._process.pid)], capture_output=True, check=False
        )
        children = [int(pid) for pid in found.stdout.split()]
        for pid in children:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in children:
                os.kill(pid, signal.SIGCONT)
            self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """A running server; gives its folder, which is its host name."""
    with stoppable_server() as running:
        yield running.host


@contextlib.contextmanager
def stoppable_server() -> Iterator[Server]:
    """A running server, stopped and taken away in the end."""
    binaries = find_binaries()
    if binaries is None:
        no_postgres("PostgreSQL is not installed")
        raise AssertionError("not reached")
    before, owner = _as_owner()
    # Not below pytest's folders: those are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-", dir="/tmp"))
    running = Server(binaries, before, folder)
    try:
        if owner is not None:
            os.chown(folder, owner, -1)
        data = folder / "data"
        subprocess.run(
            [*before, binaries / "initdb", "-D", data, *_INITDB],
            check=True,
            capture_output=True,
            cwd="/",
        )
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], folder: Path) -> None:
    until = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            psycopg.connect(conninfo(str(folder), "postgres")).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                log = (folder / "log").read_text(errors="replace")
                raise AssertionError(f"PostgreSQL did not start: {log[-2000:]}") from None
            time.sleep(0.05)


def conninfo(host: str, name: str) -> str:
    """How psycopg reaches a database of the server."""
    return f"host={host} user=feltwatch dbname={name}"


def url(host: str, name: str) -> str:
    """How the store reaches a database of the server."""
    return f"postgresql+psycopg://feltwatch@/{name}?host={host}"


def run(host: str, statement: str) -> None:
    """Run one statement beside any database, such as CREATE DATABASE."""
    with psycopg.connect(conninfo(host, "postgres"), autocommit=True) as connection:
        connection.execute(statement.encode())
