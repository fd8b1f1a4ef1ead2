"""How hands on traced tables are read: cards, jokers and backs, right, wrong and undecided."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.traced_cards.scene import HIGH_MM, LOW_MM
from benchmarks.traced_cards.truth import (
    CARD_MM,
    UP,
    TracedCard,
    TracedCards,
    TracedHand,
    on_place,
    read_cards,
)
from benchmarks.traced_stacks.film import frames_of
from benchmarks.traced_stacks.score import calibrated
from models.intervals import wilson
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from settlement.record import JOKER
from vision.cards.backs import without_faces, without_false_backs
from vision.cards.deck_assignment import decide_deck
from vision.cards.unread_card import faint_finds, with_unread_card
from vision.cards.view import CardRead, ViewIndex, fuse_indices, join_cards, see_indices
from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, FloatArray, Place, Polygon, SeatPlace
from vision.networks import Networks, load_networks
from vision.rounds.compile_round import read_hand
from vision.rounds.view_reader import cards_of_place

ON_CARD_MM = 4.0
"""A back's middle may lie so far beside its card."""


@dataclass(frozen=True)
class Seen:
    """What is read at one place: its cards as joined, and where backs are found (felt mm).

    `view` is the place's last image, `found` what was found in it, `indices` what was read there.
    """

    cards: list[CardRead]
    backs: FloatArray
    view: ByteArray
    found: Detections
    indices: list[ViewIndex]


PlaceReader = Callable[[Sequence[ByteArray], Calibration, Sequence[TracedHand], TracedHand], Seen]
"""What is read of a hand, one of several, in the frames of a rest."""


@dataclass(frozen=True)
class Row:
    """One hand that lies face up, and the names that it is read as."""

    cards: TracedCards
    hand: TracedHand
    names: tuple[str, ...]

    @property
    def wrong(self) -> Counter[str]:
        """The names of no card of the hand."""
        return Counter(self.names) - Counter(card.label for card in self.hand.cards)

    @property
    def unread(self) -> Counter[str]:
        """The cards that are not among the names."""
        return Counter(card.label for card in self.hand.cards) - Counter(self.names)

    @property
    def facets(self) -> dict[str, str]:
        """The slices that the row counts in."""
        px = self.cards.px_per_mm(self.hand)
        spans = ((1.5, "under 1.5"), (1.8, "1.5-1.8"), (2.1, "1.8-2.1"))
        table = self.cards.table
        return {
            "deck": self.cards.deck,
            "px per mm": next((name for limit, name in spans if px < limit), "2.1 and more"),
            "light": table.light,
            "kelvin": f"{table.lamps[0].kelvin:.0f}",
        }


@dataclass
class Backs:
    """Counts of backs: boxes found, those on no face-down card, rows, and rows with a box."""

    found: int = 0
    false: int = 0
    rows: int = 0
    rows_found: int = 0
    cards_read: int = 0


def by_networks(networks: Networks) -> PlaceReader:
    """Reads places as an audit does: three moments of a rest, joined."""
    detector, reader = networks.detector, networks.reader

    def read(
        frames: Sequence[ByteArray], calibration: Calibration, hands: Sequence[TracedHand],
        hand: TracedHand,
    ) -> Seen:  # fmt: skip
        place = view_place(hand)
        others = [box for other in hands if other is not hand for box in hand_boxes(other)]
        views = [calibration.warp_view(frame, place, detector.size) for frame in frames]
        finds = [
            cards_of_place(
                without_false_backs(detector.find([view])[0], view), place, hand_boxes(hand),
                others, detector.size,
            )
            for view in views
        ]  # fmt: skip
        moments, faint = [], []
        for moment, (frame, view) in enumerate(zip(frames, views, strict=True)):
            indices = see_indices(
                frame, calibration, place, finds[moment], detector.size, reader, moment
            ).indices
            finds[moment] = without_faces(finds[moment], indices, detector.size)
            moments.append(indices)
            faint.append(
                faint_finds(frame, calibration, place, view, indices, detector, reader, moment)
            )
        joined = join_cards(fuse_indices(moments))
        cards = with_unread_card(joined, [None if one is None else one.shares for one in faint])
        boxes = finds[-1].of("back").xyxy
        local = (boxes[:, :2] + boxes[:, 2:]) / 2 * (VIEW_MM / detector.size) - VIEW_MM / 2
        return Seen(cards, place.to_felt(local), views[-1], finds[-1], list(moments[-1]))

    return read


def view_place(hand: TracedHand) -> Place:
    """The view of a hand."""
    return Place(center_mm=hand.center_mm, angle_deg=hand.angle_deg)


def hand_boxes(hand: TracedHand) -> tuple[Polygon, Polygon]:
    """The boxes of a hand's two and five cards on the felt."""
    low, high = (
        Polygon(
            points_mm=tuple(
                (float(x), float(y))
                for x, y in on_place(
                    hand.center_mm, hand.angle_deg,
                    np.array([(-90.0, v - 45), (90.0, v - 45), (90.0, v + 45), (-90.0, v + 45)]),
                )
            )
        )
        for v in (LOW_MM, HIGH_MM)
    )  # fmt: skip
    return low, high


def score_table(
    cards: TracedCards, frames: Sequence[ByteArray], read: PlaceReader, backs: Backs
) -> tuple[list[Row], list[Seen]]:
    """The rows of a table's hands that lie face up, and what was read at each place of it."""
    calibration = calibrated(cards.table)
    seen = [read(frames, calibration, cards.hands, hand) for hand in cards.hands]
    hands: dict[int | None, Sequence[CardRead]] = {
        seat: own.cards
        for seat, (hand, own) in enumerate(zip(cards.hands, seen, strict=True), 1)
        if hand.lies == UP
    }
    decided = decide_deck(hands)
    rows = []
    for seat, (hand, own) in enumerate(zip(cards.hands, seen, strict=True), 1):
        count_backs(hand, own, backs)
        if hand.lies == UP:
            low, high = hand_boxes(hand)
            where = SeatPlace(
                seat=seat, place=view_place(hand), low=low, high=high, spots={"main": low}
            )
            given = read_hand(seat, hands, where, decided)
            rows.append(Row(cards, hand, (*given.low, *given.high)))
    return rows, seen


def count_backs(hand: TracedHand, seen: Seen, backs: Backs) -> None:
    """Count the backs found at a place."""
    backs.found += len(seen.backs)
    if hand.lies == UP:
        backs.false += len(seen.backs)
        return
    backs.cards_read += len(seen.cards)
    backs.rows += len(hand.rows)
    for row in hand.rows.values():
        backs.rows_found += any(on_any(row, at) for at in seen.backs)
    backs.false += sum(not on_any(hand.cards, at) for at in seen.backs)


def on_any(cards: Iterable[TracedCard], at_mm: Floats | FloatArray) -> bool:
    """Whether a felt point lies on one of some cards."""
    reach = np.array(CARD_MM) / 2 + ON_CARD_MM
    for card in cards:
        local = Place(center_mm=card.center_mm, angle_deg=card.turn_deg).to_local(
            np.array([at_mm], np.float64)
        )[0]
        if np.all(np.abs(local) <= reach):
            return True
    return False


def summary(rows: Sequence[Row], backs: Backs) -> dict[str, Any]:
    """Counts and shares with 95% intervals, all and by slice."""
    out: dict[str, Any] = _counts(rows)
    jokers = sum(card.label == JOKER for row in rows for card in row.hand.cards)
    unread = sum(row.unread[JOKER] for row in rows)
    false = sum(row.wrong[JOKER] for row in rows)
    right = jokers - unread
    out["jokers"] = {
        "jokers": jokers, "right": right, "false": false,
        "recall": _share(right, jokers), "precision": _share(right, right + false),
    }  # fmt: skip
    out["backs"] = {
        "found": backs.found, "false": backs.false, "rows": backs.rows,
        "rows found": backs.rows_found, "cards read on backs": backs.cards_read,
        "recall of rows": _share(backs.rows_found, backs.rows),
        "precision": _share(backs.found - backs.false, backs.found),
    }  # fmt: skip
    misread = Counter(
        f"{'/'.join(sorted(row.unread)) or 'nothing'} read {name}"
        for row in rows for name in row.wrong.elements()
    )  # fmt: skip
    out["misread"] = dict(misread.most_common(20))
    facets = list(rows[0].facets) if rows else []
    out["by"] = {
        facet: {
            part: _counts([row for row in rows if row.facets[facet] == part])
            for part in sorted({row.facets[facet] for row in rows})
        }
        for facet in facets
    }
    return out


def _counts(rows: Sequence[Row]) -> dict[str, Any]:
    cards = sum(len(row.hand.cards) for row in rows)
    unread = [row.unread.total() for row in rows]
    named = [row.wrong.total() for row in rows]
    right = cards - sum(unread)
    wrong = sum(min(pair) for pair in zip(named, unread, strict=True))
    return {
        "hands": len(rows), "cards": cards, "right": right, "wrong": wrong,
        "undecided": cards - right - wrong, "invented": sum(named) - wrong,
        "right share": _share(right, cards), "wrong share": _share(wrong, cards),
    }  # fmt: skip


def _share(count: int, of: int) -> list[float] | None:
    """Share, and the bounds of its 95% interval."""
    return [round(v, 4) for v in (count / of, *wilson(count, of))] if of else None


def score(folder: Path, read: PlaceReader, faults: Path | None = None) -> dict[str, Any]:
    """Figures over a folder of tables; `faults` gets the views with something wrong or unread.

    FeltwatchError where the folder holds no tables.
    """
    paths = [path for path in sorted(folder.glob("*.json")) if path.with_suffix(".mp4").exists()]
    if not paths:
        raise FeltwatchError(
            f"{folder}: holds no traced tables; 'python -m benchmarks.traced_cards render' "
            "writes NAME.json with NAME.mp4"
        )
    rows: list[Row] = []
    backs = Backs()
    for path in paths:
        cards = read_cards(path)
        before = replace(backs)
        more, seen = score_table(cards, frames_of(path.with_suffix(".mp4")), read, backs)
        rows += more
        if faults is not None:
            faults.mkdir(parents=True, exist_ok=True)
            own = {id(row.hand): row for row in more}
            for number, (hand, place) in enumerate(zip(cards.hands, seen, strict=True), 1):
                row = own.get(id(hand))
                false = len(place.backs) if row else backs.false > before.false
                if false or row is None or row.unread or row.wrong:
                    name = f"{path.stem}_{number}_{cards.deck}.png"
                    cv2.imwrite(str(faults / name), fault_image(row, place))
    return {"tables": len(paths)} | summary(rows, backs)


def fault_image(row: Row | None, seen: Seen) -> ByteArray:
    """A view with what was found and read in it, and below it what should have been."""
    scale = 2
    size = seen.view.shape[0]
    larger = cv2.resize(seen.view, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    image = np.asarray(larger, np.uint8)
    for k in range(len(seen.found)):
        name = seen.found.name(k)
        if name in ("index", "joker", "back"):
            x0, y0, x1, y1 = (round(float(v) * scale) for v in seen.found.xyxy[k])
            colour = {"index": (0, 255, 0), "joker": (255, 0, 255)}.get(name, (0, 128, 255))
            cv2.rectangle(image, (x0, y0), (x1, y1), colour, 1)
            if name == "back":
                _write(image, f"back {seen.found.scores[k]:.2f}", (x0, y0 + 14), colour)
    for index in seen.indices:
        x, y = ((np.asarray(index.center) + VIEW_MM / 2) * size / VIEW_MM * scale).astype(int)
        _write(image, f"{index.label} {index.share:.2f}", (int(x) - 10, int(y) - 14), (0, 0, 255))
    lines = ["face down"]
    if row is not None:
        lines = [
            "unread " + " ".join(row.unread.elements()) + "  wrong " + " ".join(row.wrong),
            "joined " + " ".join(f"{c.label}:{c.share:.2f}/{c.indices}" for c in seen.cards),
        ]
    for n, line in enumerate(lines):
        _write(image, line, (6, image.shape[0] - 10 - 20 * n), (0, 255, 255))
    return image


def _write(image: ByteArray, text: str, at: tuple[int, int], colour: Sequence[int]) -> None:
    cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3)
    cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, tuple(colour), 1)


def print_score(folder: Path, model: Path | None, faults: Path | None, as_json: bool) -> int:
    """Score a folder and print it; the exit status."""
    try:
        networks = load_networks(model or default_weights(), 1)
        found = score(folder, by_networks(networks), faults)
    except (FeltwatchError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    print(f"{found['tables']} tables")
    print(f"{'':24}{'cards':>6}{'right':>7}{'wrong':>7}{'undec.':>7}{'inv.':>6}{'right, 95%':>24}")
    print(_line("all", found))
    for facet, slices in found["by"].items():
        for part, its in slices.items():
            print(_line(f"{facet}: {part}", its))
    for name in ("jokers", "backs"):
        own = ", ".join(f"{key} {_shown(value)}" for key, value in found[name].items())
        print(f"{name}: {own}")
    for what, times in found["misread"].items():
        print(f"{times} times {what}")
    return 0


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "{:.1%} ({:.1%}-{:.1%})".format(*value)
    return "-" if value is None else str(value)


def _line(name: str, own: Mapping[str, Any]) -> str:
    return (
        f"{name:24}{own['cards']:6}{own['right']:7}{own['wrong']:7}{own['undecided']:7}"
        f"{own['invented']:6}{_shown(own['right share']):>24}"
    )
