"""`feltwatch model build`: the whole training recipe in one command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.datasets.simulate_cmd import progress_bar
from surveillance.cli.models.train_extra import train_extra


@dataclass(frozen=True, slots=True)
class PhotoWish:
    """A folder of labelled photographs and what of it is held out."""

    folder: Path
    after: str | None = None
    share: float | None = None
    skip_suits: str = ""


def build_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for everything; goes on if begun.")],
    views: Annotated[int, typer.Option("--views", min=20, help="Views to render.")] = 14000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the rendering.")] = 1,
    size: Annotated[int, typer.Option("--size", min=64, help="Side of a view, px.")] = 640,
    deck: Annotated[
        list[Path] | None,
        typer.Option("--deck", help="Folder of card faces, mixed in; may be given again."),
    ] = None,
    fonts: Annotated[
        Path | None, typer.Option("--fonts", help="Folder of fonts; without it DejaVu.")
    ] = None,
    photos: Annotated[
        list[str] | None,
        typer.Option(
            "--photos",
            help="Labelled photographs, FOLDER:after=17:00 or FOLDER:share=0.2, the part that is "
            "held out; ,skip=S leaves a suit out. May be given again.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="Of each part; its own unless told.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", help="cpu, 0, ...; a GPU where there is one.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that render.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Render, train, add photographs and export: the recipe, stage by stage.

    A stage that is done is passed over, so the same command goes on after a stop. Weights
    trained on rendered pictures alone are kept beside, for the zero-shot figure.

    Examples:

      feltwatch model build --out build --views 14000 --fonts /usr/share/fonts

      feltwatch model build --out build --deck decks/classic --photos pictures:after=17:00,skip=S
    """
    from datasets.render.cards.fonts import default_fonts, usable_fonts

    if size % 32:
        raise FeltwatchError(f"--size {size}: the detector needs a multiple of 32")
    with train_extra():
        from models.recipe import BuildPlan, Photographs, build

    plan = BuildPlan(
        out=out, views=views, seed=seed, size=size, decks=tuple(deck or ()),
        fonts=default_fonts() if fonts is None else usable_fonts(fonts),
        photographs=tuple(
            Photographs(wish.folder, wish.after, wish.share, wish.skip_suits)
            for wish in map(parse_photos, photos or ())
        ),
        epochs=epochs, device=device, workers=workers,
    )  # fmt: skip
    with progress_bar("rendering", shown=not quiet) as show:
        weights = build(plan, lambda text: typer.echo(text, err=True), show)
    typer.echo(f"weights: {weights}")


def parse_photos(text: str) -> PhotoWish:
    """What `--photos` says: a folder, and which part of it is held out.

    >>> parse_photos("phone:share=0.2")
    PhotoWish(folder=PosixPath('phone'), after=None, share=0.2, skip_suits='')
    >>> parse_photos("cards:after=17:00,skip=S")
    PhotoWish(folder=PosixPath('cards'), after='17:00', share=None, skip_suits='S')
    """
    folder, mark, rest = text.partition(":")
    wish = PhotoWish(Path(folder))
    for item in rest.split(",") if mark else ():
        key, _, value = item.partition("=")
        try:
            if key == "after":
                wish = replace(wish, after=value)
            elif key == "share":
                wish = replace(wish, share=float(value))
            elif key == "skip":
                wish = replace(wish, skip_suits=value)
            else:
                raise ValueError(key)
        except ValueError as error:
            raise FeltwatchError(
                f"--photos {text}: {item!r} is not after=HH:MM, share=0.2 or skip=SUITS"
            ) from error
    if (wish.after is None) == (wish.share is None):
        raise FeltwatchError(f"--photos {text}: say what is held out, after=HH:MM or share=0.2")
    return wish
