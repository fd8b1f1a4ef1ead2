"""Which fonts are fit for the ranks of a deck."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import ImageFont

from datasets.render.cards.deck import DeckStyle, draw_deck
from datasets.render.cards.fonts import UNFIT, default_fonts, has_ranks, usable_fonts
from settlement.errors import FeltwatchError


@pytest.fixture(scope="module")
def letters() -> bytes:
    """The text font that Pillow carries."""
    font = ImageFont.load_default(20)
    assert isinstance(font, ImageFont.FreeTypeFont)
    assert isinstance(font.path, BytesIO)
    return font.path.getvalue()


def test_text_fonts_are_taken_wherever_they_lie(tmp_path: Path, letters: bytes) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.ttf", "deep/er/a.OTF", "readme.txt", "Some-Hairline.ttf", "MySymbols.otf"):
        (tmp_path / name).write_bytes(letters)
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    found = usable_fonts(tmp_path)
    assert found == (str(tmp_path / "b.ttf"), str(tmp_path / "deep/er/a.OTF"))
    deck = draw_deck(DeckStyle(font=found[0]))
    assert len(deck.faces) == 53


def test_glyphs_must_be_there_and_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures: dict[str, bytes] = {}
    monkeypatch.setattr(ImageFont, "truetype", lambda path, size: None)
    monkeypatch.setattr(
        "datasets.render.cards.fonts._ink", lambda font, text: pictures.get(text, text.encode())
    )
    assert has_ranks(tmp_path / "a.ttf")
    pictures["7"] = b""
    assert not has_ranks(tmp_path / "a.ttf")
    pictures["7"] = b"8"
    assert not has_ranks(tmp_path / "a.ttf")
    # The little box that stands for a glyph that is missing.
    pictures["7"] = pictures["\U0010fffd"] = b"box"
    assert not has_ranks(tmp_path / "a.ttf")


@pytest.mark.parametrize(
    ("name", "unfit"),
    [
        ("Lato-Hairline", True), ("Roboto-Thin", True), ("NotoColorEmoji", True), ("cmsy10", True),
        ("D050000L-Dingbats", True), ("STIXSizOneSymReg", False), ("Lato-Light", False),
        ("DejaVuSans-ExtraLight", True), ("cmr10", False), ("LinBiolinum_K", True),
        ("LinBiolinum_RB", False), ("D050000L", True), ("EBGaramond-Initials", True),
    ],
)  # fmt: skip
def test_names(name: str, unfit: bool) -> None:
    assert bool(UNFIT.search(name)) == unfit


def test_nothing_left_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    with pytest.raises(FeltwatchError, match="none of 1 fonts"):
        usable_fonts(tmp_path)
    with pytest.raises(FeltwatchError, match="no such folder of fonts"):
        usable_fonts(tmp_path / "none")


def test_default_fonts_are_matplotlibs_or_none(
    tmp_path: Path, letters: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert all(Path(name).name.startswith("DejaVu") for name in default_fonts())
    monkeypatch.setattr("datasets.render.cards.fonts.find_spec", lambda name: None)
    assert default_fonts() == ()
