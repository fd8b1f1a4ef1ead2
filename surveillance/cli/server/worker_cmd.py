"""`feltwatch worker`: run what waits in a shared PostgreSQL database."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from settlement.errors import FeltwatchError

_LOOK_EVERY_S = 0.5


def worker_command(
    config: Annotated[Path, typer.Option("--config", help="The site file of the server.")],
    most: Annotated[
        int, typer.Option("--most", min=1, max=64, help="Audits, and jobs, at the same time.")
    ] = 1,
) -> None:
    """Audit the recordings and run the jobs that wait in the site's database.

    Any number of workers may run, on any machine that reaches the site's PostgreSQL database and,
    under the same paths, its recordings, data and evidence folders, and those of `feltwatch jobs`.
    What a worker had begun that is gone for 30 s another one goes on with. Ctrl-C ends it in good
    order.

    Examples:

      feltwatch worker --config site.toml

      feltwatch worker --config site.toml --most 4
    """
    from surveillance.cli.server.job_process import run_job
    from surveillance.config.site_file import load_site
    from surveillance.recordings import AuditManager
    from surveillance.recordings.command_runner import CommandRunner
    from surveillance.serve import evidence_key
    from surveillance.stopped import ended_by_sigterm
    from surveillance.store import Store

    site = load_site(config)
    os.umask(0o077)
    logging.basicConfig(level=logging.WARNING, format="feltwatch: %(levelname)s: %(message)s")
    with Store.open(site.store_url) as store:
        if store.database.is_sqlite:
            raise FeltwatchError(
                f"{config}: store.url: workers share a PostgreSQL database, and this site keeps "
                "its record in SQLite: its server audits the recordings itself"
            )
        manager = AuditManager.of_site(site, store, evidence_key(site), most)
        runner = CommandRunner(store, run_job, most)
        with (
            contextlib.suppress(KeyboardInterrupt),
            ended_by_sigterm(),
            manager,
            contextlib.ExitStack() as ends,
        ):
            runner.start()
            ends.callback(runner.stop)
            typer.echo(f"{site.site.name}: auditing up to {most} at a time (Ctrl-C ends)")
            # The system may hand SIGTERM to another thread, right after SIGCONT above all. Python
            # acts on it in this one, which nothing wakes: it looks by itself.
            while True:
                time.sleep(_LOOK_EVERY_S)
