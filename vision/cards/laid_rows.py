"""Four rows of a spread deck: which card lies where, by how the finds read or as a person says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import numpy.typing as npt

from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.cards.view import JOKER_PLACE, NONE_PLACE
from vision.detect.detections import Floats
from vision.geometry.table import FloatArray

RANKS, SUITS = "A23456789TJQK", "SHDC"
_UPWARDS = RANKS, RANKS[1:] + RANKS[0]
_ORDERS = (*_UPWARDS, *(order[::-1] for order in _UPWARDS))
"""Orders in which a suit may lie, from left to right."""

ROW_TURNS_DEG = np.arange(-15.0, 15.1, 0.5)
ROW_HALF_MM, ALONG_GAP_MM, LEAST_IN_ROW = 7.0, 75.0, 9
"""Indices of one row lie so near to its middle, and so near to each other along it; so many are
one. Rows lie apart by twice the first and more."""

LOWER_CORNER = 0.9
"""What reads as a card with this share the other way up, and with less as it lies, is the lower
corner of a card: a row of those is none, where the row that it would stand for is not found."""

WORTH = 0.3
"""What a find counts for in a row, besides the share of the card that it reads as."""

MISREAD, PASSED, MISSING = -4.6, (2.0, 3.0), 5.0
"""Least log share of a find as a card, what it costs, in nats, to pass over a find (the latter
times the share of a card, not the joker, that it reads as), and a card that is not found."""

LEAST_PITCH_MM, PITCH_OFF = 8.0, 0.2
"""Finds of one row that lie nearer are not two cards of it; and how far a step from card to card
is off, as a share of the usual one (standard deviation; chosen). A letter of another language may
read as its neighbour: its card is in its place all the same."""

MOST_MISSING = 4

FAR_CORNER_MM = (51.0, 65.0)
FAR_CORNER_OFF_MM = 14.0
"""From a card's upper left index to its lower right one, and how far decks differ."""

JOKER_WITHIN_MM = 130.0
"""The joker lies so near to the rows."""

LEAST_JOKER, AT_END, END_OFF = 0.9, 8.0, 0.3
"""What reads as a joker with less is none; so many nats are added where it lies a step beyond the
end of a row, less by how far it is off that, as a share of the step (standard deviation). Of 75
spreads with a joker 60 were taken rightly and 5 wrongly in place of 56 and 7 with 0.2 and 4 nats;
with the joker's mark left out of the finds 7 in place of 19 have another."""

LEAST_AGREED, LEAST_MARGIN = 0.25, 12.0
"""Least share of the cards that read as what they are by their place, and by how many nats the
order found is likelier than any other, and each of its rows than the same from its other end.

Of 80 spreads of 64 tune decks the 74 that are enrolled have 0.35 and 12.6 and more (all rows from
the same end), and every card its own name; by readings alone, without `PITCH_OFF`, 11 had a card
under another's. With readings shuffled the most were 0.14 and 9. The other limits were chosen on
one spread each of 42 tune decks."""

KNOWN_RANKS = 0.1
"""How likely it is that ranks of a deck whose rows a person names are read as what they are. A few
that read as another by chance do not shift a row; where all are read they place it."""

COLUMN_OFF = 0.35
"""How far a row whose cards are not read begins from the others, as a share of a step (standard
deviation; chosen). One whose first card is not found, with the joker at its end, looks like one
that begins a step further on."""

LAY = (
    "lay the deck face up in four rows of thirteen, a suit each, from ace to king or from king to "
    "ace, the upper left index of each card in view, the joker at the end of a row, and nothing "
    "else beside them"
)


ROWS_FORM = (
    "expected the four rows from the top, each by its first and its last card from left to right, "
    "such as AS-KS AH-KH KD-AD KC-AC (or 2S-AS, AS-2S)"
)


def declared_rows(text: str) -> tuple[tuple[str, ...], ...]:
    """The cards of four rows as a person names them; raises DeckNotEnrolledError.

    >>> [row[:2] for row in declared_rows("AS-KS KH-AH 2D-AD AC-2C")]
    [('AS', '2S'), ('KH', 'QH'), ('2D', '3D'), ('AC', 'KC')]
    """
    ends = {(order[0], order[-1]): order for order in _ORDERS}
    rows = []
    for part in text.upper().replace(",", " ").split():
        first, _, last = part.replace("10", "T").partition("-")
        order = ends.get((first[:1], last[:1]))
        if order is None or len(first) != 2 or first[1:] != last[1:] or first[1] not in SUITS:
            raise DeckNotEnrolledError(f'rows: "{part}" is none: {ROWS_FORM}')
        rows.append(tuple(rank + first[1] for rank in order))
    if len(rows) != len(SUITS) or len({row[0][1] for row in rows}) < len(SUITS):
        raise DeckNotEnrolledError(f'rows: "{text}" are not four suits: {ROWS_FORM}')
    return tuple(rows)


class DeckNotEnrolledError(FeltwatchError):
    """What lies on the felt cannot be enrolled as a deck; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """A deck in rows as the finds make it, one way up: `local` (n, 2) mm along and across the
    rows, `logs` (n, 54) of what they read as, which of them read better `turned` by half, which
    find each card has, and how likely that is."""

    local: FloatArray
    logs: Floats
    turned: npt.NDArray[np.bool_]
    rows: int
    named: Mapping[str, int]
    total: float
    margin: float

    @classmethod
    def of(
        cls, at: FloatArray, both: Floats, upside: int, declared: Sequence[Sequence[str]] | None
    ) -> Spread:
        """The likeliest order of finds at places (n, 2), `both` (n, 2, 54) their shares, or how
        they lie in the `declared` rows."""
        logs, other = np.log(both[:, upside]), np.log(both[:, 1 - upside])
        turned = other[:, :NONE_PLACE].max(axis=1) > logs[:, :NONE_PLACE].max(axis=1)
        lower = turned & (other[:, :NONE_PLACE].max(axis=1) >= np.log(LOWER_CORNER))
        local, rows = _rows(at, np.exp(logs[:, :NONE_PLACE].max(axis=1)), ~lower)
        if len(rows) < len(SUITS):
            return cls(local, logs, turned, len(rows), {}, -np.inf, 0.0)
        if declared is not None:
            rows.sort(key=lambda row: float(np.median(local[row, 1])))
            by_suit = np.log(_of_any_rank(both[:, upside]))
            columns = None
            for _ in range(2):
                aligned = [
                    _aligned(
                        row, local[:, 0], "".join(c[0] for c in cards), cards[0][1], by_suit,
                        columns,
                    )
                    for row, cards in zip(rows, declared, strict=True)
                ]  # fmt: skip
                columns = _columns(declared, [named for _, named in aligned], local[:, 0])
            cards = {label: n for _, named in aligned for label, n in named.items()}
            return cls(local, logs, turned, len(rows), cards, sum(t for t, _ in aligned), np.inf)
        every: list[tuple[float, float, dict[str, int]]] = []
        for upwards in _UPWARDS:
            # Each row may begin at either end: a new deck has two suits from king to ace.
            table = [
                [
                    sorted(
                        (_aligned(row, local[:, 0], order, suit, logs)
                         for order in (upwards, upwards[::-1])),
                        key=lambda one: -one[0],
                    )
                    for suit in SUITS
                ]
                for row in rows
            ]  # fmt: skip
            for suits in permutations(range(len(SUITS))):
                own = [table[k][suit] for k, suit in enumerate(suits)]
                cards = {label: n for (_, named), _ in own for label, n in named.items()}
                turned_row = min(one[0] - other[0] for one, other in own)
                every.append((sum(one[0] for one, _ in own), turned_row, cards))
        every.sort(key=lambda one: -one[0])
        (total, turned_row, cards), second = every[0], every[1]
        margin = min(total - second[0], turned_row)
        return cls(local, logs, turned, len(rows), cards, total, margin)

    def check(self) -> None:
        """Raise DeckNotEnrolledError where this is no deck that reads as one in order."""
        self.check_found()
        if not self.is_clear():
            raise DeckNotEnrolledError(
                f"the rows do not read as suits in order ({self.agreed:.0%} of the cards read as "
                f"what their place says): name the rows, or {LAY}"
            )

    def check_found(self) -> None:
        """Raise DeckNotEnrolledError where there are no four rows, or too few cards in them."""
        if self.rows < len(SUITS):
            raise DeckNotEnrolledError(
                f"{self.rows} rows of cards are found, expected {len(SUITS)} (finds on the felt: "
                f"{len(self.local)}); {LAY}"
            )
        every = [rank + suit for suit in SUITS for rank in RANKS]
        missing = [label for label in every if label not in self.named]
        if len(missing) > MOST_MISSING:
            raise DeckNotEnrolledError(
                f"no index is found of {len(missing)} cards: {', '.join(missing)}; {LAY}"
            )

    def check_against(self, read: Spread) -> None:
        """Raise DeckNotEnrolledError where the cards clearly read as lying in other rows."""
        if not (read.rows == len(SUITS) and read.is_clear()):
            return
        others = sum(self.named.get(label) != n for label, n in read.named.items())
        if others > MOST_MISSING and read.agreed > self.agreed:
            raise DeckNotEnrolledError(
                f"the rows are not those that were named: they read as {read.order()}"
            )

    @property
    def agreed(self) -> float:
        """The share of the cards that read as what they are by their place."""
        agrees = [
            DECK_LABELS[int(self.logs[n].argmax())] == label
            for label, n in self.named.items() if self.logs[n].argmax() != NONE_PLACE
        ]  # fmt: skip
        return float(np.mean(agrees)) if agrees else 0.0

    def is_clear(self) -> bool:
        """Whether the readings alone say which order this is."""
        return self.agreed >= LEAST_AGREED and self.margin >= LEAST_MARGIN

    def order(self) -> str:
        """The rows from the top, as `declared_rows`."""
        rows = []
        for suit in SUITS:
            own = [(label, self.local[n]) for label, n in self.named.items() if label[1] == suit]
            own.sort(key=lambda one: float(one[1][0]))
            middle = float(np.median([at[1] for _, at in own]))
            there = [label[0] for label, _ in own]
            order = next(o for o in _ORDERS if [rank for rank in o if rank in there] == there)
            rows.append((middle, f"{order[0]}{suit}-{order[-1]}{suit}"))
        return " ".join(name for _, name in sorted(rows))

    def joker(self) -> int | None:
        """Which find is the joker's, beside the others; None where none is."""
        taken = set(self.named.values())
        cards = self.local[sorted(taken)]
        low, high = cards.min(axis=0) - JOKER_WITHIN_MM, cards.max(axis=0) + JOKER_WITHIN_MM
        odds = {}
        for n in set(range(len(self.local))) - taken:
            own = self.local[n]
            corner = np.hypot(*(cards + FAR_CORNER_MM - own).T).min() < FAR_CORNER_OFF_MM
            if (corner and self.turned[n]) or (own < low).any() or (own > high).any():
                continue
            odds[n] = float(self.logs[n, JOKER_PLACE])
            row = np.sort(cards[np.abs(cards[:, 1] - own[1]) < ROW_HALF_MM, 0])
            if len(row) > 1:
                beyond = max(row[0] - own[0], own[0] - row[-1]) / float(np.median(np.diff(row)))
                odds[n] += AT_END * float(np.exp(-(((beyond - 1) / END_OFF) ** 2) / 2))
        best = max(odds, key=odds.__getitem__, default=None)
        return best if best is not None and odds[best] > np.log(LEAST_JOKER) else None


def _of_any_rank(shares: Floats) -> Floats:
    """Shares (n, 54) where the reader knows the deck's ranks with a chance of KNOWN_RANKS alone."""
    out = shares * KNOWN_RANKS
    for suit in SUITS:
        own = [DECK_LABELS.index(rank + suit) for rank in RANKS]
        out[:, own] += shares[:, own].mean(axis=1, keepdims=True) * (1 - KNOWN_RANKS)
    return out


def straight(at: FloatArray, turn_deg: float) -> FloatArray:
    """Places (n, 2) along and across what is turned so."""
    a = np.radians(turn_deg)
    out: FloatArray = at @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return out


def _rows(
    at: FloatArray, shares: Floats, upper: npt.NDArray[np.bool_]
) -> tuple[FloatArray, list[npt.NDArray[np.intp]]]:
    """Places (n, 2) along and across the rows, and up to four rows of finds from left to right.

    `shares` (n,) say how well each reads, `upper` (n,) which may be in a row. At the turn of most
    finds in four rows, and of the straightest rows, a row is those near a line that have another
    one near beside them.
    """
    best: tuple[float, FloatArray, list[npt.NDArray[np.intp]]] = (-1.0, at, [])
    worth = np.where(upper, WORTH + shares, 0.0)
    for turn in ROW_TURNS_DEG:
        local = straight(at, float(turn))
        near = np.abs(local[:, 1, None] - local[:, 1]) < ROW_HALF_MM
        close = near & (np.abs(local[:, 0, None] - local[:, 0]) < ALONG_GAP_MM)
        # What lies off the middle of its row counts less: the turn is the row's own.
        off = 1 - np.abs(local[:, 1, None] - local[:, 1]) / (2 * ROW_HALF_MM)
        middles: list[int] = []
        rows: list[npt.NDArray[np.intp]] = []
        value = (near * off) @ worth
        total = 0.0
        for n in np.argsort(-value):
            if len(rows) == len(SUITS):
                break
            if any(abs(local[n, 1] - local[k, 1]) < 2 * ROW_HALF_MM for k in middles):
                continue
            row = np.flatnonzero(near[n] & upper & (close.sum(axis=1) > 1))
            if len(row) < LEAST_IN_ROW:
                continue
            middles.append(int(n))
            rows.append(row[np.argsort(local[row, 0])])
            total += float(value[n])
        if (len(rows), total) > (len(best[2]), best[0]):
            best = (total, local, rows)
    return best[1], best[2]


def _aligned(
    row: npt.NDArray[np.intp], along: FloatArray, order: str, suit: str, logs: Floats,
    columns: FloatArray | None = None,
) -> tuple[float, dict[str, int]]:  # fmt: skip
    """The likeliest way in which a row's finds are a suit in such an order, and which each card is.

    `along` (n,) mm is where the finds of all rows lie, `columns` (13,) where the cards of most
    rows do: without readings nothing else says which end of a row is not found. Finds that are none
    of the cards are passed over and cards that are not found left out, at a price; a card that is
    left out leaves a gap.
    """
    cards = np.array([DECK_LABELS.index(rank + suit) for rank in order])
    fits = np.maximum(logs[np.ix_(row, cards)], MISREAD)
    others = np.delete(logs[row, :NONE_PLACE], JOKER_PLACE, axis=1)
    passed = np.cumsum([0.0, *(PASSED[0] + PASSED[1] * np.exp(others.max(axis=1)))])
    pitch = _pitch(along[row])
    at = along[row] / pitch
    n, m = fits.shape
    if columns is not None:
        off = (along[row, None] - columns) / (pitch * COLUMN_OFF)
        fits = fits - np.nan_to_num(off) ** 2 / (2 * n)
    # The best that ends with find i as card j, and the pair before that.
    best = np.full((n, m), -np.inf)
    back: dict[tuple[int, int], tuple[int, int]] = {}
    for i, j in product(range(n), range(m)):
        best[i, j] = -passed[i] - MISSING * j
        if i and j:
            steps = j - np.arange(j)
            off = (at[i] - at[:i, None] - steps) / (PITCH_OFF * np.sqrt(steps))
            ways = best[:i, :j] - (passed[i] - passed[1 : i + 1, None])
            ways = ways - MISSING * (steps - 1) - off**2 / 2
            k = int(ways.argmax())
            if ways.flat[k] > best[i, j]:
                best[i, j], back[i, j] = ways.flat[k], divmod(k, j)
        best[i, j] += fits[i, j]
    ends = best - (passed[n] - passed[1:, None]) - MISSING * (m - 1 - np.arange(m))
    pair: tuple[int, int] | None = divmod(int(ends.argmax()), m)
    total, named = float(ends.max()), {}
    while pair is not None:
        named[order[pair[1]] + suit] = int(row[pair[0]])
        pair = back.get(pair)
    return total, named


def _columns(
    rows: Sequence[Sequence[str]], named: Sequence[Mapping[str, int]], along: FloatArray
) -> FloatArray:
    """Where the cards of each place of the rows lie along them, mm: the middle of all rows."""
    places = [
        [along[own[row[k]]] for row, own in zip(rows, named, strict=True) if row[k] in own]
        for k in range(len(RANKS))
    ]
    return np.array([np.median(own) if own else np.nan for own in places])


def _pitch(along: FloatArray) -> float:
    """From card to card in a row whose finds lie at `along` (n,) mm, from left to right."""
    gaps = np.diff(along)
    wide = gaps[gaps >= LEAST_PITCH_MM]
    return float(np.median(wide)) if len(wide) else LEAST_PITCH_MM
