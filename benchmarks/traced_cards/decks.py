"""Folders of card faces to paint with: drawn decks, or decks cut from sheets of 13 x 5 cards."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np

from datasets.render.cards.deck import draw_deck
from datasets.render.cards.deck_style import ornate_style
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.detect.detections import ByteArray

FACE_PX = 400
"""Width of a face."""

SHEET_RANKS, SHEET_SUITS = "A23456789TJQK", "CDHS"
COLUMNS, ROWS = 13, 5
"""A sheet of aisleriot: a row for each suit, then two jokers and one or two backs."""


def write_drawn(out: Path, seed: int) -> Path:
    """Draw a deck of random style and write its faces and back; the folder."""
    deck = draw_deck(ornate_style(np.random.default_rng([seed, 7]), []))
    folder = out / f"drawn-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    for label in DECK_LABELS:
        _write(folder / f"{label}.png", deck.faces[label].bgra)
    _write(folder / "BACK.png", deck.back.bgra)
    return folder


def cut_sheet(out: Path, sheet: Path) -> Path:
    """Cut a sheet (.svg, .svgz) to faces, with rsvg-convert; the folder.

    Raises FeltwatchError where the program is missing or the sheet cannot be read.
    """
    if shutil.which("rsvg-convert") is None:
        raise FeltwatchError("cutting a sheet needs rsvg-convert (Debian: librsvg2-bin)")
    made = subprocess.run(
        ["rsvg-convert", "-w", str(FACE_PX * COLUMNS), str(sheet)],
        capture_output=True, check=False,
    )  # fmt: skip
    image = cv2.imdecode(np.frombuffer(made.stdout or b"0", np.uint8), cv2.IMREAD_UNCHANGED)
    if made.returncode or image is None:
        said = made.stderr.decode(errors="replace").strip()
        raise FeltwatchError(f"{sheet}: expected an SVG sheet of card faces: {said}")
    folder = out / sheet.stem
    folder.mkdir(parents=True, exist_ok=True)
    places = {
        f"{rank}{suit}": (row, column)
        for row, suit in enumerate(SHEET_SUITS) for column, rank in enumerate(SHEET_RANKS)
    }  # fmt: skip
    places |= {JOKER: (4, 0), "JOKER2": (4, 1), "BACK": (4, 2), "BACK2": (4, 3)}
    high, wide = image.shape[0] / ROWS, image.shape[1] / COLUMNS
    for name, (row, column) in places.items():
        cell = image[
            round(row * high) : round((row + 1) * high),
            round(column * wide) : round((column + 1) * wide),
        ]
        solid = np.argwhere(cell[..., 3] > 128)
        if len(solid):
            (y0, x0), (y1, x1) = solid.min(axis=0), solid.max(axis=0) + 1
            _write(folder / f"{name}.png", np.asarray(cell[y0:y1, x0:x1], np.uint8))
    return folder


def _write(path: Path, bgra: ByteArray) -> None:
    if not cv2.imwrite(str(path), bgra):
        raise FeltwatchError(f"{path}: the image cannot be written there")
