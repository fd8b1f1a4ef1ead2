"""Which fonts the ranks of drawn decks may be set in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from settlement.errors import FeltwatchError

UNFIT = re.compile(
    r"symbol|dingbat|ornament|icon|emoji|awesome|webding|wingding|barcode|braille|music|math"
    r"|^cm(ex|mi|sy)\d|hairline|extra-?light|ultra-?light|thin|outline|redacted|blank|lastresort|notdef"
    r"|keyboard|keycap|initials|^D0500|^LinBiolinum_K$|^LinLibertine_I$",
    re.IGNORECASE,
)
"""Names of fonts without letters, or with strokes too thin for a card."""

NEEDED = "AKQJ0123456789"
GLYPH_PX = 40
MISSING = "\U0010fffd"
"""A private place that no text font fills: it renders as a missing glyph."""


def usable_fonts(folder: Path) -> tuple[str, ...]:
    """Paths of the `.ttf` and `.otf` files below `folder` that can show the ranks.

    Left out are fonts of symbols and hairlines by name, and those whose glyphs of the ranks
    are missing or alike. Raises FeltwatchError when nothing is left.
    """
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder of fonts")
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {".ttf", ".otf"})
    found = tuple(str(p) for p in files if not UNFIT.search(p.stem) and has_ranks(p))
    if not found:
        raise FeltwatchError(
            f"{folder}: none of {len(files)} fonts (.ttf, .otf) below it can show the ranks"
        )
    return found


def has_ranks(path: Path) -> bool:
    """Whether the glyphs of A, K, Q, J and 0 to 9 exist and all differ."""
    try:
        font = ImageFont.truetype(str(path), GLYPH_PX)
        glyphs = [_ink(font, text) for text in (MISSING, *NEEDED)]
    except (OSError, ValueError):
        return False
    return all(glyphs[1:]) and len(set(glyphs)) == len(glyphs)


def _ink(font: ImageFont.FreeTypeFont, text: str) -> bytes:
    """The image of a glyph as bytes; empty where nothing is drawn."""
    image = Image.new("L", (2 * GLYPH_PX, 2 * GLYPH_PX), 0)
    ImageDraw.Draw(image).text((GLYPH_PX // 2, GLYPH_PX // 4), text, fill=255, font=font)
    ink = np.asarray(image)
    return ink.tobytes() if ink.any() else b""


def default_fonts() -> tuple[str, ...]:
    """The DejaVu fonts that matplotlib brings; none where it is not installed.

    Without any, decks are drawn with Pillow's built-in font.
    """
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return ()
    folder = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
    files = sorted(folder.glob("DejaVu*.ttf"))
    return tuple(str(p) for p in files if not UNFIT.search(p.stem) and has_ranks(p))


def package_fonts(packages: Sequence[str]) -> tuple[str, ...]:
    """Paths of the `.ttf` files that installed packages bring and that can show the ranks.

    In the order of the packages and of their files' names, which is the same on every machine.
    Raises FeltwatchError for a package that is not installed or has no such font.
    """
    found: list[str] = []
    for package in packages:
        try:
            own = [Path(str(one.locate())) for one in files(package) or ()]
        except PackageNotFoundError as error:
            raise FeltwatchError(
                f'fonts: package {package} is not installed: pip install "feltwatch[train]" '
                "brings those of the recipe that comes along"
            ) from error
        fonts = sorted((p for p in own if p.suffix.lower() == ".ttf"), key=lambda p: p.name)
        fit = [str(p) for p in fonts if not UNFIT.search(p.stem) and has_ranks(p)]
        if not fit:
            raise FeltwatchError(
                f"fonts: package {package}: none of {len(fonts)} fonts (.ttf) can show the ranks"
            )
        found += fit
    return tuple(found)
