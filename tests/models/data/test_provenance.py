"""What networks were trained on, as noted beside sets, crops and checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from datasets.training.sides.shards import save_strips
from models.data.provenance import (
    PhotoData,
    Provenance,
    RenderedData,
    StackData,
    photo_data,
    read_provenance,
    rendered_data,
    stack_data,
)
from settlement.errors import FeltwatchError
from tests.models.strip_sets import empty_strips

RECIPE = {"views": 40, "seed": 7, "size": 640, "decks": ["classic"], "fonts": 2}


def test_a_rendered_set(tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_text(json.dumps(RECIPE))
    data = rendered_data(tmp_path)
    assert data == RenderedData(
        name=tmp_path.name, views=40, seed=7, size_px=640, decks=("classic",), fonts=2
    )
    (tmp_path / "sources.json").write_text(json.dumps({"fonts": ["DejaVuSans", "DejaVuSerif"]}))
    assert rendered_data(tmp_path).font_names == ("DejaVuSans", "DejaVuSerif")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("{", "not valid JSON"),
        ("[]", "a JSON object is needed"),
        (json.dumps(RECIPE | {"views": "many"}), "not the recipe"),
        (json.dumps({"views": 3}), "not the recipe"),
        (json.dumps(RECIPE | {"decks": None}), "not the recipe"),
    ],
)
def test_not_a_rendered_set(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "recipe.json").write_text(text)
    with pytest.raises(FeltwatchError, match=rf"recipe\.json: .*{words}"):
        rendered_data(tmp_path)


def test_strips_of_stacks(tmp_path: Path) -> None:
    folder = tmp_path / "stacks"
    (folder / "train").mkdir(parents=True)
    for name, count in (("0", 3), ("1", 2)):
        save_strips(folder / "train" / f"0000{name}.npz", empty_strips([1] * count))
    assert stack_data(folder) == StackData(name="stacks", strips=5)
    (folder / "recipe.json").write_text(json.dumps({"strips": 5, "seed": 4}))
    assert stack_data(folder).seed == 4
    (folder / "train" / "00001.npz").write_bytes(b"nothing")
    with pytest.raises(FeltwatchError, match=r"00001\.npz: not a shard of strips"):
        stack_data(folder)
    with pytest.raises(FeltwatchError, match="no strips of stacks"):
        stack_data(tmp_path)


def test_photographs_name_their_source_in_or_above_the_crops(tmp_path: Path) -> None:
    crops = tmp_path / "phone" / "crops"
    crops.mkdir(parents=True)
    assert photo_data(crops) == PhotoData(name="crops")
    source = {
        "name": "phone cards",
        "version": "v12",
        "licence": "CC BY 4.0",
        "attribution": "A. B.",
    }
    (tmp_path / "phone" / "source.json").write_text(json.dumps(source | {"pictures": 4}))
    assert photo_data(crops) == PhotoData(**source)
    (crops / "source.json").write_text(json.dumps({"licence": "CC0"}))
    assert photo_data(crops) == PhotoData(name="crops", licence="CC0")
    (crops / "source.json").write_text(json.dumps({"licence": 4}))
    with pytest.raises(FeltwatchError, match=r"source\.json: name, version"):
        photo_data(crops)


def test_a_note_goes_out_and_in(tmp_path: Path) -> None:
    own = Provenance(
        rendered=(RenderedData(name="a", views=1, seed=1, size_px=64, decks=("d",), fonts=0),),
        stacks=(StackData(name="s", strips=3, seed=1),),
        photographs=(PhotoData(name="p", licence="CC0"),),
    )
    path = tmp_path / "training.json"
    path.write_text(json.dumps({"part": "reader", "data": own.model_dump(mode="json")}))
    assert read_provenance(path) == own
    assert read_provenance(tmp_path / "none.json") == Provenance()
    path.write_text(json.dumps({"data": {"rendered": [{"name": "a"}]}}))
    with pytest.raises(FeltwatchError, match="not a record of a training"):
        read_provenance(path)


def test_each_source_is_listed_once() -> None:
    photo = PhotoData(name="p")
    one, two = (
        Provenance(photographs=(photo,)),
        Provenance(photographs=(PhotoData(name="q"), photo)),
    )
    assert [p.name for p in one.joined(two).photographs] == ["p", "q"]


def test_a_set_is_listed_once_with_its_fonts_where_they_are_known() -> None:
    one = RenderedData(name="a", views=40, seed=7, size_px=640, decks=(), fonts=1)
    other = one.model_copy(update={"seed": 8})
    named = one.model_copy(update={"font_names": ("DejaVuSans",)})
    for first, second in ((one, named), (named, one)):
        both = Provenance(rendered=(first, other)).joined(Provenance(rendered=(second,)))
        assert both.rendered == (named, other)
