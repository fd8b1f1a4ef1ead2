"""Chips laid out for their samples, and what an enrolment finds in the image of them."""

from __future__ import annotations

import math
import shlex
from itertools import combinations
from pathlib import Path

import pytest

from datasets.render.cards.deck import draw_deck
from datasets.render.cards.deck_style import DeckStyle
from datasets.simulate.house_tables import GAME_IDS, table_for
from datasets.simulate.laid_out import (
    CLEAR_MM,
    DECK_PITCH_MM,
    LAID_CHIPS,
    deck_pitch_mm,
    laid_out,
)
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from surveillance.cli import main
from vision.cards.table_deck import table_deck
from vision.geometry.table import load_table


@pytest.mark.parametrize("game", GAME_IDS)
def test_each_kind_has_a_stack_clear_of_the_others(game: str) -> None:
    table = table_for(game)
    laid = laid_out(table)
    assert [one.chip for one in laid] == list(table.chips)
    for one in laid:
        assert one.item.colours == (one.chip,) * LAID_CHIPS
        assert table.seat(one.seat).spots[one.spot].center_mm == one.item.center_mm
    for one, other in combinations(laid, 2):
        assert math.dist(one.item.center_mm, other.item.center_mm) >= CLEAR_MM


def test_a_table_without_room_is_refused() -> None:
    table = table_for("imperial_pai_gow_draw", seats=1)
    with pytest.raises(FeltwatchError, match="no room to lay out"):
        laid_out(table)


@pytest.mark.parametrize(
    "style",
    [DeckStyle(), DeckStyle(beside=True, rank_mm=10.0, suit_mm=10.0),
     DeckStyle(beside=True, suit_first=True, rank_mm=9.0, suit_mm=9.0, all_corners=True)],
)  # fmt: skip
def test_a_spread_leaves_each_upper_left_index_in_view(style: DeckStyle) -> None:
    deck = draw_deck(style)
    pitch = deck_pitch_mm(deck)
    assert (pitch == DECK_PITCH_MM[0]) is not style.beside
    for label in DECK_LABELS:
        if label != JOKER:
            first = min(deck.faces[label].indices, key=lambda index: sum(index.rect_mm[:2]))
            assert first.rect_mm[2] < pitch


@pytest.mark.render
def test_the_printed_commands_enrol_the_deck_and_every_chip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "shift"
    options = "--seed 3 --rounds 1 --seats 2 --fps 1 --preset ultrafast --laid-out --quiet"
    assert main(["simulate", *options.split(), "--out", str(out)]) == 0
    spread, command = capsys.readouterr().out.splitlines()[-2:]
    deck = shlex.split(spread)
    assert deck[:3] == ["feltwatch", "cards", "deck"]
    assert main(deck[1:]) == 0
    assert "of 53 cards are written" in capsys.readouterr().out
    words = shlex.split(command)
    assert words[:3] == ["feltwatch", "chips", "enrol"]
    assert main(words[1:]) == 0
    table = load_table(out / "table.toml")
    samples = table_deck(table)
    assert samples is not None
    assert samples.there.sum() >= 52
    assert all(kind.sampled() is not None for kind in table.chips.values())
    strongest = {
        name: max(range(3), key=kind.rgb.__getitem__) for name, kind in table.chips.items()
    }
    assert (strongest["red"], strongest["green"], strongest["purple"]) == (0, 1, 2)
    white, black = (sum(table.chips[name].rgb) for name in ("white", "black"))
    assert black < white / 2
