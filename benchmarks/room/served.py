"""The real application on a port of loopback, for as long as a measurement lasts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from settlement.errors import FeltwatchError
from surveillance.serve import settle_memory

_START_TIMEOUT_S = 30.0


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Serve `app` and give its base URL. Raises FeltwatchError when the server does not start."""
    # As `feltwatch serve` does.
    settle_memory()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + _START_TIMEOUT_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise FeltwatchError("the web server did not start; its log says why")
        time.sleep(0.02)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(_START_TIMEOUT_S)
