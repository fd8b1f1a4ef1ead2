"""A server in a process of its own that stores rounds while people judge their alerts."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import uvicorn

from surveillance.live.event_bus import EventBus
from surveillance.live.recorder import Recorder
from surveillance.store import Store
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.live.record_made import no_clip, recorder_of, round_entry

BETWEEN_S = 0.02
"""Between two rounds."""


def report(recorder: Recorder, many: int) -> None:
    """Report rounds from the one after the last that was journaled on."""
    for number in range(recorder.last_round("c1") + 1, many + 1):
        entry = round_entry(number)
        recorder.take(entry)
        if entry.judged.alerts:
            recorder.take(no_clip(entry))
        time.sleep(BETWEEN_S)


def main(url: str, folder: Path, many: int) -> None:
    """Serve until killed; prints the port."""
    with Store.open(url) as store, recorder_of(store, folder) as recorder:
        app = create_app(
            WebSettings(
                store=store, bus=EventBus(), recorder=recorder, evidence_dir=folder / "evidence"
            )
        )
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        threading.Thread(target=server.run, daemon=True).start()
        while not server.started:
            time.sleep(0.01)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
        report(recorder, many)
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
