"""The benchmark of a joker's enrolment, on one drawn deck."""

from __future__ import annotations

from benchmarks.joker_enrolment import JOKERS, OTHERS, bench_joker_enrolment


def test_each_card_has_an_outcome_and_most_others_are_refused_by_name() -> None:
    found = bench_joker_enrolment([], 1, 31)
    jokers, others = found["outcomes"]["jokers"], found["outcomes"]["others"]
    assert (jokers.total(), others.total()) == (JOKERS, OTHERS)
    assert others["by name"] > OTHERS / 2
    assert jokers["by name"] + jokers["by another name"] < JOKERS / 2
