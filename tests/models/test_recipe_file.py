"""Recipe files: what is read, scaled and refused."""

from __future__ import annotations

import hashlib
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from datasets.render.cards.fonts import default_fonts, package_fonts
from models.recipe_file import RECIPE, Folder, Fonts, input_hashes, read_recipe, scaled
from settlement.errors import FeltwatchError


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = RECIPE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "recipe.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_the_fonts_of_the_recipe_are_those_it_was_written_for() -> None:
    recipe = read_recipe()
    for package in recipe.fonts.packages:
        try:
            distribution(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed (feltwatch[train])")
    assert input_hashes(recipe) == {"fonts": recipe.fonts.sha256}


def test_fonts_of_a_package_are_found_by_name_and_a_missing_one_is_named() -> None:
    (arimo,) = (name for name in package_fonts(["fontpkg-arimo"]) if "Italic" not in name)
    assert Path(arimo).name == "Arimo[wght].ttf"
    with pytest.raises(FeltwatchError, match="fonts: package font-of-nobody is not installed"):
        package_fonts(["font-of-nobody"])
    with pytest.raises(FeltwatchError, match="package typer: none of 0 fonts"):
        package_fonts(["typer"])


def test_a_recipe_for_fewer_views_has_fewer_of_everything() -> None:
    recipe = read_recipe()
    half = scaled(recipe, recipe.views.count // 2)
    assert half.detector.steps == recipe.detector.steps // 2
    assert half.patches.count == recipe.patches.count // 2
    assert half.strips.training.cool == recipe.strips.training.cool // 2
    assert half.strips.painted == recipe.strips.painted // 2
    assert half.detector.rate == recipe.detector.rate
    least = scaled(recipe, 20)
    assert least.strips.both.steps == 4
    assert scaled(recipe, 20, steps=2).patches.training.steps == 2


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("int8 = true", "int8 = true\nminutes = 4", "minutes: Extra inputs are not permitted"),
        ("size = 640", "size = 650", "size: Input should be a multiple of 32, got 650"),
        ("count = 14000", "count = 3", "views.count: Input should be greater than or equal to 20"),
        ('name = "drawn decks"\n', "", "name: Field required"),
        ("form = 1", "form = ", "not valid TOML"),
    ],
)
def test_a_wrong_recipe_is_named_by_file_and_key(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    path = changed(tmp_path, old, new)
    with pytest.raises(FeltwatchError, match=f"^{path}: {text}"):
        read_recipe(path)


def test_folders_count_by_their_files_wherever_they_lie(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "deck", tmp_path / "b" / "deck"
    one.mkdir(parents=True)
    (one / "AS.png").write_bytes(b"an ace")
    shutil.copytree(one, two)
    plain = read_recipe().model_copy(update={"fonts": Fonts(packages=("fontpkg-arimo",))})
    first, second = (
        plain.model_copy(update={"decks": (Folder(folder=folder),)}) for folder in (one, two)
    )
    assert first.digest() == second.digest() != plain.digest()
    found = input_hashes(first)
    assert found == input_hashes(second)
    digest = hashlib.sha256(b"an ace").hexdigest()
    wanted = hashlib.sha256(f"{digest} AS.png\n".encode()).hexdigest()
    assert found["decks[0] deck"] == wanted
    other = plain.model_copy(update={"decks": (Folder(folder=one, sha256="0" * 64),)})
    with pytest.raises(FeltwatchError, match=r"decks\[0\] deck: its files have sha256 "):
        input_hashes(other)
    with pytest.raises(FeltwatchError, match=r"decks\[0\]: .*gone: no such folder"):
        input_hashes(plain.model_copy(update={"decks": (Folder(folder=tmp_path / "gone"),)}))


def test_a_recipe_of_a_folder_of_fonts_needs_no_package(tmp_path: Path) -> None:
    fonts = default_fonts()
    if not fonts:
        pytest.skip("matplotlib is not installed")
    folder = tmp_path / "fonts"
    folder.mkdir()
    shutil.copy(fonts[0], folder)
    text = RECIPE.read_text(encoding="utf-8")
    start, end = text.index("[fonts]"), text.index("[views]")
    path = tmp_path / "recipe.toml"
    path.write_text(f'{text[:start]}[fonts]\nfolder = "fonts"\n{text[end:]}', encoding="utf-8")
    recipe = read_recipe(path)
    assert [Path(name).name for name in recipe.font_files] == [Path(fonts[0]).name]
