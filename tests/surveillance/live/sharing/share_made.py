"""A server that shares cameras, as a process: it watches noise and serves its pages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.room.served import served
from surveillance.config.site_file import load_site
from surveillance.serve import serve_stack
from surveillance.stopped import ended_by_sigterm
from tests.surveillance.live.live_room import write_site
from tests.surveillance.live.watch_made import DECIDED, DECIDES, EVERY_S

CAMERAS = ("c1", "c2")


def write_share(folder: Path, film: Path, url: str) -> Path:
    """The site file of a server that shares two cameras."""
    folder.mkdir()
    others = [
        {"name": name, "table_file": "table.toml", "source": str(film), "loop": True}
        for name in CAMERAS[1:]
    ]
    return write_site(
        folder, str(film), camera={"loop": True}, others=others,
        store={"url": url, "share_cameras": True},
        # The machine may be busy.
        limits={"start_s": 600.0},
    )  # fmt: skip


@contextmanager
def sharing(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server of a folder's `site.toml` as a process, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.surveillance.live.sharing.share_made", str(folder)],
        stdout=subprocess.PIPE, text=True,
        # Seldom enough for the clips and bundles of four cameras on a machine that is busy.
        env={**os.environ, DECIDED: str(folder / "decided.txt"), EVERY_S: "6"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def decided(folder: Path) -> list[tuple[str, float]]:
    """Each round that a server's cameras have decided, with its time, s since 1970."""
    lines = [line.split() for line in (folder / "decided.txt").read_text().splitlines()]
    return [(round_id, round(float(at), 3)) for at, round_id in lines]


def main(folder: Path) -> None:
    """Watch until SIGTERM, or until it is killed."""
    site_file = folder / "site.toml"
    with (
        ended_by_sigterm(),
        serve_stack(load_site(site_file), site_file, watcher=DECIDES) as stack,
        served(stack.app) as address,
    ):
        print(address, flush=True)
        while True:
            sys.stdin.read(1)


if __name__ == "__main__":
    import contextlib

    with contextlib.suppress(KeyboardInterrupt):
        main(Path(sys.argv[1]))
