"""The process of a job: it runs one command of feltwatch."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

from surveillance.cli import EXIT_STOPPED, main, options
from surveillance.recordings.stop_flag import StopFlag, is_left_alone
from surveillance.recordings.worker import NICENESS, ProcessReport

_LOOK_EVERY_S = 0.5


def run_job(arguments: Sequence[str], folder: str, pipe: Connection, stop: StopFlag) -> None:
    """Run a command in a folder; report its progress, its end and its last message."""
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    options.listener = lambda share: pipe.send(ProcessReport("progress", share))
    said = io.StringIO()
    try:
        os.chdir(folder)
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main(arguments)
    except OSError as error:
        code, words = 2, f"{error.filename}: {error.strerror}"
    else:
        words = (said.getvalue().strip().splitlines() or [""])[-1]
    sys.stdout.flush()
    kind = {0: "done", EXIT_STOPPED: "stopped"}.get(code, "failed")
    with contextlib.suppress(OSError):
        pipe.send(ProcessReport(kind, message="" if kind == "done" else words))
    pipe.close()


def _watch(stop: StopFlag) -> None:
    """Stop as by Ctrl-C when asked to, or when the worker is gone: another one goes on then."""
    while not stop.is_set() and not is_left_alone():
        time.sleep(_LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGINT)
