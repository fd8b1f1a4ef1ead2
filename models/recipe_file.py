"""The recipe file: everything that weights are made from, as TOML."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from datasets.render.cards.fonts import package_fonts, usable_fonts
from models.data.digests import files_digest, folder_digest
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import read_toml

RECIPE = Path(__file__).parent / "recipe.toml"
"""The recipe that comes along."""

Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Training(Form):
    """One training; detector and reader round its steps up to whole passes over their data."""

    steps: Count = Field(description="Batches.")
    rate: Annotated[float, Field(gt=0, le=0.1)] = Field(description="Highest learning rate.")
    batch: Count = Field(description="Samples in a batch.")
    cool: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Stack reader: the last steps, at a falling learning rate."
    )


class Fonts(Form):
    """The fonts of drawn decks: those of installed packages, or of a folder."""

    packages: tuple[str, ...] = ()
    folder: Path | None = None
    sha256: Sha256 | None = Field(default=None, description="Of the files used; checked before.")


class Folder(Form):
    """A folder of files that are not made here, by its content."""

    folder: Path
    sha256: Sha256 | None = Field(default=None, description="Of its files; checked before.")


class Photographs(Folder):
    """Labelled photographs, and the part of them that is never opened here."""

    after: str | None = Field(default=None, description="Held out: taken from HH:MM on.")
    share: float | None = Field(default=None, description="Held out: this share, by hash of name.")
    skip_suits: str = Field(default="", description="Suits whose indices are left out.")


class Views(Form):
    """Rendered views with their labels, and crops of their indices."""

    count: Annotated[int, Field(ge=20)]


class Patches(Form):
    """Rendered patches about indices, and the reader trained on with them."""

    count: Count
    pool: Annotated[int, Field(ge=8)] = Field(description="Kept in memory, 38 kB each.")
    training: Training


class Strips(Form):
    """Rendered sides of chip stacks, and the stack reader trained on them."""

    count: Count = Field(description="Ray-cast sides.")
    painted: Count = Field(description="Sides by the painter of simulated tables.")
    beside: Count = Field(description="More ray-cast sides, to be mixed with the painted ones.")
    training: Training = Field(description="On ray-cast sides.")
    both: Training = Field(description="On from there, on painted ones and those beside them.")


class FromPhotographs(Form):
    """Detector and reader trained on with photographs."""

    sets: tuple[Photographs, ...] = ()
    weight: Count = Field(description="Photographs count so often beside rendered views.")
    share: Annotated[float, Field(gt=0, lt=0.5)] = Field(description="Of a batch of patches.")
    detector: Training
    reader: Training


class Recipe(Form):
    """What weights are made from; the same recipe gives the same weights."""

    form: Literal[1]
    name: str
    seed: Seed
    size: Annotated[int, Field(ge=64, multiple_of=32)] = Field(description="Side of a view, px.")
    int8: bool = Field(description="Whether the detector is made in int8 too.")
    fonts: Fonts
    decks: tuple[Folder, ...] = ()
    views: Views
    detector: Training
    reader: Training
    patches: Patches
    strips: Strips
    photographs: FromPhotographs

    @property
    def font_files(self) -> tuple[str, ...]:
        """The files of the fonts. Raises FeltwatchError where there are none."""
        found = usable_fonts(self.fonts.folder) if self.fonts.folder else ()
        return (*package_fonts(self.fonts.packages), *found)

    def digest(self) -> str:
        """SHA-256 of all values; folders count by their names, not by where they lie."""
        values = self.model_dump(mode="json")
        for one in (*values["decks"], *values["photographs"]["sets"], values["fonts"]):
            one["folder"] = one["folder"] and Path(one["folder"]).name
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def read_recipe(path: Path = RECIPE) -> Recipe:
    """A recipe from its TOML file; folders are taken from where that lies.

    Raises FeltwatchError naming the file, the key and what is accepted.
    """
    values = read_toml(path)
    try:
        recipe = Recipe.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        got = "" if first["type"] == "missing" else f", got {first['input']!r}"
        raise FeltwatchError(f"{path}: {key}: {first['msg']}{got}") from error
    return _placed(recipe, path.resolve().parent)


def _placed(recipe: Recipe, place: Path) -> Recipe:
    def within(one: Any) -> Any:
        return one.model_copy(update={"folder": one.folder and place / one.folder})

    photographs = recipe.photographs.model_copy(
        update={"sets": tuple(within(one) for one in recipe.photographs.sets)}
    )
    return recipe.model_copy(
        update={
            "decks": tuple(within(one) for one in recipe.decks),
            "fonts": within(recipe.fonts),
            "photographs": photographs,
        }
    )


def scaled(recipe: Recipe, views: int, steps: int | None = None) -> Recipe:
    """The recipe for other views: counts and steps go with them; `steps` for every training."""
    share = views / recipe.views.count

    def changed(one: Any) -> Any:
        changes: dict[str, Any] = {}
        for name, value in one:
            if name == "steps":
                changes[name] = steps or max(1, round(value * share))
            elif name == "cool":
                changes[name] = round(value * share)
            elif name in ("count", "painted", "beside"):
                changes[name] = max(1, round(value * share))
            elif isinstance(value, Form):
                changes[name] = changed(value)
        return one.model_copy(update=changes)

    made = changed(recipe).model_copy(update={"views": Views(count=views)})
    return Recipe.model_validate(made.model_dump())


def input_hashes(recipe: Recipe) -> dict[str, str]:
    """SHA-256 of fonts, decks and photographs by name.

    Raises FeltwatchError for what is not there, or differs from the hash in the recipe.
    """
    found = {"fonts": files_digest(map(Path, recipe.font_files))}
    expected = {"fonts": recipe.fonts.sha256}
    for kind, folders in (("decks", recipe.decks), ("photographs.sets", recipe.photographs.sets)):
        for number, one in enumerate(folders):
            if not one.folder.is_dir():
                raise FeltwatchError(f"{kind}[{number}]: {one.folder}: no such folder")
            key = f"{kind}[{number}] {one.folder.name}"
            found[key], expected[key] = folder_digest(one.folder), one.sha256
    for key, sha256 in found.items():
        if expected[key] not in (None, sha256):
            raise FeltwatchError(
                f"{key}: its files have sha256 {sha256}, the recipe has {expected[key]}; take the "
                "files that the recipe was written for, or put their hash into it"
            )
    return found
