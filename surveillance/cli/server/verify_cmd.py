"""`feltwatch verify`: whether evidence is as it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surveillance.cli.datasets.simulate_cmd import progress_bar

EXIT_CHANGED = 1


def verify_command(
    path: Annotated[Path, typer.Argument(help="A bundle, or an evidence folder.")],
    log: Annotated[
        Path | None,
        typer.Option("--log", help="The log of a bundle that lies elsewhere (chain.jsonl)."),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option("--head", help="Hash of a log line noted earlier, which must still stand."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The site's public key, which its log is signed with."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what was changed in a bundle, or in the log and all bundles of a folder.

    Names the part of a bundle, the line of a log, and whether it was altered, removed, added,
    moved or copied. The exit code is 0 when nothing was changed, 1 when something was, 2
    when it could not be checked.

    The log is signed. The public key (feltwatch-data/evidence-key.pem.pub, taken from the
    server once and kept elsewhere) tells whether all of it was written anew by somebody
    else; with it nothing can be signed.

    Examples:

      feltwatch verify feltwatch-data/evidence --key evidence-key.pem.pub

      feltwatch verify 20260102T031500Z-t1-000042-01-4f1c09d2a7be.zip --log chain.jsonl

      feltwatch verify feltwatch-data/evidence --json
    """
    from settlement.errors import FeltwatchError
    from surveillance.evidence.bundle.keys import VerifyKey
    from surveillance.evidence.bundle.verify_folder import verify_file, verify_folder

    public = None if key is None else VerifyKey.load(key)
    if path.is_dir():
        if log is not None:
            raise FeltwatchError("--log is for a single bundle; a folder holds its own log")
        with progress_bar("bundles") as show:
            check = verify_folder(path, noted_head=head, key=public, on_progress=show)
    else:
        check = verify_file(path, log_path=log, noted_head=head, key=public)
    if as_json:
        typer.echo(json.dumps(check.to_dict()))
    else:
        for problem in check.problems:
            typer.echo(str(problem))
        for note in check.notes:
            typer.echo(f"note: {note}")
        lines = f" and {check.lines:,} lines of the log" if check.log else ""
        many = len(check.problems)
        found = "nothing was changed"
        if many:
            found = "1 change" if many == 1 else f"{many:,} changes"
        bundles = "1 bundle" if check.bundles == 1 else f"{check.bundles:,} bundles"
        typer.echo(f"{bundles}{lines} checked: {found}")
        if check.key:
            typer.echo(f"signed by the key {check.key}: {check.signed:,} of {check.lines:,} lines")
        if check.head:
            typer.echo(f"head of the log: {check.head}")
    if check.problems:
        raise typer.Exit(EXIT_CHANGED)
