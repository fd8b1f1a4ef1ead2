"""`feltwatch model build`: from nothing to weights by a recipe, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.models.train_extra import train_extra
from surveillance.cli.options import Decks, Device, Quiet, progress_bar

if TYPE_CHECKING:
    from models.recipe_file import Photographs, Recipe


def build_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for everything; goes on if begun.")],
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", help="TOML file; without it the one that comes along."),
    ] = None,
    views: Annotated[
        int | None,
        typer.Option("--views", min=20, help="Views; other counts and steps go with them."),
    ] = None,
    int8: Annotated[
        bool | None, typer.Option("--int8/--no-int8", help="Whether to make an int8 detector too.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of everything.")] = None,
    size: Annotated[int | None, typer.Option("--size", min=64, help="Side of a view, px.")] = None,
    deck: Decks = None,
    fonts: Annotated[
        Path | None,
        typer.Option("--fonts", help="Folder of fonts, in place of the recipe's packages."),
    ] = None,
    photos: Annotated[
        list[str] | None,
        typer.Option(
            "--photos",
            help="Labelled photographs, FOLDER:after=17:00 or FOLDER:share=0.2, the part that is "
            "held out; ,skip=S leaves a suit out. May be given again.",
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Of every training, in place of its own.")
    ] = None,
    device: Device = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that render.")] = 1,
    quiet: Quiet = False,
) -> None:
    """Render, train, export and add photographs: the recipe, stage by stage.

    The same recipe gives the same weights, also when the command was stopped and is given
    again. Options take the place of the recipe's values. Weights trained on rendered images
    alone are kept beside, for the zero-shot figure. The network that compares indices with the
    samples of a deck is no part of the recipe: 'feltwatch model likeness' trains it.

    Examples:

      feltwatch model build --out build

      feltwatch model build --out build --recipe mine.toml --workers 8

      feltwatch model build --out build --deck decks/classic --photos photos:after=17:00,skip=S
    """
    with train_extra():
        from models.recipe import Build, build
        from models.recipe_file import RECIPE, read_recipe

    changes = {"seed": seed, "size": size, "int8": int8}
    made = _changed(read_recipe(recipe or RECIPE), changes, views, steps, deck, fonts, photos)
    with progress_bar("stages", shown=not quiet) as show:
        plan = Build(
            made, out, device=device, workers=workers, show=show,
            report=lambda text: typer.echo(text, err=True),
        )  # fmt: skip
        weights = build(plan)
    typer.echo(f"weights: {weights}")


def _changed(
    recipe: Recipe, changes: dict[str, Any], views: int | None, steps: int | None,
    decks: list[Path] | None, fonts: Path | None, photos: list[str] | None,
) -> Recipe:  # fmt: skip
    from models.recipe_file import Folder, Fonts, scaled

    if changes["size"] is not None and changes["size"] % 32:
        raise FeltwatchError(f"--size {changes['size']}: the detector needs a multiple of 32")
    if views is not None or steps is not None:
        recipe = scaled(recipe, views or recipe.views.count, steps)
    values: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
    if decks:
        values["decks"] = tuple(Folder(folder=one) for one in decks)
    if fonts:
        values["fonts"] = Fonts(folder=fonts)
    if photos:
        sets = tuple(parse_photos(one) for one in photos)
        values["photographs"] = recipe.photographs.model_copy(update={"sets": sets})
    return recipe.model_copy(update=values)


def parse_photos(text: str) -> Photographs:
    """Parse a value of `--photos`: a folder, and the part of it that is held out.

    >>> parse_photos("phone:share=0.2").share
    0.2
    >>> parse_photos("cards:after=17:00,skip=S").skip_suits
    'S'
    """
    from models.recipe_file import Photographs

    folder, mark, rest = text.partition(":")
    values: dict[str, Any] = {}
    for item in rest.split(",") if mark else ():
        key, _, value = item.partition("=")
        try:
            if key == "after":
                values["after"] = value
            elif key == "share":
                values["share"] = float(value)
            elif key == "skip":
                values["skip_suits"] = value
            else:
                raise ValueError(key)
        except ValueError as error:
            raise FeltwatchError(
                f"--photos {text}: {item!r} is not after=HH:MM, share=0.2 or skip=SUITS"
            ) from error
    if ("after" in values) == ("share" in values):
        raise FeltwatchError(f"--photos {text}: say what is held out, after=HH:MM or share=0.2")
    return Photographs(folder=Path(folder), **values)
