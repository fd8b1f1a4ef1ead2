"""The card that a draw dealer sets aside, beside marks that are no cards."""

from __future__ import annotations

import numpy as np

from settlement.record import DECK_LABELS
from settlement.rules import TableRules
from vision.cards.view import CardRead
from vision.geometry.standard_layout import standard_table
from vision.rounds.procedure.eighth_card import set_aside

DEALER = standard_table(TableRules(game="imperial_pai_gow_draw"), seats=3).dealer


def cards() -> list[CardRead]:
    """Two and five in their boxes, and an eighth one far to the left of them."""
    out = []
    rows = ((DEALER.low, ("5C", "5H")), (DEALER.high, ("KD", "KS", "QD", "JS", "8S")))
    for box, labels in rows:
        u, v = DEALER.place.to_local(np.array([box.center_mm]))[0]
        out += [card(label, u + 22.0 * k - 30.0, v) for k, label in enumerate(labels)]
    return [*out, card("6H", out[2].center_mm[0] - 150.0, out[2].center_mm[1])]


def card(label: str, u: float, v: float, share: float = 0.99, indices: int = 1) -> CardRead:
    shares = np.full(len(DECK_LABELS), 1e-4, np.float32)
    shares[DECK_LABELS.index(label)] = share
    return CardRead(label, share, (float(u), float(v)), indices, shares)


def test_a_court_card_figure_read_as_a_joker_is_no_ninth_card() -> None:
    every = cards()
    figure = card("JOKER", every[4].center_mm[0] + 11.0, every[4].center_mm[1])
    parted = set_aside([*every, figure], DEALER)
    assert parted.doubt is None
    assert parted.aside is not None
    assert parted.aside.label == "6H"
    assert [own.label for own in parted.hand] == ["5C", "5H", "KD", "KS", "QD", "JS", "8S"]


def test_nine_cards_that_are_sure_are_a_doubt() -> None:
    every = cards()
    ninth = card("2D", every[4].center_mm[0] + 11.0, every[4].center_mm[1], indices=2)
    assert set_aside([*every, ninth], DEALER).doubt is not None
