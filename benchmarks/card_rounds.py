"""Cards of whole rounds on decks that are given: how many are read right, and false DECK findings.

A round is seven hands of seven cards, each seen at three moments of rest. Views are rendered as
the training's are (`datasets.training.views`), without filming, and read as the audit reads them:
indices, moments, cards, the deck as one assignment. Some rounds have a fault of the deck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.cards.deck_style import random_style
from datasets.render.cards.mixed import filled_deck, known_faces
from datasets.render.scene import Item
from datasets.simulate.laid_out import DECK_PITCH_MM, deck_pitch_mm, deck_rows
from datasets.training.asset_pool import Stage
from datasets.training.view_items import hand_items, stack_item
from datasets.training.views import render_table_view
from models.evaluate.predictions import flat_view
from models.intervals import wilson
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.cards.deck_assignment import HAND_CARDS, count_decided, decide_deck
from vision.cards.deck_enrolment import (
    EnrolledDeck,
    LaidIndex,
    deck_of,
    laid_indices,
    once_each,
)
from vision.cards.joker_enrolment import NotEnrolledError, joker_at
from vision.cards.joker_match import Sample, samples_of, with_joker
from vision.cards.joker_memory import JokerMemory, ShownHand
from vision.cards.laid_rows import SUITS, DeckNotEnrolledError
from vision.cards.table_deck import DeckReader, needed
from vision.cards.unread_card import FaintFinds, faint_finds, with_unread_card
from vision.cards.view import (
    CardRead,
    SeenIndices,
    ViewIndex,
    fuse_indices,
    join_cards,
    see_indices,
)
from vision.detect.detections import ByteArray, Reader
from vision.detect.tiling import SizedDetector
from vision.geometry.table import Place, Polygon, SeatPlace
from vision.networks import load_networks
from vision.rounds.compile_round import read_hand

SEATS: tuple[int | None, ...] = (1, 2, 3, 4, 5, 6, None)
MOMENTS = 3
ENROL_PX = 800
"""Side of the view that a joker or a deck is enrolled from."""
HALF_MM = 60.0
"""How far to either side two views look at a spread that is wider than one."""
LOW_MM, HIGH_MM = 37.0, 135.0
DEALERS_LOW_MM, DEALERS_HIGH_MM = 42.0, -62.0
SPOTS_MM = ((-98.0, -113.0), (0.0, -115.0), (98.0, -113.0))
STATED = (0.0, 0.9, 0.97, 0.99, 0.999, 0.9999)
"""Where the bins of the probabilities begin that decided cards are stated with."""

TWIN_SHARE, JOKERS_SHARE = 0.1, 0.06
"""Shares of rounds in which one card comes twice, or a second joker lies."""


@dataclass(frozen=True)
class PlayedRound:
    """The cards of seven hands in turn, and whether the deck is faulty."""

    cards: tuple[str, ...]
    fault: bool

    @classmethod
    def draw(cls, rng: np.random.Generator) -> PlayedRound:
        """A deal, now and then of a faulty deck."""
        cards = [str(card) for card in rng.permutation(DECK_LABELS)[: len(SEATS) * HAND_CARDS]]
        chance = float(rng.random())
        one, other = (int(n) for n in rng.choice(len(cards), 2, replace=False))
        if chance < TWIN_SHARE:
            cards[other] = cards[one]
        elif chance < TWIN_SHARE + JOKERS_SHARE:
            cards[one] = cards[other] = JOKER
        return cls(tuple(cards), max(Counter(cards).values()) > 1)

    def hand(self, place: int) -> tuple[str, ...]:
        """Two cards of the low hand and five of the high one."""
        return self.cards[place * HAND_CARDS : (place + 1) * HAND_CARDS]


@dataclass(frozen=True)
class Table:
    """What stays the same over a shift, or is drawn for one round: the deck, felt and cameras.

    `views` seeds the cameras and light of the seven places.
    """

    name: str
    deck: Deck
    known: frozenset[str]
    stage: Stage
    views: int

    def enrolled(self, detector: SizedDetector, reader: Reader) -> EnrolledDeck | None:
        """The deck as it is enrolled where it lies spread at the last place, before its camera, its
        rows named where they are not read; None where it is refused either way."""
        rng = np.random.default_rng([self.views, len(SEATS)])
        pitch = deck_pitch_mm(self.deck)
        laid = deck_rows(rng, (0.0, 0.0), float(rng.normal(0, 3)), pitch)
        found: list[LaidIndex] = []
        # Wider rows than a view shows are seen in two.
        for off in (0.0,) if pitch == DECK_PITCH_MM[0] else (-HALF_MM, HALF_MM):
            there = [
                replace(card, center_mm=(card.center_mm[0] - off, card.center_mm[1]))
                for card in laid
            ]
            camera = np.random.default_rng((self.views, len(SEATS) - 1))
            view = render_table_view(camera, self.deck, self.stage, ENROL_PX, there, rng).image
            place, calibration = flat_view(view)
            found += [
                replace(one, at_mm=one.at_mm + np.array([off, 0.0]))
                for one in laid_indices(view, calibration, place, detector, reader)
            ]
        indices = once_each(found)
        named = [[c.label for c in laid if c.label[-1:] == suit] for suit in SUITS]
        for rows in (None, named):
            try:
                return deck_of(indices, declared=rows)
            except DeckNotEnrolledError:
                continue
        return None


def bench_card_rounds(
    folders: Sequence[Path], weights: Path, *, rounds: int, seed: int, drawn: int = 0,
    enrol: bool = False, enrol_deck: bool = False, shift_rounds: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Render and read `rounds` rounds, decks taking turns; figures by deck and together.

    `folders` are folders of card faces (`AS.png`, ...); what they lack is drawn and not counted.
    `drawn` adds decks drawn from the seed. With `enrol` the joker of each deck is enrolled first
    where it lies alone, in another light and by another camera, with `enrol_deck` the whole deck
    where it lies spread at one of the places, its rows named where they are not read. With
    `shift_rounds` so many rounds in turn have one deck, felt and light, and one camera for each
    place, and what the joker looks like is learned in them. The same rounds are counted without
    that, those that come once it is learned by themselves, and all without unread cards too; with
    `enrol_deck` all by each of both readings alone.
    `on_progress` is given the share that is done. Raises FeltwatchError where no deck is given.
    """
    decks = list(card_decks(folders, drawn, seed))
    if not decks:
        raise FeltwatchError("no deck: give a folder of card faces, or a number of drawn decks")
    networks = load_networks(weights, 1)
    detector, reader = networks.detector, networks.reader
    figures = {name: RoundTally() for name, _, _ in decks}
    apart, alone, learned = RoundTally(), RoundTally(), RoundTally()
    by_samples, by_reader = RoundTally(), RoundTally()
    jokers = {
        name: _enrolled(deck, seed, detector, reader) if enrol else () for name, deck, _ in decks
    }
    tables: Counter[str] = Counter()
    enrolled: Counter[str] = Counter()
    named: Counter[str] = Counter()
    memory = JokerMemory()
    table: Table | None = None
    for number in range(rounds):
        rng = np.random.default_rng([seed, number])
        played = PlayedRound.draw(rng)
        if table is None or not shift_rounds or number % shift_rounds == 0:
            name, deck, known = decks[number // max(1, shift_rounds) % len(decks)]
            stage = Stage.draw(rng, [deck])
            table = Table(name, deck, known, stage, int(rng.integers(2**31)))
            memory = JokerMemory()
            own_reader: Reader = reader
            spread = table.enrolled(detector, reader) if enrol_deck else None
            if spread is not None:
                own_reader = DeckReader(reader, needed(networks.comparer), spread.samples)
            tables[name] += 1
            enrolled[name] += spread is not None
            named[name] += spread is not None and spread.is_named
        name, known = table.name, table.known
        laid = number if shift_rounds else None
        seen = {
            seat: SeenPlace.read(
                place_views(
                    table.deck, table.stage, played.hand(k), seat, (table.views, k),
                    detector.size, laid,
                ),
                detector, own_reader,
            )
            for k, seat in enumerate(SEATS)
        }  # fmt: skip
        if shift_rounds:
            without = {
                seat: own.hand(detector, own_reader, jokers[name]) for seat, own in seen.items()
            }
            apart.add(played, {seat: own.cards for seat, own in without.items()}, known)
        samples = jokers[name] or memory.samples
        before = bool(memory.samples)
        read = {seat: own.hand(detector, own_reader, samples) for seat, own in seen.items()}
        hands = {seat: own.cards for seat, own in read.items()}
        plain = {seat: own.plain for seat, own in read.items() if own.plain is not None}
        figures[name].add(played, hands, known, plain)
        by_samples.add(played, hands, known)
        by_reader.add(played, plain or hands, known)
        if before:
            learned.add(played, hands, known, plain)
        alone.add(played, {seat: own.alone for seat, own in read.items()}, known)
        if shift_rounds and not jokers[name]:
            memory.learn(hands, decide_deck(hands), {seat: own.shown for seat, own in read.items()})
        if on_progress:
            on_progress((number + 1) / rounds)
    whole = RoundTally()
    for one in figures.values():
        whole.take(one)
    return {
        "seed": seed, "rounds": rounds, "together": whole.figures(),
        **(
            {"without a learned joker": apart.figures(), "once it is learned": learned.figures()}
            if shift_rounds
            else {}
        ),
        **(
            {"by samples alone": by_samples.figures(), "by the reader alone": by_reader.figures()}
            if enrol_deck
            else {}
        ),
        "without unread cards": alone.figures(),
        "decks": {
            name: one.figures()
            | ({"joker enrolled": bool(jokers[name])} if enrol else {})
            | (
                {"tables": tables[name], "decks enrolled": enrolled[name],
                 "by named rows": named[name]}
                if enrol_deck else {}
            )
            for name, one in figures.items()
        },
    }  # fmt: skip


def lone_card(rng: np.random.Generator, deck: Deck, card: str) -> ByteArray:
    """A view (ENROL_PX, ENROL_PX, 3) of a card that lies alone in its middle."""
    stage = Stage.draw(rng, [deck])
    turn = float(rng.uniform(-30, 30))
    laid = hand_items(rng, [card], (0.0, 0.0), 30.0, turn, True, "j")
    return render_table_view(rng, deck, stage, ENROL_PX, laid).image


def _enrolled(deck: Deck, seed: int, detector: SizedDetector, reader: Reader) -> tuple[Sample, ...]:
    """The deck's joker, enrolled from a view where it lies alone; nothing where it is refused."""
    image = lone_card(np.random.default_rng([seed, 3]), deck, JOKER)
    _, calibration = flat_view(image)
    try:
        return samples_of(joker_at(image, calibration, (0.0, 0.0), detector, reader).image)
    except NotEnrolledError:
        return ()


def card_decks(
    folders: Sequence[Path], drawn: int, seed: int
) -> Iterator[tuple[str, Deck, frozenset[str]]]:
    """Decks of folders of faces and drawn ones: name, deck, and labels whose faces are its own."""
    every = frozenset(DECK_LABELS)
    for folder in folders:
        style = random_style(np.random.default_rng([seed, 1]), [])
        yield folder.name, filled_deck(folder, style), frozenset(known_faces(folder))
    for k in range(drawn):
        yield f"drawn-{k}", draw_deck(random_style(np.random.default_rng([seed, 2, k]), [])), every


def place_views(
    deck: Deck, stage: Stage, cards: Sequence[str], seat: int | None, seeds: tuple[int, int],
    size: int, number: int | None = None,
) -> list[ByteArray]:  # fmt: skip
    """Views (size, size, 3) of one place at its moments: the same camera, felt and light.

    `seeds` draw these; with `number`, that of a round of a shift, it draws how the cards are laid.
    """
    more = () if number is None else (number,)
    laid = laid_cards(np.random.default_rng([*seeds, 1, *more]), cards, seat is None)
    return [
        render_table_view(
            np.random.default_rng(seeds), deck, stage, size, laid,
            np.random.default_rng([*seeds, 2, moment, *more]),
        ).image
        for moment in range(MOMENTS)
    ]  # fmt: skip


def read_moments(
    views: Sequence[ByteArray], detector: SizedDetector, reader: Reader
) -> list[SeenIndices]:
    """The indices of one place at each of its moments."""
    readings = []
    for moment, view in enumerate(views):
        place, calibration = flat_view(view)
        found = detector.find([view])[0]
        readings.append(see_indices(view, calibration, place, found, detector.size, reader, moment))
    return readings


@dataclass(frozen=True)
class ReadHands:
    """The cards of one place as the audit joins them, with its unread one and without.

    `shown` is what the memory of the table's joker gets, `plain` the cards by the reader alone
    where they are read with samples of the deck.
    """

    cards: list[CardRead]
    alone: list[CardRead]
    shown: ShownHand
    plain: list[CardRead] | None = None


@dataclass(frozen=True)
class SeenPlace:
    """The views of one place at its moments, and what is read in them without any sample."""

    views: Sequence[ByteArray]
    seen: Sequence[SeenIndices]
    faint: Sequence[FaintFinds | None]

    @classmethod
    def read(cls, views: Sequence[ByteArray], detector: SizedDetector, reader: Reader) -> SeenPlace:
        """Read the views."""
        seen = read_moments(views, detector, reader)
        faint = [
            _faint(view, own.indices, detector, reader, moment)
            for moment, (own, view) in enumerate(zip(seen, views, strict=True))
        ]
        return cls(views, seen, faint)

    def hand(self, detector: SizedDetector, reader: Reader, joker: Sequence[Sample]) -> ReadHands:
        """The cards there, where the joker's `joker` samples are known."""
        readings, faint = [], []
        for moment, (seen, view) in enumerate(zip(self.seen, self.views, strict=True)):
            old = seen.indices
            read = with_joker(old, view, joker)
            same = len(read) == len(old) and all(
                one is other for one, other in zip(read, old, strict=True)
            )
            readings.append(read)
            faint.append(
                self.faint[moment] if same else _faint(view, read, detector, reader, moment)
            )
        alone = join_cards(fuse_indices(readings))
        unread = [None if own is None else own.shares for own in faint]
        marks = () if faint[-1] is None else faint[-1].marks
        plain = [
            with_joker(seen.plain, view, joker)
            for seen, view in zip(self.seen, self.views, strict=True) if seen.plain is not None
        ]  # fmt: skip
        return ReadHands(
            with_unread_card(alone, unread), alone,
            ShownHand(self.views[-1], readings[-1], marks),
            with_unread_card(join_cards(fuse_indices(plain)), unread) if plain else None,
        )  # fmt: skip


def _faint(
    view: ByteArray, read: Sequence[ViewIndex], detector: SizedDetector, reader: Reader, moment: int
) -> FaintFinds | None:
    place, own = flat_view(view)
    return faint_finds(view, own, place, view, read, detector, reader, moment)


def laid_cards(rng: np.random.Generator, cards: Sequence[str], dealers: bool) -> list[Item]:
    """Both hands and some chips, in a frame of VIEW_MM."""
    low, high = _rows(dealers)
    turn = (180.0 if rng.random() < 0.3 else 0.0) + float(rng.normal(0, 4))
    off = rng.normal(0, 4, 4)
    items = [
        *hand_items(
            rng, cards[:2], (off[0], low + off[1]), float(rng.uniform(22, 60)),
            turn + float(rng.normal(0, 3)), True, "l",
        ),
        *hand_items(
            rng, cards[2:], (off[2], high + off[3]), float(rng.uniform(16, 26)),
            turn + float(rng.normal(0, 3)), True, "h",
        ),
    ]  # fmt: skip
    for k, (u, v) in enumerate(() if dealers else SPOTS_MM):
        if rng.random() < 0.5:
            at = (u + float(rng.normal(0, 5)), v + float(rng.normal(0, 5)))
            items.append(stack_item(rng, f"b{k}", at))
    return items


class RoundTally:
    """Counts over rounds."""

    def __init__(self) -> None:
        self.n: Counter[str] = Counter()
        self.misread: Counter[str] = Counter()
        self.stated: Counter[tuple[float, bool]] = Counter()

    def take(self, other: RoundTally) -> None:
        """Add another's counts."""
        self.n += other.n
        self.misread += other.misread
        self.stated += other.stated

    def add(
        self,
        played: PlayedRound,
        hands: Mapping[int | None, Sequence[CardRead]],
        known: frozenset[str],
        plain: Mapping[int | None, Sequence[CardRead]] | None = None,
    ) -> None:
        """Count one round; cards not among `known` count neither way.

        `plain` are the hands by the reader alone, where `hands` are read with samples.
        """
        other = plain or None
        if plain and count_decided(plain) > count_decided(hands):
            hands, other = plain, hands
        decided = decide_deck(hands, other)
        every: list[str] = []
        for place, seat in enumerate(SEATS):
            low, high = (_box(v) for v in _rows(seat is None))
            here = SeatPlace(
                seat=seat or 1, place=Place(center_mm=(0.0, 0.0)), low=low, high=high,
                spots={"main": low},
            )  # fmt: skip
            read = read_hand(seat, hands, here, decided)
            names = [*read.low, *read.high]
            every += names
            truth = Counter(played.hand(place))
            right = Counter(names) & truth
            wrong = Counter(names) - truth
            unread = truth - right
            counted = sum(n for card, n in truth.items() if card in known)
            self.n["cards"] += counted
            self.n["right"] += sum(n for card, n in right.items() if card in known)
            self.n["wrong"] += wrong.total()
            self.n["invented"] += max(0, wrong.total() - unread.total())
            self.n["jokers"] += truth[JOKER]
            self.n["jokers right"] += right[JOKER]
            self.n["jokers false"] += wrong[JOKER]
            for own in (decided.get(id(card)) for card in hands[seat]):
                if own is not None and own.why is None:
                    least = max(limit for limit in STATED if own.share >= limit)
                    self.stated[least, own.label in truth] += 1
            for card in wrong:
                self.misread[f"{'/'.join(sorted(unread)) or 'nothing'} read {card}"] += 1
            if seat is None:
                self.n["dealer's hand open"] += bool(unread)
        twins = max(Counter(every).values(), default=0) > 1
        self.n["rounds"] += 1
        self.n["faulty decks"] += played.fault
        self.n["faulty decks found"] += played.fault and twins
        self.n["false DECK"] += not played.fault and twins

    def figures(self) -> dict[str, Any]:
        """The counts, shares with 95% intervals, and the commonest misreadings."""
        n = self.n
        names = (
            "rounds", "cards", "right", "wrong", "jokers", "jokers right", "jokers false",
            "dealer's hand open", "faulty decks", "faulty decks found", "false DECK",
        )  # fmt: skip
        return {
            **{name: n[name] for name in names},
            "undecided": n["cards"] - n["right"] - n["wrong"],
            "right share": _share(n["right"], n["cards"]),
            "wrong share": _share(n["wrong"], n["cards"]),
            "misread": dict(self.misread.most_common(12)),
            "by probability": [
                {"from": limit, "right": self.stated[limit, True],
                 "wrong": self.stated[limit, False]}
                for limit in STATED
            ],
        }  # fmt: skip


def _share(count: int, of: int) -> list[float] | None:
    """Share, and the bounds of its 95% interval."""
    if not of:
        return None
    low, high = wilson(count, of)
    return [round(v, 5) for v in (count / of, low, high)]


def _rows(dealers: bool) -> tuple[float, float]:
    return (DEALERS_LOW_MM, DEALERS_HIGH_MM) if dealers else (LOW_MM, HIGH_MM)


def _box(v: float) -> Polygon:
    """The box of a hand whose middle is at `v`, mm."""
    corners = ((-90.0, v - 45), (90.0, v - 45), (90.0, v + 45), (-90.0, v + 45))
    return Polygon(points_mm=corners)
