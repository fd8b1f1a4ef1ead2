"""The fit of how sure a card is given the others of its round."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import deck_doubt
from benchmarks.deck_doubt import Named, figures, main, named, true_names, write_weights
from settlement.record import DECK_LABELS
from vision.cards import deck_weights
from vision.cards.deck_assignment import calibrated
from vision.cards.view import CardRead


def card(label: str, share: float, second: str) -> CardRead:
    shares = np.full(53, (1 - share) / 500, np.float32)
    shares[DECK_LABELS.index(label)] = share
    shares[DECK_LABELS.index(second)] = (1 - share) * 0.8
    return CardRead(label, share, (0.0, 0.0), 2, shares)


def test_the_cards_of_a_hand_are_known_by_what_they_read_as() -> None:
    cards = [card("TC", 0.6, "TS"), card("TC", 0.9, "9C"), card("KD", 0.9, "KH")]
    assert true_names(cards, ["TC", "TS"]) == ["TS", "TC", None]


def drawn(rng: np.random.Generator, count: int, slope: float) -> Named:
    """Names whose log odds of being right are `slope` times those stated, in eight decks."""
    odds, cards = rng.normal(2, 2, count), rng.choice([14, 49], count)
    right = rng.random(count) < 1 / (1 + np.exp(-slope * odds))
    return Named(1 / (1 + np.exp(-odds)), cards, right, np.arange(count) % 8)


def test_the_fit_finds_how_far_probabilities_are_off() -> None:
    every = drawn(np.random.default_rng(1), 20000, 0.5)
    shares = 1 / (1 + np.exp(-every.odds(every.fit())))
    wanted = 1 / (1 + np.sqrt(1 / every.shares - 1))
    assert np.abs(shares - wanted).max() < 0.05
    out = figures(every)
    for one in out["right by probability"]:
        assert one["right"] == pytest.approx(one["mean"], abs=0.05)
    assert out["names"] == 20000
    assert 0 < out["decided wrongly"] < 0.1 * out["decided"]


def test_a_round_counts_whole_and_as_if_fewer_hands_played() -> None:
    hands: list[tuple[list[CardRead], list[str | None]]] = [
        ([card(name, 0.9, "2C") for name in names], list(names))
        for names in (("AS", "KD"), ("QH", "JC"), ("9S", "8D"))
    ]
    own = named(3, hands)
    assert len(own.right) == 4 + 6
    assert own.right.all()
    assert set(own.deck) == {3}
    assert sorted(set(own.cards)) == [4, 6]


def test_the_command_fits_and_writes_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rounds(*_: object) -> Iterator[tuple[int, list[tuple[list[CardRead], Sequence[str]]]]]:
        rng = np.random.default_rng(2)
        for deck in range(8):
            dealt = [str(one) for one in rng.permutation(DECK_LABELS)[:28]]
            hands = [dealt[k : k + 7] for k in range(0, 28, 7)]
            yield (
                deck,
                [
                    ([card(n, float(rng.uniform(0.3, 0.99)), "2C") for n in own], own)
                    for own in hands
                ],
            )

    path = tmp_path / "deck_weights.py"
    path.write_text(Path(str(deck_weights.__file__)).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(deck_weights, "__file__", str(path))
    monkeypatch.setattr(deck_doubt, "rounds_of", rounds)
    monkeypatch.setattr(deck_doubt, "load_networks", lambda *_: None)
    assert main(["--drawn", "1", "--write"]) == 0
    out: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert out["rounds"] == 8
    written = path.read_text(encoding="utf-8").splitlines()[-1]
    assert written == f"WEIGHTS = ({', '.join(map(str, out['weights']))})"
    assert write_weights([1.0, 0.0, 0.0, 0.0]) == path
    with pytest.raises(SystemExit):
        main([])


def test_the_weights_that_ship_make_a_likelier_name_surer() -> None:
    shares = calibrated(np.array([0.5, 0.9, 0.99], np.float32), 49)
    assert (np.diff(shares) > 0).all()
    assert (calibrated(np.array([0.98], np.float32), 14) > 0.9).all()
