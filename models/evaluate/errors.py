"""The worst mistakes of a check: what was surest of itself and wrong, and what was missed."""

from __future__ import annotations

from dataclasses import dataclass, field

from models.evaluate.detection import best_score_at, other_at
from models.evaluate.matching import Matches
from models.evaluate.predictions import Prediction
from models.evaluate.recognition import SURE
from models.evaluate.samples import Truth
from settlement.record import DECK_LABELS
from vision.cards.rotation import ASPECTS

WRONG, INVENTED, MISSED = "wrong name", "nothing there", "missed"
KINDS = (WRONG, INVENTED, MISSED)
Xyxy = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: what is there and what was found, with boxes in px of the image.

    `sureness`: for a wrong name or a find at nothing how sure that was; for a miss how far
    from found, by how much of the thing is seen and the best score at it.
    """

    kind: str
    picture: str
    scene: str
    path: str
    sureness: float
    true: str | None
    true_xyxy: Xyxy | None
    found: str | None
    found_xyxy: Xyxy | None


@dataclass
class WorstMistakes:
    """Keeps the `most` worst mistakes of each kind."""

    threshold: float
    most: int
    sure: float = SURE
    kept: dict[str, list[Mistake]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add(self, one: Prediction, matches: Matches) -> None:
        """Collect the mistakes of one image."""
        truths = one.picture.truths
        taken = set()
        for n in range(len(one.found)):
            if one.found.scores[n] < self.threshold:
                continue
            at = int(matches.truth[n])
            if at >= 0:
                taken.add(at)
                self._named(one, n, truths[at])
            elif not matches.skipped[n, 0]:
                score, other = float(one.found.scores[n]), other_at(one, matches, n)
                if other is None:
                    self._keep(one, INVENTED, score, None, n)
                else:
                    taken.add(other)
                    self._keep(one, WRONG, score, truths[other], n)
        for place, truth in enumerate(truths):
            if truth.labelled and place not in taken:
                kinds = set(ASPECTS) if truth.kind in ASPECTS else {truth.kind}
                best = best_score_at(one, truth, kinds)
                self._keep(one, MISSED, truth.visible * (1 - best), truth, None)

    def _named(self, one: Prediction, n: int, truth: Truth) -> None:
        reading = one.readings.get(n)
        if truth.card not in DECK_LABELS or reading is None or reading.card == truth.card:
            return
        if reading.probability >= self.sure:
            self._keep(one, WRONG, float(one.found.scores[n]) * reading.probability, truth, n)

    def _keep(
        self, one: Prediction, kind: str, sureness: float, truth: Truth | None, n: int | None
    ) -> None:
        rows = self.kept[kind]
        rows.append(
            Mistake(
                kind, one.picture.name, one.picture.scene, str(one.picture.path),
                round(sureness, 4),
                None if truth is None else truth.card or truth.kind,
                None if truth is None else truth.xyxy,
                None if n is None else _words(one, n),
                None if n is None else _corners(one, n),
            )
        )  # fmt: skip
        if len(rows) >= 4 * self.most + 100:
            self._cut(kind)

    def _cut(self, kind: str) -> None:
        self.kept[kind] = sorted(self.kept[kind], key=lambda m: -m.sureness)[: self.most]

    def worst(self) -> dict[str, list[Mistake]]:
        """The worst of each kind, the surest first."""
        for kind in KINDS:
            self._cut(kind)
        return self.kept


def _corners(one: Prediction, n: int) -> Xyxy:
    x0, y0, x1, y1 = (round(float(v), 2) for v in one.found.xyxy[n])
    return x0, y0, x1, y1


def _words(one: Prediction, n: int) -> str:
    words = f"{one.found.name(n)} {float(one.found.scores[n]):.2f}"
    reading = one.readings.get(n)
    if reading is not None:
        return f"{words}, read {reading.card} {reading.probability:.2f}"
    return f"{words}, read as none" if n in one.unread else words
