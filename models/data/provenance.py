"""What networks were trained on, as noted in their model card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from datasets.training.index_patches import patch_count
from datasets.training.sides.shards import read_shard, shards
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import read_json

SOURCES_FILE = "sources.json"
"""Beside a rendered set: names of the fonts it was drawn with."""

PHOTOS_FILE = "source.json"
"""Beside crops of photographs: name, version, licence, attribution."""

TRAINING_FILE = "training.json"
"""Beside checkpoints: what they were trained on."""


class RenderedData(Form):
    """A rendered training set; names of fonts may be unknown while their count is known."""

    name: str
    views: int
    seed: int
    size_px: int
    decks: tuple[str, ...]
    fonts: int
    font_names: tuple[str, ...] = ()


class PhotoData(Form):
    """Photographs that crops were cut from; None where their folder does not say."""

    name: str
    version: str | None = None
    licence: str | None = None
    attribution: str | None = None


class StackData(Form):
    """Rendered strips of chip stacks; the seed is None where it was not noted."""

    name: str
    strips: int
    seed: int | None = None


class PatchData(Form):
    """Rendered patches about indices: how many, and the faces and fonts they show.

    `source` is where the folders of faces come from, with their licence.
    """

    patches: int
    seed: int
    decks: tuple[str, ...]
    fonts: int
    source: str | None = None


class Provenance(Form):
    """Everything that was trained on."""

    rendered: tuple[RenderedData, ...] = ()
    stacks: tuple[StackData, ...] = ()
    photographs: tuple[PhotoData, ...] = ()
    patches: tuple[PatchData, ...] = ()

    def joined(self, other: Provenance) -> Provenance:
        """Both, each source once."""
        return Provenance(
            rendered=_each_set_once(self.rendered + other.rendered),
            stacks=tuple(dict.fromkeys(self.stacks + other.stacks)),
            photographs=tuple(dict.fromkeys(self.photographs + other.photographs)),
            patches=tuple(dict.fromkeys(self.patches + other.patches)),
        )


def _each_set_once(sets: tuple[RenderedData, ...]) -> tuple[RenderedData, ...]:
    """Sets in their order; of two that differ in knowing their fonts' names, the one that does."""
    known: dict[RenderedData, RenderedData] = {}
    for one in sets:
        nameless = one.model_copy(update={"font_names": ()})
        if one.font_names or nameless not in known:
            known[nameless] = one
    return tuple(known.values())


def rendered_data(folder: Path) -> RenderedData:
    """What a rendered set is made of, from its recipe; raises FeltwatchError."""
    path, sources = folder / "recipe.json", folder / SOURCES_FILE
    recipe = read_object(path)
    try:
        return RenderedData(
            name=folder.resolve().name,
            views=recipe["views"],
            seed=recipe["seed"],
            size_px=recipe["size"],
            decks=tuple(recipe["decks"]),
            fonts=recipe["fonts"],
            font_names=tuple(read_object(sources).get("fonts", ())) if sources.is_file() else (),
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise FeltwatchError(f"{path}: not the recipe of a rendered set") from error


def stack_data(folder: Path) -> StackData:
    """How many strips of stacks a folder holds to train on; raises FeltwatchError."""
    paths = shards(folder / "train")
    if not paths:
        raise FeltwatchError(f"{folder}: no strips of stacks in train/; render them first")
    strips = sum(len(read_shard(path).count) for path in paths)
    note = folder / "recipe.json"
    recipe = read_object(note) if note.is_file() else {}
    return StackData(name=folder.resolve().name, strips=strips, seed=recipe.get("seed"))


def patch_data(folder: Path) -> PatchData:
    """How many patches about indices a folder holds, and of which decks; raises FeltwatchError."""
    note = folder / "recipe.json"
    recipe = read_object(note)
    many = sum(patch_count(path) for path in folder.glob("*.npz"))
    try:
        return PatchData(
            patches=many, seed=recipe["seed"], decks=tuple(recipe["decks"]), fonts=recipe["fonts"]
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise FeltwatchError(f"{note}: not the recipe of rendered patches") from error


def photo_data(folder: Path) -> PhotoData:
    """Where crops of photographs come from: `source.json` in their folder or above it.

    Only its name where nothing is given; raises FeltwatchError for a broken file.
    """
    whole = folder.resolve()
    for place in (whole, *whole.parents[:2]):
        path = place / PHOTOS_FILE
        if path.is_file():
            known = {k: v for k, v in read_object(path).items() if k in PhotoData.model_fields}
            try:
                return PhotoData(**({"name": place.name} | known))
            except ValidationError as error:
                raise FeltwatchError(
                    f"{path}: name, version, licence and attribution are texts"
                ) from error
    return PhotoData(name=whole.name)


def read_provenance(path: Path) -> Provenance:
    """The data of a training.json, nothing where there is none; raises FeltwatchError."""
    if not path.is_file():
        return Provenance()
    try:
        return Provenance.model_validate(read_object(path).get("data", {}))
    except ValidationError as error:
        raise FeltwatchError(f"{path}: not a record of a training") from error


def read_object(path: Path) -> dict[str, Any]:
    """A file of one JSON object; raises FeltwatchError."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise FeltwatchError(f"{path}: a JSON object is needed")
    return value
