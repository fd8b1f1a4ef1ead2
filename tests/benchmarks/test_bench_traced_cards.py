"""The judge of the card reader by a path tracer: its truth, its scoring and what it needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.traced_cards.__main__ import main
from benchmarks.traced_cards.blender import heights, regions, sheet
from benchmarks.traced_cards.decks import cut_sheet, write_drawn
from benchmarks.traced_cards.faces import back, face, missing_faces
from benchmarks.traced_cards.scene import BACKS, traced_cards
from benchmarks.traced_cards.score import Seen, score
from benchmarks.traced_cards.truth import (
    CARD_MM,
    DOWN,
    JOKER,
    LABELS,
    UP,
    TracedCards,
    TracedHand,
    on_card,
    read_cards,
)
from benchmarks.traced_stacks.film import write_film
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.cards.view import CardRead
from vision.detect.detections import ByteArray, Detections
from vision.geometry.calibration import Calibration
from vision.geometry.table import Place


@pytest.fixture(scope="module")
def tables() -> list[TracedCards]:
    return [traced_cards(11, number, "some") for number in range(6)]


def test_truth_is_read_as_written(tmp_path: Path, tables: list[TracedCards]) -> None:
    for cards in tables:
        cards.write(tmp_path / "t.json")
        assert read_cards(tmp_path / "t.json") == cards
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(ValueError, match=r"t\.json: not the truth"):
        read_cards(tmp_path / "t.json")


def test_tables_hold_what_the_judge_promises(tables: list[TracedCards]) -> None:
    assert set(LABELS) == set(DECK_LABELS)
    for cards in tables:
        assert 3 <= len(cards.hands) <= 4
        labels = [card.label for hand in cards.hands for card in hand.cards]
        assert len(set(labels)) == len(labels) == 7 * len(cards.hands)
        assert any(hand.lies == UP for hand in cards.hands)
        size = [cards.table.camera.width_px, cards.table.camera.height_px]
        for hand in cards.hands:
            assert 1.0 < cards.px_per_mm(hand) < 3.0
            for card in hand.cards:
                corners = on_card(card, np.array([(-31.5, -44.0), (31.5, 44.0)]))
                px = cards.table.camera.to_image(np.column_stack([corners, np.zeros(2)]))
                assert (px > 0).all()
                assert (px < size).all()
    jokers = [
        any(card.label == JOKER for hand in cards.hands for card in hand.cards if hand.lies == UP)
        for cards in (traced_cards(12, number, "some") for number in range(40))
    ]
    assert 10 <= sum(jokers) <= 30


def test_each_card_of_a_row_shows_its_index(tables: list[TracedCards]) -> None:
    for hand in (hand for cards in tables for hand in cards.hands if hand.lies != "pile"):
        for row in hand.rows.values():
            for one, over in pairwise(row):
                index = on_card(one, np.array([(-26.5, -34.0)]))
                place = Place(center_mm=over.center_mm, angle_deg=over.turn_deg)
                assert place.to_local(index)[0, 0] < -CARD_MM[0] / 2


def test_a_sheet_has_round_corners_and_later_cards_lie_above(tables: list[TracedCards]) -> None:
    points, squares = sheet()
    assert np.abs(points).max(axis=0) == pytest.approx(np.array(CARD_MM) / 2)
    assert np.hypot(*(np.abs(points) - np.array(CARD_MM) / 2).T).min() > 0.9
    assert max(max(square) for square in squares) == len(points) - 1
    row = next(h for cards in tables for h in cards.hands if h.lies == UP).rows["high"]
    for one, over in pairwise(row):
        low = Place(center_mm=one.center_mm, angle_deg=one.turn_deg).to_local(on_card(over, points))
        shared = (np.abs(low) < np.array(CARD_MM) / 2).all(axis=1)
        above = heights(over, 0.3, points, False) - heights(one, 0.3, low, False)
        assert above[shared].min() > 0


def test_every_hand_is_painted_in_full(tables: list[TracedCards]) -> None:
    for cards in tables:
        boxes = regions(cards)
        for hand in cards.hands:
            at = np.array([[*card.center_mm, 0.0] for card in hand.cards])
            px = cards.table.camera.to_image(at)
            assert any(
                ((px > (x0, y0)) & (px < (x1, y1))).all() for x0, y0, x1, y1 in boxes
            )  # fmt: skip


def test_decks_are_drawn_and_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_drawn(tmp_path, 3)
    assert missing_faces(folder) == []
    image = face(folder, "AS")
    assert image.shape == (440, 315, 3)
    assert 0 < image.min() <= image.max() <= 0.81
    rng = np.random.default_rng(0)
    for design in BACKS:
        assert back(folder, design, rng).shape == image.shape
    (folder / "JOKER.png").unlink()
    assert missing_faces(folder) == [JOKER]

    page = np.zeros((500, 1300, 4), np.uint8)
    for row in range(5):
        for column in range(13 if row < 4 else 3):
            page[row * 100 + 4 : row * 100 + 96, column * 100 + 4 : column * 100 + 96] = 255
    png = cv2.imencode(".png", page)[1].tobytes()

    class Made:
        returncode, stdout, stderr = 0, png, b""

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: Made())
    cut = cut_sheet(tmp_path, Path("sheet.svgz"))
    assert missing_faces(cut) == []
    queen = cv2.imread(str(cut / "QH.png"))
    assert queen is not None
    assert queen.shape == (92, 92, 3)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(FeltwatchError, match="librsvg2-bin"):
        cut_sheet(tmp_path, Path("sheet.svgz"))


def card(hand: TracedHand, n: int, label: str | None = None) -> CardRead:
    own = hand.cards[n]
    at = Place(center_mm=hand.center_mm, angle_deg=hand.angle_deg).to_local(
        np.array([own.center_mm])
    )[0]
    shares = np.full(53, 1e-4, np.float32)
    shares[DECK_LABELS.index(label or own.label)] = 0.99
    return CardRead(label or own.label, 0.99, (float(at[0]), float(at[1])), 1, shares)


def test_cards_jokers_and_backs_are_counted(tmp_path: Path, tables: list[TracedCards]) -> None:
    own = next(cards for cards in tables if any(hand.lies == UP for hand in cards.hands))
    hand = next(hand for hand in own.hands if hand.lies == UP)
    others = [label for label in LABELS if label not in {c.label for c in hand.cards}]
    closed = replace(hand, lies=DOWN, center_mm=(hand.center_mm[0], hand.center_mm[1] + 400))
    closed = replace(
        closed, cards=tuple(
            replace(c, label=others[k], center_mm=(c.center_mm[0], c.center_mm[1] + 400))
            for k, c in enumerate(hand.cards)
        ),
    )  # fmt: skip
    cards = replace(own, hands=(hand, closed))
    camera = cards.table.camera
    frame = np.full((camera.height_px, camera.width_px, 3), 90, np.uint8)
    write_film(tmp_path / "t.mp4", [frame], 20)
    cards.write(tmp_path / "t.json")
    wrong = next(label for label in others[7:] if label != JOKER)

    def read(
        frames: Sequence[ByteArray], calibration: Calibration, hands: Sequence[TracedHand],
        own: TracedHand,
    ) -> Seen:  # fmt: skip
        assert len(frames) == 1
        assert len(hands) == 2
        found = Detections.empty(("back",))
        if own == hand:
            given = [card(hand, n) for n in range(5)] + [card(hand, 5, wrong)]
            return Seen(given, np.array([hand.center_mm]), frames[0][:80, :80], found, [])
        backs = np.array([closed.cards[0].center_mm, (9e3, 9e3)])
        return Seen([], backs, frames[0][:80, :80], found, [])

    found = score(tmp_path, read, tmp_path / "faults")
    assert (found["cards"], found["right"], found["wrong"], found["undecided"]) == (7, 5, 1, 1)
    backs = found["backs"]
    assert (backs["found"], backs["false"], backs["rows"], backs["rows found"]) == (3, 2, 2, 1)
    assert found["by"]["deck"]["some"]["right"] == 5
    assert len(list((tmp_path / "faults").iterdir())) == 2


def test_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FeltwatchError, match="holds no traced tables"):
        score(tmp_path, lambda *_: pytest.fail("nothing to read"))
    out, deck = tmp_path / "out", tmp_path / "deck"
    arguments = ["render", "--out", str(out), "--deck", str(deck), "--tables", "1", "--seed", "1"]
    assert main(arguments) == 1
    assert f"{deck}: a face is missing" in capsys.readouterr().err
    deck.mkdir()
    for label in LABELS:
        (deck / f"{label}.png").touch()
    monkeypatch.setitem(sys.modules, "bpy", None)
    assert main(arguments) == 1
    assert "pip install bpy==" in capsys.readouterr().err
    assert not out.exists()
