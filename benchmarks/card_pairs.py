"""Fit and judge the network that says which indices of a photograph are one card's.

    python -m benchmarks.card_pairs --photos rf100_poker_cards --faces standard_2colour \\
        --faces jumbo_2colour --faces jumbo_4colour --keep pairs --write

Tune photographs are those of `models/heldout`, which no network has learned from, of the minutes of
capture with an even hash; the others are left for a judge. Each is read as it is and moved by
7 px, rendered fans as they are. `--write` puts the weights into vision/cards/pair_weights.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.card_rounds import card_decks
from benchmarks.joining_rules.image_sets import ImageSet, read_sets
from benchmarks.joining_rules.photographs import KeptPhoto, keep_fan, keep_photo, split
from benchmarks.joining_rules.remembered import Remembered
from models.data.photo_labels import PhotoBox
from models.evaluate.photo_score import CARD_GROW, CORNER_GROW
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.cards import pair_weights
from vision.cards.one_card import lie_as_one, pair_measures
from vision.cards.outline import ReadIndex
from vision.cards.photo import indices_of, together
from vision.geometry.table import FloatArray
from vision.networks import load_networks

NAME = "feltwatch pairs 2026-11-27"
SEED = int(hashlib.sha256(NAME.encode()).hexdigest()[:7], 16)
DRAWN = 6
"""Decks drawn from the seed beside the folders of faces, for fans."""

CHANCE, CHANCE_REACH = 20_000, 15.0
"""Pairs by chance, and how far apart they lie at most to either side, over an index's height."""

UNITS = 16
DECAY = 1e-5
"""Units of the network, and the weight of its squared weights: of 1e-4 and 1e-5, and of 12 and 16
units, these have the least log loss on the pairs that are fitted."""

SURE = 0.9
"""A reading of a plain photograph with this share that is labelled there is an index of that
card."""

SAME_PLACE = 0.4
"""So near, over its height, an index of a moved photograph is that of the plain one."""

Labelled = tuple[list[ReadIndex], list[str | None]]
"""The indices of an image, and of which card each is; None: not known."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of indices of one set: measures (n, 6), and whether they are one card's (n,)."""

    measures: FloatArray
    same: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, images: Iterable[Labelled]) -> Pairs:
        """Every pair of indices whose cards are known; a joker's word is no index."""
        measures, same = [np.zeros((0, 6))], [np.zeros(0, bool)]
        for indices, cards in images:
            known = [n for n, card in enumerate(cards) if card not in (None, JOKER)]
            names = np.array([cards[n] for n in known])
            first, second = np.triu_indices(len(known), 1)
            measures.append(pair_measures([indices[n] for n in known], first, second))
            same.append(names[first] == names[second])
        return cls(np.concatenate(measures), np.concatenate(same))

    def log_loss(self, odds: FloatArray) -> float:
        """Mean log loss of log odds (n,)."""
        return float(np.mean(np.logaddexp(0, odds) - self.same * odds))


def in_even_minute(image: str) -> bool:
    """Whether a photograph's minute of capture is one to fit on."""
    minute = re.search(r"\d{8}_\d{4}", image)
    if minute is None:
        raise FeltwatchError(f"{image}: expected a name with YYYYMMDD_HHMM, the time of capture")
    return int(hashlib.sha256(f"{NAME}/{minute[0]}".encode()).hexdigest(), 16) % 2 == 0


def plain_cards(kept: KeptPhoto) -> Labelled:
    """The indices of an image as it is, and their cards by the labels."""
    indices = indices_of(*together(kept.read[None]))
    boxes = (*kept.labels.boxes, *kept.hidden)
    return indices, [_labelled(own, boxes) for own in indices]


def _labelled(own: ReadIndex, boxes: Sequence[PhotoBox]) -> str | None:
    x, y = (float(v) for v in own.center)
    here = {
        box.label for box in boxes
        if box.holds(x, y, CARD_GROW if box.kind == "card" else CORNER_GROW)
    }  # fmt: skip
    return own.label if own.share >= SURE and own.label in here else None


def moved_cards(kept: KeptPhoto, plain: Labelled) -> Labelled:
    """The same of the image moved, whose readings may be wrong: by the places of the plain one."""
    indices = indices_of(*together(kept.read[None]))
    cards: list[str | None] = []
    for own in indices:
        near = [
            (float(np.hypot(*(own.center - other.center))), card)
            for other, card in zip(*plain, strict=True)
            if card is not None
            and np.hypot(*(own.center - other.center)) < SAME_PLACE * other.height
        ]
        cards.append(min(near)[1] if near else None)
    return indices, cards


def by_chance(rng: np.random.Generator) -> Pairs:
    """Pairs that lie in any way within `CHANCE_REACH` heights, of two cards: what no card does
    counts as impossible, also where photographs show few such pairs."""
    x, y = rng.uniform(-CHANCE_REACH, CHANCE_REACH, (2, CHANCE))
    turn = rng.uniform(0, 360, CHANCE)
    heights = np.exp(rng.uniform(-1.2, 1.2, CHANCE))
    shares = np.zeros(len(DECK_LABELS), np.float32)
    box = (0.0, 0.0, 0.0, 0.0)
    first = ReadIndex(np.zeros(2), 0.0, 1.0, shares, 1.0, box)
    others = [
        ReadIndex(np.array([a, b]), t, h, shares, 1.0, box)
        for a, b, t, h in zip(x, y, turn, heights, strict=True)
    ]
    places = np.arange(1, CHANCE + 1)
    measures = pair_measures([first, *others], np.zeros_like(places), places)
    return Pairs(measures, np.zeros(CHANCE, bool))


def fit(sets: Sequence[Pairs], seed: int) -> list[FloatArray]:
    """Weights of the network (6, `UNITS`), (`UNITS`,), (`UNITS`,), (1,): least log loss, every set
    counting alike, and pairs by chance as one of them."""
    rng = np.random.default_rng(seed)
    sets = [*sets, by_chance(rng)]
    measures = np.concatenate([own.measures for own in sets])
    same = np.concatenate([own.same for own in sets]).astype(float)
    weight = np.concatenate([np.full(len(own.same), 1 / len(own.same)) for own in sets]) / len(sets)
    shapes = [(measures.shape[1], UNITS), (UNITS,), (UNITS,), (1,)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def parts(flat: FloatArray) -> list[FloatArray]:
        return [p.reshape(s) for p, s in zip(np.split(flat, ends[:-1]), shapes, strict=True)]

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        into, offsets, out, offset = parts(flat)
        hidden = np.tanh(measures @ into + offsets)
        odds = hidden @ out + offset
        off = weight * (1 / (1 + np.exp(-odds)) - same)
        back = np.outer(off, out) * (1 - hidden**2)
        slopes = [measures.T @ back, back.sum(axis=0), hidden.T @ off, off.sum(keepdims=True)]
        value = float((weight * (np.logaddexp(0, odds) - same * odds)).sum())
        return (
            value + DECAY * float(flat @ flat) / 2,
            np.concatenate([s.ravel() for s in slopes]) + DECAY * flat,
        )

    begun = rng.normal(0, 0.5, int(ends[-1]))
    done = minimize(loss, begun, jac=True, method="L-BFGS-B", options={"maxiter": 3000})
    return parts(np.round(done.x, 4))


def module(weights: Sequence[FloatArray]) -> str:
    """The text of vision/cards/pair_weights.py."""
    into, offsets, out, offset = (own.tolist() for own in weights)

    def row(values: Sequence[float], by: str) -> str:
        lines = [values[n : n + 8] for n in range(0, len(values), 8)]
        return "".join(f"{by}{', '.join(f'{v:g}' for v in line)},\n" for line in lines)

    rows = "".join(f"    (\n{row(own, ' ' * 8)}    ),\n" for own in into)
    return (
        '"""Weights of the fit: `python -m benchmarks.card_pairs --write` makes this file.\n\n'
        "Rows of `HIDDEN` are the measures of `vision.cards.one_card.pair_measures`, columns the "
        'units.\n"""\n\n# fmt: off\n'
        f"HIDDEN: tuple[tuple[float, ...], ...] = (\n{rows})\n"
        f"OFFSETS: tuple[float, ...] = (\n{row(offsets, ' ' * 4)})\n"
        f"OUT: tuple[float, ...] = (\n{row(out, ' ' * 4)})\n"
        f"OUT_OFFSET = {offset[0]:g}\n# fmt: on\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    networks = load_networks(options.model or default_weights(), 1)
    sets = _sets(options, Remembered(networks.detector, networks.reader))
    read_sets(sets, options.minutes)
    pairs: dict[str, Pairs] = {}
    plain: list[Labelled] = []
    for own in sets:
        kept = [one for one in own.kept if one.read]
        if own.name.endswith("moved"):
            images = [moved_cards(one, first) for one, first in zip(kept, plain, strict=False)]
        else:
            images = plain = [plain_cards(one) for one in kept]
        pairs[own.name] = Pairs.of(images)
    used = {name: own for name, own in pairs.items() if len(own.same)}
    out: dict[str, object] = {
        name: {
            "pairs": len(own.same), "of one card": int(own.same.sum()),
            "log loss of the shipped weights": round(own.log_loss(lie_as_one(own.measures)), 4),
        }
        for name, own in used.items()
    }  # fmt: skip
    if options.write and not used:
        parser.error("--write: no pair of indices was read; give folders of --photos or --faces")
    if options.write:
        text = module(fit(list(used.values()), SEED))
        Path(pair_weights.__file__).write_text(text, encoding="utf-8")
        out["written"] = pair_weights.__file__
    print(json.dumps(out, indent=1))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.card_pairs",
        description="Log loss of the network of pairs of indices, and a new fit with --write.",
    )
    parser.add_argument(
        "--photos",
        type=Path,
        action="append",
        default=[],
        help="Folder of labelled photographs, split by models/heldout.",
    )
    parser.add_argument(
        "--faces", type=Path, action="append", default=[], help="Folder of card faces for the fans."
    )
    parser.add_argument("--fans", type=int, default=240, help="Rendered images of loose cards.")
    parser.add_argument("--minutes", type=float, help="Read for so long at most, sets in turn.")
    parser.add_argument("--keep", type=Path, help="Folder of readings, made and used again.")
    parser.add_argument("--model", type=Path, help="Folder of weights; none: the shipped ones.")
    parser.add_argument("--write", action="store_true", help="Fit again, and write the weights.")
    return parser


def _sets(options: argparse.Namespace, networks: Remembered) -> list[ImageSet]:
    """The sets, nothing of them read; a folder's moved images follow its plain ones."""

    def file(name: str) -> Path | None:
        return None if options.keep is None else options.keep / f"{name}.pickle"

    sets = []
    for folder in options.photos:
        own = sorted(image for image in split(folder)[0] if in_even_minute(image))
        for name, moved in ((folder.name, False), (f"{folder.name}, moved", True)):
            jobs = [partial(keep_photo, folder, one, networks, (), moved=moved) for one in own]
            sets.append(ImageSet(name, "photographs", jobs, file(name)))
    decks = [deck for _, deck, _ in card_decks(options.faces, DRAWN, SEED)]
    jobs = [partial(keep_fan, decks, SEED, n, networks, ()) for n in range(options.fans)]
    return [own for own in [*sets, ImageSet("fans", "photographs", jobs, file("fans"))] if own.jobs]


if __name__ == "__main__":
    sys.exit(main())
