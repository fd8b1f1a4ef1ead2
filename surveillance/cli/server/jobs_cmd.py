"""`feltwatch jobs`: rendering, filming and training as jobs of the site's database."""

from __future__ import annotations

import getpass
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.options import JsonLines

if TYPE_CHECKING:
    from surveillance.store import Store

JOBS = (("simulate",), ("model", "render"), ("model", "build"))
"""Commands that go on where they were killed: what is finished is not made again."""

jobs_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Queue commands that take long; any worker runs them.

    Jobs are in the database of a site: with PostgreSQL `feltwatch worker` runs them on any machine
    that reaches the folders, with SQLite `feltwatch jobs run` here.

    Examples:

      feltwatch jobs add --config site.toml --shards 8 -- simulate --rounds 300 --out night

      feltwatch jobs run --config site.toml --most 2

      feltwatch jobs list --config site.toml
    """,
)

Config = Annotated[Path, typer.Option("--config", help="The site file of the server.")]


@jobs_app.callback()
def _jobs() -> None:
    pass


@jobs_app.command("add")
def add_command(
    command: Annotated[list[str], typer.Argument(help="After --: the command and its options.")],
    config: Config,
    shards: Annotated[
        int, typer.Option("--shards", min=1, max=9999, help="simulate: film in so many jobs.")
    ] = 1,
) -> None:
    """Queue simulate, model render or model build; a job that is there already is kept once.

    The command is run in this folder, which every worker must reach under the same path. One that
    was killed is begun again by another worker and keeps what was finished. What failed or was
    stopped waits again when it is added again.

    Examples:

      feltwatch jobs add --config site.toml --shards 8 -- simulate --rounds 300 --out night

      feltwatch jobs add --config site.toml -- model render --views 14000 --out set
    """
    for arguments in job_commands(command, shards):
        with _store(config) as store:
            row = store.jobs.add(arguments, str(Path.cwd()), getpass.getuser())
        typer.echo(f"job {row.id} ({row.state}): feltwatch {' '.join(row.arguments)}")


@jobs_app.command("list")
def list_command(
    config: Config,
    as_json: JsonLines = False,
) -> None:
    """List the jobs: state, how far, whose, and why one failed.

    Examples:

      feltwatch jobs list --config site.toml

      feltwatch jobs list --config site.toml --json
    """
    with _store(config) as store:
        rows = store.jobs.all()
    for row in rows:
        if as_json:
            typer.echo(json.dumps(asdict(row), default=str))
            continue
        words = f"  {row.message}" if row.message else ""
        line = f"{row.state:8} {row.share:4.0%}  {' '.join(row.arguments)}{words}"
        typer.echo(f"{row.id:5}  {line}")


@jobs_app.command("stop")
def stop_command(id: Annotated[int, typer.Argument(help="Its number.")], config: Config) -> None:
    """Stop a job; it keeps what is finished and goes on when it is added again.

    Examples:

      feltwatch jobs stop 3 --config site.toml
    """
    with _store(config) as store:
        row = store.jobs.stop(id)
    typer.echo(f"job {id}: {'stopping' if row.state == 'running' else row.state}")


@jobs_app.command("run")
def run_command_here(
    config: Config,
    most: Annotated[int, typer.Option("--most", min=1, max=64, help="Jobs at a time.")] = 1,
) -> None:
    """Run the jobs that wait in processes here, until none is left.

    Examples:

      feltwatch jobs run --config site.toml

      feltwatch jobs run --config site.toml --most 4
    """
    from surveillance.cli.server.job_process import run_job
    from surveillance.recordings.command_runner import CommandRunner

    with _store(config) as store:
        if store.database.is_sqlite:
            store.jobs.free_all()
        CommandRunner(store, run_job, most).run_all()


def job_commands(command: Sequence[str], shards: int) -> list[list[str]]:
    """The command lines of a command's jobs. Raises FeltwatchError for one that is no job.

    >>> job_commands(["simulate", "--out", "a"], 2)
    [['simulate', '--out', 'a', '--shard', '1/2'], ['simulate', '--out', 'a', '--shard', '2/2']]
    """
    if not any(tuple(command[: len(job)]) == job for job in JOBS):
        names = ", ".join(" ".join(job) for job in JOBS)
        raise FeltwatchError(f"{' '.join(command[:2])!r} is no job; expected one of {names}")
    if shards == 1:
        return [list(command)]
    if command[0] != "simulate" or "--shard" in command:
        raise FeltwatchError("--shards is for simulate without --shard")
    return [[*command, "--shard", f"{n}/{shards}"] for n in range(1, shards + 1)]


def _store(config: Path) -> Store:
    from surveillance.config.site_file import load_site
    from surveillance.store import Store

    return Store.open(load_site(config).store_url)
