"""Every finding is filmed by a simulated way, or named as one that is not, with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.simulate.mistakes.catalogue import WAYS
from datasets.simulate.mistakes.coverage import (
    FILMED,
    NOT_FILMED,
    as_markdown,
    finding_kinds,
    table_of,
)

PAGE = Path(__file__).parents[3] / "docs" / "simulator.md"


def test_every_finding_is_filmed_or_named_as_one_that_is_not() -> None:
    known = FILMED.keys() | NOT_FILMED.keys()
    assert finding_kinds() <= known
    assert not FILMED.keys() & NOT_FILMED.keys()
    codes = {kind.partition(":")[0] for kind in finding_kinds()} | {"LIMIT", "LAMMER", "DECK"}
    assert {kind.partition(":")[0] for kind in known} == codes


def test_every_way_of_a_round_films_one_finding() -> None:
    ways = [way for own in FILMED.values() for way in own]
    assert all(ways), "a finding without a way belongs to NOT_FILMED"
    whole = {
        f"{code}/{way}" for code in WAYS if code not in ("SILENT", "CAMERA") for way in WAYS[code]
    }
    assert sorted(ways) == sorted(whole)
    assert all(
        way.partition("/")[0] == kind.partition(":")[0]
        for kind, own in FILMED.items()
        for way in own
    )


@pytest.mark.parametrize(
    ("way", "game", "table"),
    [
        ("PROCEDURE/coin_unseen", "emperors_challenge_exposed_washington", "jackpots"),
        ("PROCEDURE/coin_unseen", "emperors_challenge_exposed", None),
        ("OVERPAID/uncollected", "pai_gow_poker", "afterwards"),
        ("NOT_TAKEN/house", "imperial_pai_gow_draw", None),
    ],
)
def test_a_way_has_its_table_and_games(way: str, game: str, table: str | None) -> None:
    assert table_of(way, game) == table


def test_the_page_has_the_table() -> None:
    assert as_markdown() in PAGE.read_text(encoding="utf-8")
