"""Rounds of cards that are rendered and read without filming."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from benchmarks.card_rounds import PlayedRound, RoundTally
from settlement.record import DECK_LABELS, JOKER
from surveillance.cli import main
from vision.cards.view import CardRead

PLAYED = PlayedRound(tuple(DECK_LABELS[:49]), fault=False)


def hand(names: tuple[str, ...], dealers: bool = False) -> list[CardRead]:
    """The cards where they lie, all sure."""
    low, high = (42.0, -62.0) if dealers else (37.0, 135.0)
    rows = [(-20.0, low), (20.0, low), *((x, high) for x in (-40.0, -20.0, 0.0, 20.0, 40.0))]
    return [
        CardRead(name, 0.99, at, 1, np.eye(53, dtype=np.float32)[DECK_LABELS.index(name)] * 0.99,
                 ((name, 0.99),) * 3)
        for name, at in zip(names, rows, strict=False)
    ]  # fmt: skip


def hands(played: PlayedRound) -> dict[int | None, list[CardRead]]:
    seats = (1, 2, 3, 4, 5, 6, None)
    return {seat: hand(played.hand(k), seat is None) for k, seat in enumerate(seats)}


def figures(played: PlayedRound, read: dict[int | None, list[CardRead]]) -> dict[str, object]:
    tally = RoundTally()
    tally.add(played, read, frozenset(DECK_LABELS))
    return tally.figures()


def test_a_round_that_is_read_right() -> None:
    counts = figures(PLAYED, hands(PLAYED))
    assert (counts["cards"], counts["right"], counts["wrong"], counts["undecided"]) == (
        49,
        49,
        0,
        0,
    )
    assert (counts["false DECK"], counts["dealer's hand open"]) == (0, 0)


def test_a_card_taken_for_one_that_lies_elsewhere_is_a_false_finding() -> None:
    read = hands(PLAYED)
    read[3] = hand((PLAYED.hand(0)[0], *PLAYED.hand(2)[1:]))
    counts = figures(PLAYED, read)
    assert (counts["right"], counts["wrong"], counts["false DECK"]) == (48, 1, 1)
    assert counts["misread"] == {f"{PLAYED.hand(2)[0]} read {PLAYED.hand(0)[0]}": 1}


def test_cards_are_counted_by_the_probability_they_are_stated_with() -> None:
    def stated(read: dict[int | None, list[CardRead]]) -> tuple[int, int]:
        bins = figures(PLAYED, read)["by probability"]
        assert isinstance(bins, list)
        return sum(one["right"] for one in bins), sum(one["wrong"] for one in bins)

    read = hands(PLAYED)
    assert stated(read) == (49, 0)
    read[3] = hand((PLAYED.hand(0)[0], *PLAYED.hand(2)[1:]))
    assert stated(read) == (48, 1)


def test_a_card_unread_leaves_the_dealers_hand_open() -> None:
    read = hands(PLAYED)
    read[None] = read[None][:-1]
    counts = figures(PLAYED, read)
    assert (counts["right"], counts["undecided"], counts["dealer's hand open"]) == (48, 1, 1)


def test_faulty_decks_come_and_are_found() -> None:
    drawn = [PlayedRound.draw(np.random.default_rng([1, k])) for k in range(200)]
    faulty = [r for r in drawn if r.fault]
    assert 15 <= len(faulty) <= 60
    assert all((max(Counter(r.cards).values()) > 1) is r.fault for r in drawn)
    assert any(Counter(r.cards)[JOKER] == 2 for r in faulty)
    counts = figures(faulty[0], hands(faulty[0]))
    assert (counts["faulty decks"], counts["faulty decks found"]) == (1, 1)


@pytest.mark.render
def test_rendered_rounds_of_a_drawn_deck_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "cards", "--drawn", "1", "--rounds", "1", "--seed", "2", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed["together"]["cards"] == 49
    assert printed["together"]["right"] >= 40
    assert printed["decks"]["drawn-0"] == printed["together"]


@pytest.mark.render
def test_rounds_of_a_shift_are_counted_with_and_without_the_learned_joker(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--drawn", "1", "--rounds", "2", "--shift-rounds", "2", "--seed", "2", "--json"]
    assert main(["bench", "cards", *words]) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed["together"]["cards"] == printed["without a learned joker"]["cards"] == 98
    # Nothing is known of the joker in the first round of a shift.
    assert printed["once it is learned"]["rounds"] <= 1


@pytest.mark.render
def test_rounds_of_an_enrolled_deck_are_read_with_its_samples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--drawn", "1", "--rounds", "1", "--seed", "2", "--enrol-deck", "--json"]
    assert main(["bench", "cards", *words]) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    own = printed["decks"]["drawn-0"]
    assert (own["tables"], own["decks enrolled"]) == (1, 1)
    assert own["right"] >= 40


def test_no_deck_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "cards", "--rounds", "1"]) != 0
    assert "no deck: give a folder of card faces" in capsys.readouterr().err
