"""The benchmark of dice."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks.dice import main, seed_of


def test_it_prints_what_was_read_of_each_kind_of_throw(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dice", "--tables", "1", "--throws", "2", "--seed", "9100"])
    main()
    found = json.loads(capsys.readouterr().out)
    assert found["throws"] == 2
    assert found["seeds"] == [9100, 9100]
    assert sum(sum(own.values()) for own in found["by_case"].values()) == 2
    assert found["wrong"]["count"] == 0


def test_a_judging_set_is_drawn_by_the_hash_of_its_name() -> None:
    assert seed_of("one") != seed_of("two")
