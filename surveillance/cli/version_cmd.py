"""`feltwatch version`."""

from __future__ import annotations

import typer

from surveillance.version import installed_version


def version_command() -> None:
    """Print the version.

    Examples:

      feltwatch version
    """
    typer.echo(f"feltwatch {installed_version()}")
