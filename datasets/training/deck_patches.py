"""Patches of a whole deck's indices, to train what compares an index with a deck's samples.

Of each deck its 53 indices are shown once as in a spread deck and again as in hands, with others
that are none. Letters are of any script and signs of any shape: what is learned is to compare, not
to know them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from datasets.render.appearance import felt_rgb
from datasets.render.cards.deck import Deck, Index, Picture, draw_deck
from datasets.render.cards.deck_style import DeckStyle, rare_style
from datasets.render.cards.icons import any_sign
from datasets.render.cards.mixed import filled_deck, mixed_deck
from datasets.simulate.laid_out import DECK_PITCH_MM
from datasets.training.index_patches import CONTEXT, PATCH_PX, note_recipe
from datasets.training.new_decks import new_deck
from datasets.training.training_set import CROP_MARGIN, NONE_CLASS
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER, RANKS, SUITS
from vision.geometry.table import FloatArray
from vision.geometry.turned import axes

STRANGE, STRANGE_SIGNS, BAD_LETTER = 0.5, 0.45, "\U0010fffd"
"""Share of decks with letters of any script, that of those whose suits are any signs, and a
character that no font has."""

LEAST_WIDE, MOST_WIDE = 0.2, 1.5
"""Width over height of a letter."""

ALIKE = 0.22
"""Two inks whose difference is less than this share of both are alike: o and O, A and Alpha."""

TRIES, MOST_LETTERS = 20, 80

SCRIPTS = (
    (0x41, 0x5A), (0x61, 0x7A), (0x30, 0x39), (0xC0, 0x17F), (0x391, 0x3C9), (0x410, 0x44F),
    (0x531, 0x586), (0x5D0, 0x5EA), (0x621, 0x64A), (0x904, 0x939), (0xE01, 0xE2E),
    (0x10A0, 0x10FF), (0x1200, 0x1350), (0x13A0, 0x13F4), (0x16A0, 0x16EA), (0x3041, 0x3096),
    (0x30A1, 0x30FA), (0x4E00, 0x4FFF), (0x2460, 0x249B), (0xAC00, 0xADFF),
)  # fmt: skip
"""First and last characters of scripts that letters are drawn from."""

SHARD_DECKS = 20
HAND_PITCH_MM, NONE_SHARE = (12.0, 30.0), 0.3
"""From card to card in a hand, and patches of none for each index."""


@dataclass(frozen=True, slots=True, eq=False)
class DeckPatches:
    """Patches uint8 (n, 112, 112, 3) BGR of one deck, classes int16 (n,), aspects float32 (n,).

    The first 53 are its samples, in the order of DECK_LABELS.
    """

    patches: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int16]
    aspects: npt.NDArray[np.float32]


@lru_cache(maxsize=16384)
def shape_of(font: str, text: str) -> Picture | None:
    """Ink of a text cut to its bounds, uint8 (24, 24); None without any, or where that is too wide
    or too narrow for a rank."""
    image = Image.new("L", (48 * (len(text) + 1), 72), 0)
    try:
        ImageDraw.Draw(image).text((12, 10), text, fill=255, font=_font(font))
    except (OSError, ValueError):
        return None
    ink = np.asarray(image)
    rows, columns = np.flatnonzero(ink.max(axis=1)), np.flatnonzero(ink.max(axis=0))
    if not len(rows):
        return None
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if not LEAST_WIDE <= ink.shape[1] / ink.shape[0] <= MOST_WIDE:
        return None
    return np.asarray(cv2.resize(ink, (24, 24), interpolation=cv2.INTER_AREA), np.uint8)


@lru_cache(maxsize=64)
def _font(path: str) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, 36)


def alike(one: Picture, other: Picture) -> bool:
    """Whether two inks are one sign to a camera."""
    off = np.abs(one.astype(np.int16) - other).mean()
    return bool(off < ALIKE * max(1.0, float(one.mean() + other.mean())))


def strange_style(rng: np.random.Generator, fonts: Sequence[str]) -> DeckStyle:
    """A style as `rare_style` draws it, with ranks named by letters of any script.

    All ranks are, or ace and court cards alone; no two of a deck look alike. Now and then suits
    have signs of any shape.
    """
    style = rare_style(rng, list(fonts))
    for _ in range(TRIES):
        font = fonts[int(rng.integers(len(fonts)))]
        scripts = [SCRIPTS[int(k)] for k in rng.integers(0, len(SCRIPTS), 2)]
        named = list(RANKS) if rng.random() < 0.6 else ["A", "K", "Q", "J"]
        own = unlike_letters(rng, font, scripts, named)
        if own is not None:
            break
    else:
        return style
    letters = dict(zip(named, own, strict=True))
    signs: dict[str, int] = {}
    if rng.random() < STRANGE_SIGNS:
        signs = _signs(rng, [suit for suit in SUITS if rng.random() < 0.8])
    return replace(
        style, font=font, glyphs=None, letters=letters, ten=letters.get("T", "10"), signs=signs,
    )  # fmt: skip


def unlike_letters(
    rng: np.random.Generator, font: str, scripts: Sequence[tuple[int, int]], named: Sequence[str]
) -> list[str] | None:
    """A letter of `scripts` for each of the `named` ranks, none like another or a rank that stays.

    None where a font shows too few.
    """
    kept = [BAD_LETTER, *("10" if rank == "T" else rank for rank in RANKS if rank not in named)]
    shapes = [shape for text in kept if (shape := shape_of(font, text)) is not None]
    codes = np.unique(np.concatenate([np.arange(low, high + 1) for low, high in scripts]))
    found: list[str] = []
    for code in rng.permutation(codes)[:MOST_LETTERS]:
        shape = shape_of(font, chr(int(code)))
        if shape is None or any(alike(shape, other) for other in shapes):
            continue
        shapes.append(shape)
        found.append(chr(int(code)))
        if len(found) == len(named):
            return found
    return None


def _signs(rng: np.random.Generator, suits: Sequence[str]) -> dict[str, int]:
    """Seeds of signs for suits, none like another."""
    found: dict[str, int] = {}
    shapes: list[Picture] = []
    for suit in suits:
        for seed in rng.integers(2**31, size=TRIES):
            shape = np.asarray(cv2.resize(any_sign(int(seed)), (24, 24)), np.uint8)
            if not any(alike(shape, other) for other in shapes):
                found[suit] = int(seed)
                shapes.append(shape)
                break
    return found


def any_deck(rng: np.random.Generator, folders: Sequence[Path], fonts: Sequence[str]) -> Deck:
    """A deck at random: as those that readers learn from, or with letters of any script."""
    if not fonts or rng.random() >= STRANGE:
        return new_deck(rng, folders, fonts)
    style = strange_style(rng, fonts)
    if folders and rng.random() < 0.4:
        return mixed_deck(filled_deck(folders[int(rng.integers(len(folders)))], style), style)
    return draw_deck(style)


def draw_deck_patches(
    rng: np.random.Generator, folders: Sequence[Path], fonts: Sequence[str]
) -> DeckPatches:
    """A deck at random, its samples, each index once more as in a hand, and what is none."""
    cv2.setNumThreads(1)
    deck = _whole_deck(rng, folders, fonts)
    faces = deck.faces
    ground = _ground(rng)
    found: list[tuple[Picture, int, Index]] = []
    for k, label in enumerate(DECK_LABELS):
        index = faces[label].indices[0]
        found.append((_shown(rng, deck, label, index, ground, True), k, index))
    for k, label in enumerate(DECK_LABELS):
        index = faces[label].indices[int(rng.integers(len(faces[label].indices)))]
        found.append((_shown(rng, deck, label, index, ground, False), k, index))
    for _ in range(round(NONE_SHARE * len(DECK_LABELS))):
        label = DECK_LABELS[int(rng.integers(len(DECK_LABELS)))]
        other = _beside(rng, deck, label)
        if other is not None:
            found.append((_shown(rng, deck, label, other, ground, False), NONE_CLASS, other))
    sides = [(i.rect_mm[2] - i.rect_mm[0], i.rect_mm[3] - i.rect_mm[1]) for _, _, i in found]
    return DeckPatches(
        np.stack([patch for patch, _, _ in found]),
        np.array([label for _, label, _ in found], np.int16),
        np.array([wide / max(high, 1e-6) for wide, high in sides], np.float32),
    )


def _whole_deck(
    rng: np.random.Generator, folders: Sequence[Path], fonts: Sequence[str], tries: int = TRIES
) -> Deck:
    """A deck all of whose faces can be drawn; raises the last error where none of a few can."""
    try:
        deck = any_deck(rng, folders, fonts)
        # A font may lack a word that is drawn, or show a letter that no card holds.
        for label in DECK_LABELS:
            deck.faces[label]
    except (FeltwatchError, OSError, ValueError, cv2.error):
        if tries <= 1:
            raise
        return _whole_deck(rng, folders, fonts, tries - 1)
    return deck


def _ground(rng: np.random.Generator) -> Picture:
    """A felt, uint8 (224, 224, 3), of any colour."""
    rgb = felt_rgb(rng) if rng.random() < 0.7 else tuple(int(v) for v in rng.integers(0, 256, 3))
    flat = np.array(rgb[::-1], np.float64) + rng.normal(0, 1, (224, 224, 1)) * rng.uniform(1, 9)
    return np.asarray(np.clip(flat, 0, 255), np.uint8)


def _beside(rng: np.random.Generator, deck: Deck, label: str) -> Index | None:
    """A place of a face that is no index: a pip, part of a figure, half of an index."""
    wide, high = deck.size_mm
    own = deck.faces[label].indices
    x0, y0, x1, y1 = own[0].rect_mm
    side = max(x1 - x0, y1 - y0)
    for _ in range(20):
        x, y = float(rng.uniform(0, wide)), float(rng.uniform(0, high))
        if rng.random() < 0.5:
            far, way = side * float(rng.uniform(0.5, 2.0)), float(rng.uniform(0, 2 * np.pi))
            x, y = (x0 + x1) / 2 + far * np.cos(way), (y0 + y1) / 2 + far * np.sin(way)
        half = side * float(np.exp(rng.uniform(np.log(0.3), np.log(0.9))))
        middles = [
            ((i.rect_mm[0] + i.rect_mm[2]) / 2, (i.rect_mm[1] + i.rect_mm[3]) / 2) for i in own
        ]
        if (
            0 < x < wide
            and 0 < y < high
            and all(np.hypot(x - mx, y - my) > 0.45 * side for mx, my in middles)
        ):
            return Index((x - half / 2, y - half, x + half / 2, y + half), bool(rng.random() < 0.3))
    return None


def _shown(
    rng: np.random.Generator, deck: Deck, label: str, index: Index, ground: Picture, spread: bool
) -> Picture:
    """The patch about an index of a card that lies among others, upright."""
    x0, y0, x1, y1 = index.rect_mm
    side = CROP_MARGIN * CONTEXT * max(x1 - x0, y1 - y0)
    lean = float(rng.normal(0, 2.0 if spread else 4.0))
    scale = PATCH_PX / side
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    at = rng.integers(0, 224 - PATCH_PX, 2)
    out = ground[at[0] : at[0] + PATCH_PX, at[1] : at[1] + PATCH_PX].copy()
    step = np.array([float(rng.uniform(*HAND_PITCH_MM)), float(rng.normal(0, 1.5))])
    if spread:
        step = np.array([DECK_PITCH_MM[0], 0.0]) + rng.normal(0, 1.0, 2)
    way = 1 if spread or rng.random() < 0.8 else -1
    others = [DECK_LABELS[int(k)] for k in rng.integers(0, len(DECK_LABELS), 2)]
    if spread and label == JOKER:
        others = [DECK_LABELS[int(rng.integers(len(DECK_LABELS)))]] * 2
    elif spread:
        # The cards before and after it in its row.
        place = RANKS.index(label[0])
        others = [RANKS[(place + k) % len(RANKS)] + label[1] for k in (-1, 1)]
    cards: list[tuple[str, FloatArray, float]] = []
    if spread or rng.random() < 0.75:
        cards.append((others[0], -way * step, lean + float(rng.normal(0, 2))))
    cards.append((label, np.zeros(2), lean))
    # A hand's next card leaves the index free; in a spread deck it may cover the widest.
    own_side = (index.rect_mm[2] if way > 0 else deck.size_mm[0] - index.rect_mm[0]) + 0.6
    free = spread or (abs(step[0]) > own_side and rng.random() < 0.75)
    if free and not (spread and label == JOKER):
        cards.append((others[1], way * step, lean + float(rng.normal(0, 2))))
    at_mm = _turned(lean) @ (middle - np.array(deck.size_mm) / 2)
    for name, off, angle in cards:
        _lay(out, deck, name, off - at_mm, angle, 180.0 * index.inverted, scale)
    return out


def _lay(
    out: Picture, deck: Deck, label: str, off: FloatArray, angle: float, turn: float, scale: float
) -> None:  # fmt: skip
    """Put a card whose middle is `off` mm from a patch's into that patch, cut out at `turn`."""
    face, density = deck.level(label, scale)
    linear = _turned(-turn) @ _turned(angle) * scale
    shift = _turned(-turn) @ off * scale - linear @ np.array(deck.size_mm) / 2
    matrix = np.column_stack([linear / density, shift])
    # Pixels' middles, in the face and in the patch.
    matrix[:, 2] += matrix[:, :2] @ (0.5, 0.5) + PATCH_PX / 2 - 0.5
    warped = cv2.warpAffine(face, matrix, (PATCH_PX, PATCH_PX), flags=cv2.INTER_LINEAR)
    alpha = 255 - warped[..., 3:].astype(np.uint16)
    out[:] = np.minimum(warped[..., :3] + (out * alpha + 127) // 255, 255)


def _turned(deg: float) -> FloatArray:
    """The matrix (2, 2) that turns by `deg`."""
    return np.column_stack(axes(deg))


def save_decks(path: Path, decks: Sequence[DeckPatches]) -> None:
    """Write a shard whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(
            file, patches=np.concatenate([own.patches for own in decks]),
            labels=np.concatenate([own.labels for own in decks]),
            aspects=np.concatenate([own.aspects for own in decks]),
            counts=np.array([len(own.labels) for own in decks]),
        )  # fmt: skip
    part.replace(path)


def read_decks(path: Path) -> list[DeckPatches]:
    """A shard as `save_decks` writes it; FeltwatchError for another file."""
    try:
        with np.load(path) as data:
            ends = np.cumsum(data["counts"])
            every = [data[name] for name in ("patches", "labels", "aspects")]
        if any(len(own) != ends[-1] for own in every) or every[0].shape[1:3] != (PATCH_PX,) * 2:
            raise ValueError(f"{len(every[0])} patches, {ends[-1]} counted")
        parts = [np.split(own, ends[:-1]) for own in every]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{path}: not a shard of decks' patches ({error})") from error
    return [DeckPatches(*own) for own in zip(*parts, strict=True)]


def _shard(
    path: Path, seed: Sequence[int], folders: Sequence[Path], fonts: Sequence[str], decks: int
) -> None:
    if not path.is_file() or len(read_decks(path)) < decks:
        rng = np.random.default_rng(list(seed))
        save_decks(path, [draw_deck_patches(rng, folders, fonts) for _ in range(decks)])


def render_decks(
    out: Path, decks: int, seed: int, folders: Sequence[Path], fonts: Sequence[str], *,
    workers: int = 1, progress: Callable[[float], None] | None = None,
) -> int:  # fmt: skip
    """Write the patches of `decks` decks into shards `SEED-NUMBER.npz` of `out`; returns how many.

    Each shard has a seed of its own: the patches do not depend on `workers`, and shards that are
    there are passed over. What they are made of goes to recipe.json. Raises FeltwatchError where
    `out` holds patches of another recipe.
    """
    note_recipe(out, seed, folders, fonts, "whole decks")
    counts = [min(SHARD_DECKS, decks - k) for k in range(0, decks, SHARD_DECKS)]
    # Spawned, not forked: OpenCV's threads do not survive a fork.
    with ProcessPoolExecutor(min(workers, len(counts)), get_context("spawn")) as pool:
        jobs = [
            pool.submit(_shard, out / f"{seed}-{k:05d}.npz", (seed, k), folders, fonts, count)
            for k, count in enumerate(counts)
        ]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / len(jobs))
    return sum(counts)
