"""Which indices of a photograph are one card's."""

from __future__ import annotations

import numpy as np
import pytest

from settlement.record import DECK_LABELS
from tests.vision.cards.read_index import index
from vision.cards.grouping import join_indices
from vision.cards.one_card import are_one, parted
from vision.cards.outline import ReadIndex


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        (index("AS", 0, 0, 0), index("AS", 43, 62, 180), True),
        (index("AS", 0, 0, 0), index("AS", 43, 0, 10), True),
        (index("AS", 0, 0, 0), index("AS", 0, 62, 175), True),
        (index("AS", 43, 0, 0), index("AS", 0, 62, 180), True),
        (index("AS", 0, 0, 0), index("AS", 0, 62, 0), False),
        (index("AS", 0, 0, 0), index("AS", 43, 62, 90), False),
        (index("AS", 0, 0, 0), index("AS", 430, 540, 180), False),
        # Readings of one name speak for one card, sure ones of two names for two.
        (index("AS", 0, 0, 0, 0.99), index("AC", 43, 62, 180, 0.99), False),
        (index("AS", 0, 0, 0, 0.99), index("KD", 43, 62, 180, 0.99), False),
    ],
)
def test_pairs(a: ReadIndex, b: ReadIndex, joined: bool) -> None:
    assert parted([a, b]) == ([[0, 1]] if joined else [[0], [1]])
    assert len(parted([b, a])) == (1 if joined else 2)
    assert np.allclose(are_one([a, b]), are_one([b, a]).T)


def test_what_is_now_a_club_and_now_a_spade_is_one_card_in_doubt() -> None:
    def blurred(label: str, other: str, x: float, y: float, turn: float) -> ReadIndex:
        own = index(label, x, y, turn, 0.85)
        own.shares[DECK_LABELS.index(other)] = 0.12
        return own

    card = [
        blurred("2S", "2C", 20, 20, 0), blurred("2C", "2S", 63, 20, 0),
        blurred("2C", "2S", 20, 82, 180), blurred("2S", "2C", 63, 82, 180),
    ]  # fmt: skip
    assert [sorted(part) for part in parted(card)] == [[0, 1, 2, 3]]
    assert join_indices(card, 200, 200) == []
    # Three of four are enough; the fourth is shown as an index without a name.
    card[1] = blurred("2S", "2C", 63, 20, 0)
    (joined,) = join_indices(card, 200, 200)
    assert (joined.label, sorted(joined.members)) == ("2S", [0, 1, 2, 3])
    assert 0.8 < joined.score < 0.99


@pytest.mark.parametrize("many", [0, 1, 7])
def test_every_index_is_in_one_part(many: int) -> None:
    rng = np.random.default_rng(many)
    own = [
        index("AS" if turn < 180 else "KD", float(x), float(y), float(turn))
        for x, y, turn in rng.uniform(0, (200, 200, 360), (many, 3))
    ]
    parts = parted(own)
    assert sorted(n for part in parts for n in part) == list(range(many))
    assert max(map(len, parts), default=0) <= 4
