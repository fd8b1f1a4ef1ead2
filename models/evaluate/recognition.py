"""Found and read: every found index by its card, and which card is taken for which.

An index counts under the card that it is read as, with the product of the detector's score
and the reader's probability as its score. In the product it is reported from the detector's
threshold on, and decided from `sure` on; less is undecided, as is what the reader takes for none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.evaluate.detection import boxes_of
from models.evaluate.matching import Array, Matches, Row, match, mean_of, row
from models.evaluate.predictions import Prediction
from settlement.record import DECK_LABELS, JOKER
from vision.cards.rotation import ASPECTS

SURE = 0.6
"""A card is read, and not undecided, from this share on."""

LIMITS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Probabilities for which the figures are given, as if deciding from there on."""

MOST_CONFUSIONS = 20


@dataclass
class Reading:
    """Counts how indices were read, image by image."""

    threshold: float
    sure: float = SURE
    _parts: list[tuple[Matches, Array, Array, Array]] = field(default_factory=list)
    _labels: Counter[str] = field(default_factory=Counter)
    _seen: list[tuple[str, str | None, float]] = field(default_factory=list)
    _asked: int = 0
    _invented: int = 0

    def add(self, one: Prediction, matches: Matches) -> None:
        """Count one image; `matches` are those of the finding."""
        true = [t for t in one.picture.truths if t.kind in ASPECTS]
        # An index without a labelled card is neither right nor wrong under any.
        aside = np.array([not t.labelled or t.card not in DECK_LABELS for t in true], np.bool_)
        self._labels.update(str(t.card) for t, a in zip(true, aside, strict=True) if not a)
        read = sorted(one.readings)
        cards = [one.readings[n].card for n in read]
        probabilities = np.array([one.readings[n].probability for n in read])
        scores = one.found.scores[read].astype(np.float64)
        same = np.array(cards, object)[:, None] == np.array([t.card for t in true], object)[None]
        allowed = np.asarray(same, np.bool_) | aside[None, :]
        own = match(
            one.found.xyxy[read].astype(np.float64), scores * probabilities, boxes_of(true),
            allowed, aside, np.array([t.whole for t in true], np.bool_),
        )  # fmt: skip
        places = np.array([DECK_LABELS.index(card) for card in cards], np.int64)
        working = (scores >= self.threshold) & (probabilities >= self.sure)
        self._parts.append((own, scores * probabilities, places, working))
        self._add_working(one, matches)

    def _add_working(self, one: Prediction, matches: Matches) -> None:
        self._asked += sum(
            t.labelled and t.card in DECK_LABELS for t in one.picture.truths if t.kind in ASPECTS
        )
        for n in range(len(one.found)):
            if one.found.name(n) not in ASPECTS or one.found.scores[n] < self.threshold:
                continue
            reading = one.readings.get(n)
            at = int(matches.truth[n])
            if at >= 0:
                card = one.picture.truths[at].card
                if card in DECK_LABELS:
                    name = None if reading is None else reading.card
                    self._seen.append(
                        (str(card), name, 0.0 if reading is None else reading.probability)
                    )
            elif (
                not matches.skipped[n, 0]
                and reading is not None
                and reading.probability >= self.sure
            ):
                self._invented += 1

    def as_dict(self) -> dict[str, Any] | None:
        """The figures; None where no index has a labelled card."""
        if not self._labels:
            return None
        right = np.concatenate([p[0].right for p in self._parts])
        skipped = np.concatenate([p[0].skipped for p in self._parts])
        scores = np.concatenate([p[1] for p in self._parts])
        places = np.concatenate([p[2] for p in self._parts])
        working = np.concatenate([p[3] for p in self._parts])
        cards: dict[str, Row] = {}
        for place, card in enumerate(DECK_LABELS):
            own = places == place
            cards[card] = row(
                right[own], skipped[own], scores[own], self._labels[card], working[own]
            )
        there = {card: own for card, own in cards.items() if self._labels[card]}
        indices = [own for card, own in there.items() if card != JOKER]
        return {
            "threshold": self.threshold,
            "sure": self.sure,
            "cards_labelled": len(there),
            "map50": mean_of(list(there.values()), "ap50"),
            "map50_95": mean_of(list(there.values()), "ap50_95"),
            "indices": {
                "labels": sum(own.labels for own in indices),
                "map50": mean_of(indices, "ap50"),
                "map50_95": mean_of(indices, "ap50_95"),
            },
            "joker": there[JOKER].as_dict() if JOKER in there else None,
            "working": self._working(),
            "by_limit": [self._at_limit(limit) for limit in LIMITS],
            "cards": {card: own.as_dict() for card, own in there.items()},
            "confusions": self._confusions(),
        }

    def _working(self) -> dict[str, Any]:
        seen = self._at_limit(self.sure)
        jokers = [s for s in self._seen if s[0] == JOKER]
        return {
            "labelled": self._asked,
            **seen,
            "none": sum(name is None for _, name, _ in self._seen),
            "invented": self._invented,
            "read_right_of_labelled": _share(seen["right"], self._asked),
            "joker": _outcomes(jokers, self.sure),
        }

    def _at_limit(self, limit: float) -> dict[str, Any]:
        return {"limit": limit, **_outcomes(self._seen, limit)}

    def _confusions(self) -> dict[str, Any]:
        wrong = [(c, n) for c, n, p in self._seen if n not in (None, c) and p >= self.sure]
        ranks = Counter((c[0], str(n)[0]) for c, n in wrong if JOKER not in (c, n))
        suits = Counter((c[1], str(n)[1]) for c, n in wrong if JOKER not in (c, n))
        return {
            "cards": _pairs(Counter((c, str(n)) for c, n in wrong)),
            "ranks": _pairs(Counter({k: v for k, v in ranks.items() if k[0] != k[1]})),
            "suits": _pairs(Counter({k: v for k, v in suits.items() if k[0] != k[1]})),
        }


def _outcomes(seen: list[tuple[str, str | None, float]], limit: float) -> dict[str, Any]:
    """Of indices seen: read right, wrong and undecided, deciding from `limit` on."""
    right = sum(name == card and p >= limit for card, name, p in seen)
    wrong = sum(name not in (None, card) and p >= limit for card, name, p in seen)
    return {
        "seen": len(seen),
        "right": right,
        "wrong": wrong,
        "undecided": len(seen) - right - wrong,
        "wrong_one_in": round(len(seen) / wrong, 1) if wrong else None,
        "undecided_share": _share(len(seen) - right - wrong, len(seen)),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _pairs(counts: Counter[tuple[str, str]]) -> list[list[Any]]:
    """(true, read, times), commonest first."""
    return [[true, read, n] for (true, read), n in counts.most_common(MOST_CONFUSIONS)]
