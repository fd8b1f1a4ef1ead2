"""The matrix of docs/label-formats.md is what the tests say, and every cell has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.datasets.labelled import matrix

PAGE = Path(__file__).parents[3] / "docs" / "label-formats.md"


def test_every_cell_of_the_matrix_has_a_test() -> None:
    without = [
        f"{form} {way} {column}"
        for form, way, *cells in matrix.rows()
        for column, cell in zip(matrix.COLUMNS, cells, strict=True)
        if not cell
    ]
    assert without == []


def test_the_page_shows_the_matrix_of_the_tests() -> None:
    assert matrix.table() in PAGE.read_text(encoding="utf-8"), (
        "put in what 'python -m tests.datasets.labelled.matrix' prints"
    )


def test_a_cell_that_no_test_covers_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix.rows()
    monkeypatch.delitem(matrix._covered, ("darknet", "import", "splits"))
    (line,) = [row for row in matrix.rows() if row[0] == "darknet"]
    assert line[2:] == ("datumaro", "—", "—", "", "—")


def test_the_tests_that_the_page_names_are_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    assert len(named) > 25
    assert {name for name in named if not any(f"def {name}(" in text for text in tests)} == set()
