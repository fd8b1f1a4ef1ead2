"""The command line: `feltwatch COMMAND`, one module per command.

Only the module of the command that was asked for is imported, so that `feltwatch --help`
is quick and a part that is not installed disturbs no other command.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from settlement.errors import FeltwatchError
from surveillance.stopped import Stopped

EXIT_ERROR = 2
EXIT_STOPPED = 130


@dataclass(frozen=True, slots=True)
class _Command:
    """Module and attribute of a command; `is_group` when the attribute is a typer application."""

    module: str
    attribute: str
    short_help: str
    is_group: bool = False


COMMANDS: dict[str, _Command] = {
    "demo": _Command(
        "recordings.demo_cmd", "demo_command", "Audit the sample recording and score it."
    ),
    "audit": _Command("recordings.audit_cmd", "audit_command", "Audit a recording of a table."),
    "serve": _Command(
        "server.serve_cmd", "serve_command", "Watch tables live, with pages and alerts."
    ),
    "worker": _Command(
        "server.worker_cmd", "worker_command", "Audit recordings that wait in the database."
    ),
    "jobs": _Command("server.jobs_cmd", "jobs_app", "Queue rendering, filming and training.", True),
    "calibrate": _Command("server.calibrate_cmd", "calibrate_command", "Tie a camera to the felt."),
    "camera": _Command(
        "server.camera_cmd", "camera_app", "See what a camera shows of its table.", True
    ),
    "chips": _Command("server.chips_cmd", "chips_app", "Show feltwatch the table's chips.", True),
    "cards": _Command(
        "server.cards_cmd", "cards_app", "Show feltwatch the table's deck and joker.", True
    ),
    "banker": _Command(
        "server.banker_cmd", "banker_app", "Show feltwatch the banker's button or dice cup.", True
    ),
    "jackpots": _Command(
        "server.jackpots_cmd",
        "jackpots_app",
        "Show feltwatch the jackpots' displays and lamps.",
        True,
    ),
    "detect": _Command("recordings.detect_cmd", "detect_command", "Find the cards in photographs."),
    "settle": _Command("game.settle_cmd", "settle_command", "Say what is due in a round."),
    "compare": _Command("game.compare_cmd", "compare_command", "Judge what was done in a round."),
    "paytables": _Command("game.paytables_cmd", "paytables_command", "Show pay tables and edges."),
    "houseway": _Command("game.houseway_cmd", "houseway_command", "Set a hand the house way."),
    "rank": _Command("game.rank_cmd", "rank_command", "Say what hands are worth."),
    "bench": _Command("bench_cmd", "bench_app", "Measure how fast this machine works.", True),
    "score": _Command(
        "recordings.score_cmd", "score_command", "Compare what was read with the truth."
    ),
    "simulate": _Command(
        "datasets.simulate_cmd", "simulate_command", "Make a recording with its truth."
    ),
    "dataset": _Command("datasets.dataset_cmd", "dataset_app", "Manage labelled images.", True),
    "model": _Command("models.model_cmd", "model_app", "Train, check and export the model.", True),
    "user": _Command(
        "server.user_cmd", "user_app", "Add people, make links, shut people out.", True
    ),
    "verify": _Command("server.verify_cmd", "verify_command", "Say whether evidence was changed."),
    "schema": _Command("game.schema_cmd", "schema_command", "Print the JSON Schema of a form."),
    "version": _Command("version_cmd", "version_command", "Print the version."),
}

_EXAMPLES = """Watches a Pai Gow Poker table through a camera.

Examples:

  feltwatch demo

  feltwatch audit shift.mp4 --table table.toml --out audit

  feltwatch COMMAND --help
"""


def _load(name: str) -> Any:
    command = COMMANDS[name]
    try:
        module = importlib.import_module(f"surveillance.cli.{command.module}")
    except ImportError as error:
        missing = error.name or str(error)
        raise FeltwatchError(
            f"the command '{name}' cannot start: {missing} is not installed or broken "
            f"({error}); try: pip install 'feltwatch[train]'"
        ) from error
    return getattr(module, command.attribute)


def _stand_in(name: str) -> Callable[[], None]:
    def stand_in() -> None:
        raise AssertionError(f"{name} is only listed here")

    return stand_in


def build_app(wanted: str | None = None) -> typer.Typer:
    """The application; only the command `wanted` is real, the others are listed by name."""
    app = typer.Typer(
        name="feltwatch",
        help=_EXAMPLES,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )

    @app.callback()
    def root() -> None:
        pass

    root.__doc__ = _EXAMPLES
    for name, command in COMMANDS.items():
        if name != wanted:
            app.command(name, help=command.short_help)(_stand_in(name))
        elif command.is_group:
            app.add_typer(_load(name), name=name, short_help=command.short_help)
        else:
            app.command(name, short_help=command.short_help)(_load(name))
    return app


def _wanted(arguments: Sequence[str]) -> str | None:
    first = next((a for a in arguments if not a.startswith("-")), None)
    return first if first in COMMANDS else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    0: done. 2: wrong use or bad input, reported in one line on stderr. 130: stopped by Ctrl-C.
    """
    args = list(sys.argv[1:] if arguments is None else arguments)
    if args == ["--version"]:
        args = ["version"]
    try:
        app = build_app(_wanted(args))
        typer.main.get_command(app).main(args, prog_name="feltwatch")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if code == EXIT_STOPPED:
            _tell("stopped", "the command did not end; what it had finished before is kept")
        return code
    except (KeyboardInterrupt, Stopped) as error:
        _tell("stopped", str(error) or "nothing was written")
        return EXIT_STOPPED
    except FeltwatchError as error:
        _tell("error", str(error))
        return EXIT_ERROR
    except BrokenPipeError:
        # The reader of our output went away; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _tell("error", f"{place}{error.strerror or error}")
        return EXIT_ERROR
    return 0


def _tell(kind: str, message: str) -> None:
    line = " ".join(message.split())
    print(f"feltwatch: {kind}: {line}", file=sys.stderr)
