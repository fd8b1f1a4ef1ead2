"""`feltwatch verify`: whether evidence is as it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surveillance.cli.options import Json, progress_bar

if TYPE_CHECKING:
    from surveillance.evidence.bundle.verify_checkpoints import Place

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
    checkpoints: Annotated[
        list[Path] | None,
        typer.Option(
            "--checkpoints",
            help="Folder or file of checkpoints to compare the log with; may be given again.",
        ),
    ] = None,
    timestamp_ca: Annotated[
        Path | None,
        typer.Option("--timestamp-ca", help="Root certificate of who stamped the checkpoints."),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(
            "--site", help="Site file: compare with its checkpoint folder and its database too."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Report what was changed in a bundle, or in the log and all bundles of a folder.

    Names the part of a bundle, the line of a log, and whether it was altered, removed, added,
    moved or copied. The exit code is 0 when nothing was changed, 1 when something was, 2
    when it could not be checked.

    Checkpoints of the log, which a server keeps in its database and where its site file says,
    reveal a bundle that was dropped from a log chained again, and an older copy of the whole
    folder.

    The log is signed. The public key (feltwatch-data/evidence-key.pem.pub, taken from the
    server once and kept elsewhere) reveals a log that somebody else rewrote as a whole; it
    cannot sign anything.

    Examples:

      feltwatch verify feltwatch-data/evidence --key evidence-key.pem.pub

      feltwatch verify 20260102T031500Z-t1-000042-01-4f1c09d2a7be.zip --log chain.jsonl

      feltwatch verify feltwatch-data/evidence --site site.toml --checkpoints /mnt/other/pit1

      feltwatch verify feltwatch-data/evidence --json
    """
    from settlement.errors import FeltwatchError
    from surveillance.evidence.bundle.keys import VerifyKey
    from surveillance.evidence.bundle.verify_folder import verify_file, verify_folder

    public = None if key is None else VerifyKey.load(key)
    places, authority = checkpoint_places(checkpoints or [], site, timestamp_ca)
    if path.is_dir():
        if log is not None:
            raise FeltwatchError("--log is for a single bundle; a folder holds its own log")
        with progress_bar("bundles") as show:
            check = verify_folder(
                path, noted_head=head, key=public, places=places, authority=authority,
                on_progress=show,
            )  # fmt: skip
    else:
        check = verify_file(
            path, log_path=log, noted_head=head, key=public, places=places, authority=authority
        )
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


def checkpoint_places(
    paths: list[Path], site_file: Path | None, authority: Path | None
) -> tuple[list[Place], Path | None]:
    """The checkpoints of the options, and who stamped them. Raises FeltwatchError."""
    from surveillance.evidence.bundle.checkpoint import CHECKPOINT_FILE
    from surveillance.evidence.bundle.verify_checkpoints import place_at

    if site_file is None:
        return [place_at(path) for path in paths], authority
    from surveillance.config.site_file import load_site
    from surveillance.live.checkpoints import stored_place
    from surveillance.live.sharing.table_share import sharing_name
    from surveillance.store import Store

    site = load_site(site_file)
    folder = site.evidence.checkpoint_dir
    if folder is not None and (folder / CHECKPOINT_FILE).exists() and folder not in paths:
        paths = [*paths, folder]
    with Store.open(site.store_url) as store:
        places = [place_at(path) for path in paths] + [stored_place(store, sharing_name(site))]
    return places, authority or site.evidence.timestamp_ca
