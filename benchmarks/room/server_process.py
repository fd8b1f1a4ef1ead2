"""The real server as a process of its own, for measurements: its site, and what it uses."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import tomli_w

from benchmarks.room.rtsp_loopback import RtspServer
from settlement.errors import FeltwatchError

STARTS_WITHIN_S = 180.0
_TICKS_S = os.sysconf("SC_CLK_TCK")


def write_site(folder: Path, tables: Mapping[str, Path], rtsp: RtspServer) -> Path:
    """Write a site file whose cameras are the mounts of an RTSP server; return its path.

    `tables` are the table files by camera.
    """
    data = {
        "site": {"name": "bench", "data_dir": "data"},
        "web": {"port": _free_port()},
        "camera": [
            {"name": name, "table_file": str(table.absolute()), "source": rtsp.url(name)}
            for name, table in tables.items()
        ],
    }
    path = folder / "site.toml"
    path.write_text(tomli_w.dumps(data), encoding="utf-8")
    return path


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def make_token(folder: Path) -> str:
    """Make the site's store with a viewer in it; return the viewer's token."""
    from surveillance.accounts import Accounts, Role
    from surveillance.store import Store

    (folder / "data").mkdir()
    with Store.open(f"sqlite:///{folder}/data/feltwatch.sqlite") as store:
        accounts = Accounts(store)
        user, _ = accounts.administration.invite("bench", Role.VIEWER)
        return accounts.tokens.make(user, "bench", Role.VIEWER, None).secret


@contextlib.contextmanager
def running_server(site: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run `feltwatch serve`; give its process and its address, and end it."""
    import tomllib

    port = tomllib.loads(site.read_text(encoding="utf-8"))["web"]["port"]
    command = [sys.executable, "-m", "surveillance", "serve", "--config", str(site)]
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths}
    )
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_server(client: httpx.Client, address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers. Raises FeltwatchError when it ends or takes too long."""
    limit = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < limit:
        if process.poll() is not None:
            raise FeltwatchError(f"the server ended with {process.returncode}")
        with contextlib.suppress(httpx.TransportError):
            if client.get(f"{address}/api/tables").status_code == 200:
                return
        time.sleep(0.2)
    raise FeltwatchError(f"the server did not answer within {STARTS_WITHIN_S:g} s")


def family(process_id: int) -> list[int]:
    """A process and all that come of it, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
                parents[int(entry.name)] = int(stat[1])
    found = [process_id]
    for own in found:
        found += [child for child, parent in parents.items() if parent == own]
    return found


def cpu_s(process_id: int) -> float:
    """CPU time that a process and all that come of it have used, s."""
    total = 0.0
    for own in family(process_id):
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{own}/stat").read_text(encoding="utf-8")
            stat = text.rsplit(")", 1)[1].split()
            total += (int(stat[11]) + int(stat[12])) / _TICKS_S
    return total


def memory_bytes(process_id: int) -> int:
    """Resident memory of one process; 0 when it is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{process_id}/statm").read_text(encoding="ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
