"""Was it found: the detector's boxes against the true ones, by group.

An index and a joker's word are one kind of finding: whichever of the two classes a box has,
it is found, and its name is the reader's affair. A box counts in the line of the true thing
that it is at; one that is at nothing counts against its own class, and a chip at nothing in
the line of all chips only, since nobody can say its colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.evaluate.matching import Array, Bools, Matches, Row, match, mean_of, row
from models.evaluate.predictions import Prediction
from models.evaluate.samples import Truth
from models.metrics import overlaps

JOINT = {"joker": "index"}
"""Classes that are one kind with another."""

ANY_INDEX = "index or joker"
NO_COLOUR = ""


def kind_of(name: str) -> str:
    """The kind of finding that a class belongs to."""
    return JOINT.get(name, name)


def match_found(one: Prediction) -> Matches:
    """The boxes of an image matched to the true ones, kind by kind."""
    true = one.picture.truths
    kinds = np.array([kind_of(name) for name in one.found.names])
    own = kinds[one.found.classes] if len(one.found) else np.zeros(0, kinds.dtype)
    allowed = own[:, None] == np.array([kind_of(t.kind) for t in true], object)[None, :]
    return match(
        one.found.xyxy.astype(np.float64), one.found.scores, boxes_of(true),
        np.asarray(allowed, np.bool_), np.array([not t.labelled for t in true], np.bool_),
        np.array([t.whole for t in true], np.bool_),
    )  # fmt: skip


def boxes_of(truths: Sequence[Truth]) -> Array:
    """Boxes (m, 4) of true things."""
    return np.array([t.xyxy for t in truths], np.float64).reshape(-1, 4)


@dataclass
class Finding:
    """Counts what was found, image by image; `scenes` keeps figures of each apart."""

    threshold: float
    names: tuple[str, ...]
    pictures: int = 0
    _parts: list[tuple[Matches, Array, list[str], list[str]]] = field(default_factory=list)
    _labels: list[tuple[str, str]] = field(default_factory=list)
    _gaps: list[Array] = field(default_factory=list)
    _mistaken: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, one: Prediction, matches: Matches) -> None:
        """Count one image."""
        self.pictures += 1
        true = one.picture.truths
        at = [
            int(t) if t >= 0 else int(h) for t, h in zip(matches.truth, matches.home, strict=True)
        ]
        groups = [true[t].kind if t >= 0 else one.found.name(n) for n, t in enumerate(at)]
        colours = [(true[t].colour or NO_COLOUR) if t >= 0 else NO_COLOUR for t in at]
        self._parts.append((matches, one.found.scores, groups, colours))
        self._labels += [(t.kind, t.colour or NO_COLOUR) for t in true if t.labelled]
        for n in np.flatnonzero(one.found.scores >= self.threshold):
            other = other_at(one, matches, int(n))
            if other is not None:
                self._mistaken[true[other].kind, one.found.name(int(n))] += 1
        hit = matches.truth >= 0
        hit &= one.found.scores >= self.threshold
        goal = boxes_of([true[t] for t in matches.truth[hit]])
        self._gaps.append(np.abs(one.found.xyxy[hit] - goal).mean(axis=1))

    def as_dict(self) -> dict[str, Any]:
        """The figures: `classes`, `chip_colours`, `together`, and means over the classes."""
        right = np.concatenate([p[0].right for p in self._parts])
        skipped = np.concatenate([p[0].skipped for p in self._parts])
        scores = np.concatenate([p[1] for p in self._parts])
        groups = np.array([g for p in self._parts for g in p[2]], object)
        colours = np.array([c for p in self._parts for c in p[3]], object)

        def figures(own: Bools, labels: int) -> Row:
            return row(right[own], skipped[own], scores[own], labels, scores[own] >= self.threshold)

        kinds = [kind for kind, _ in self._labels]
        classes = {
            name: figures(np.asarray(groups == name, np.bool_), kinds.count(name))
            for name in self.names
        }
        chip_colours = sorted({c for k, c in self._labels if k == "chip" and c})
        chip = groups == "chip"
        by_colour = {
            colour: figures(
                np.asarray(chip & (colours == colour), np.bool_),
                self._labels.count(("chip", colour)),
            )
            for colour in chip_colours
        }
        indices = np.asarray((groups == "index") | (groups == "joker"), np.bool_)
        together = figures(indices, kinds.count("index") + kinds.count("joker"))
        gaps = np.concatenate(self._gaps) if self._gaps else np.zeros(0)
        return {
            "pictures": self.pictures,
            "threshold": self.threshold,
            "map50": mean_of(list(classes.values()), "ap50"),
            "map50_95": mean_of(list(classes.values()), "ap50_95"),
            "box_error_px": round(float(np.median(gaps)), 3) if len(gaps) else None,
            "classes": {name: own.as_dict() for name, own in classes.items()},
            "together": {ANY_INDEX: together.as_dict()},
            "chip_colours": {name: own.as_dict() for name, own in by_colour.items()},
            "confusions": [[t, f, n] for (t, f), n in self._mistaken.most_common()],
        }


def other_at(one: Prediction, matches: Matches, n: int) -> int | None:
    """The labelled thing of another kind that a box was found at (IoU 0.5), else None."""
    if matches.truth[n] >= 0 or matches.skipped[n, 0] or not one.picture.truths:
        return None
    iou = overlaps(one.found.xyxy[n : n + 1].astype(np.float64), boxes_of(one.picture.truths))[0]
    at = int(iou.argmax())
    truth = one.picture.truths[at]
    strange = kind_of(truth.kind) != kind_of(one.found.name(n))
    return at if iou[at] >= 0.5 and truth.labelled and strange else None


def best_score_at(one: Prediction, truth: Truth, kinds: Iterable[str]) -> float:
    """The best score of any box of some classes at a true one (IoU 0.5), 0 where none is."""
    wanted = set(kinds)
    keep = [n for n in range(len(one.found)) if one.found.name(n) in wanted]
    if not keep:
        return 0.0
    iou = overlaps(one.found.xyxy[keep].astype(np.float64), boxes_of([truth]))[:, 0]
    near = iou >= 0.5
    return float(one.found.scores[keep][near].max()) if near.any() else 0.0
