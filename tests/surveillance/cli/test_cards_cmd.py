"""`feltwatch cards` on rendered cards."""

from __future__ import annotations

import base64
from pathlib import Path

import cv2
import pytest

from surveillance.cli import main
from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
from tests.surveillance.laid_tables import (
    X,
    Y,
    laid_deck,
    laid_joker,
    laid_table,
    plain_weights,
)
from vision.cards.joker_match import table_joker
from vision.cards.table_deck import table_deck
from vision.geometry.table import load_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return laid_table(tmp_path)


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image of a joker at (X, Y), a card's back 120 mm to its right."""
    path = tmp_path_factory.mktemp("laid") / "laid.png"
    cv2.imwrite(str(path), laid_joker().frame)
    return path


def test_the_joker_goes_into_the_table_file(
    laid: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table_joker(load_table(table)) == ()
    shown = tmp_path / "joker.png"
    assert main(["cards", "enrol", str(laid), "--table", str(table), "--joker", f"{X:.0f},{Y:.0f}",
                 "--image", str(shown)]) == 0  # fmt: skip
    assert "the joker's mark is written" in capsys.readouterr().out
    assert len(table_joker(load_table(table))) == 2
    image = cv2.imread(str(shown))
    assert image is not None
    assert image.shape == (86 * 6, 52 * 6, 3)
    assert list((table.parent / ".backups").iterdir())


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (f"{X:.0f},{Y - 150:.0f}", "no card lies there alone"),
        ("9.high", "expected SEAT.low, SEAT.high, dealer.low, dealer.high or X,Y in mm"),
        ("dealer.main", "expected SEAT.low"),
    ],
)
def test_what_cannot_be_taken_is_said_and_nothing_is_written(
    laid: Path, table: Path, capsys: pytest.CaptureFixture[str], place: str, message: str
) -> None:
    before = table.read_bytes()
    assert main(["cards", "enrol", str(laid), "--table", str(table), "--joker", place]) != 0
    assert message in capsys.readouterr().err
    assert table.read_bytes() == before


def test_another_card_than_the_joker_is_refused(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "queen.png"
    cv2.imwrite(str(path), laid_joker("QH").frame)
    before = table.read_bytes()
    there = ["--table", str(table), "--joker", f"{X:.0f},{Y:.0f}"]
    assert main(["cards", "enrol", str(path), *there]) != 0
    assert "both ends of the card read as QH: lay the joker there" in capsys.readouterr().err
    assert table.read_bytes() == before


@pytest.mark.parametrize("whole", [True, False])
def test_a_broken_sample_in_the_table_file_is_named(
    laid: Path, table: Path, capsys: pytest.CaptureFixture[str], whole: bool
) -> None:
    stored = read_table_data(table)
    stored.data["joker_png"] = base64.b64encode(laid.read_bytes()).decode() if whole else "none"
    write_table_data(table, stored.data, stored.revision)
    assert main(["audit", "x.mp4", "--table", str(table), "--out", str(table.parent / "o")]) != 0
    assert "joker_png: expected a PNG image as base64, 26 or 52 px" in capsys.readouterr().err


def test_the_deck_goes_into_the_table_file(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, shown = tmp_path / "spread.png", tmp_path / "deck.png"
    cv2.imwrite(str(path), laid_deck().frame)
    assert table_deck(load_table(table)) is None
    assert main(["cards", "deck", str(path), "--table", str(table), "--image", str(shown)]) == 0
    assert "53 of 53 cards are written" in capsys.readouterr().out
    samples = table_deck(load_table(table))
    assert samples is not None
    assert samples.there.all()
    image = cv2.imread(str(shown))
    assert image is not None
    assert min(image.shape[:2]) > 300
    assert list((table.parent / ".backups").iterdir())


def test_a_card_that_is_not_there_is_said(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "spread.png"
    cv2.imwrite(str(path), laid_deck(without=("JOKER",)).frame)
    assert main(["cards", "deck", str(path), "--table", str(table)]) == 0
    said = capsys.readouterr()
    assert "52 of 53 cards are written" in said.out
    assert "no index is found of JOKER: without a sample" in said.err


def test_what_is_no_deck_is_refused_and_nothing_is_written(
    laid: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = table.read_bytes()
    assert main(["cards", "deck", str(laid), "--table", str(table)]) != 0
    assert "lay the deck face up in four rows of thirteen" in capsys.readouterr().err
    path = tmp_path / "spread.png"
    gone = [rank + "H" for rank in "A23456789TJQK"]
    cv2.imwrite(str(path), laid_deck(without=gone).frame)
    assert main(["cards", "deck", str(path), "--table", str(table)]) != 0
    assert "3 rows of cards are found, expected 4" in capsys.readouterr().err
    assert table.read_bytes() == before


def test_rows_are_named_on_the_command_line(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = table.read_bytes()
    path = tmp_path / "spread.png"
    cv2.imwrite(str(path), laid_deck().frame)
    words = ["cards", "deck", str(path), "--table", str(table), "--rows"]
    for rows, why in (
        ("AS-KS KH-AH AD-KD AC-KC", "they read as AS-KS AH-KH AD-KD AC-KC"),
        ("S H D C", '"S" is none: expected the four rows from the top'),
    ):
        assert main([*words, rows]) != 0
        assert why in " ".join(capsys.readouterr().err.split())
        assert table.read_bytes() == before
    assert main([*words, "AS-KS AH-KH AD-KD AC-KC"]) == 0
    samples = table_deck(load_table(table))
    assert samples is not None
    assert samples.there.all()


def test_samples_are_not_taken_for_weights_that_cannot_compare(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = table.read_bytes()
    path = tmp_path / "spread.png"
    cv2.imwrite(str(path), laid_deck().frame)
    model = str(plain_weights(tmp_path))
    assert main(["cards", "deck", str(path), "--table", str(table), "--model", model]) != 0
    assert "have no network that compares with a deck's samples" in capsys.readouterr().err
    assert table.read_bytes() == before
