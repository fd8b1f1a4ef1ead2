"""Scores of several shifts as one; their rounds may have the same ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain

from surveillance.reports.score import AlertScore, Matching, Score, SuspicionScore, Tally


def together(scores: Sequence[Score]) -> Score:
    """The score of all shifts; alerts are scored where those of each shift are."""
    if len(scores) == 1:
        return scores[0]
    alerts = [one.alerts for one in scores if one.alerts is not None]
    suspected = [one.suspicions for one in scores if one.suspicions is not None]
    clean = [one.clean_rounds for one in scores if one.clean_rounds is not None]
    return Score(
        rounds_true=sum(one.rounds_true for one in scores),
        matching=Matching(
            pairs=tuple(chain.from_iterable(one.matching.pairs for one in scores)),
            missed=tuple(chain.from_iterable(one.matching.missed for one in scores)),
            split=tuple(chain.from_iterable(one.matching.split for one in scores)),
            invented=tuple(chain.from_iterable(one.matching.invented for one in scores)),
        ),
        cards=_added(one.cards for one in scores),
        lammers=_added(one.lammers for one in scores),
        stakes=_added(one.stakes for one in scores),
        stakes_by_height={
            name: _added(one.stakes_by_height[name] for one in scores)
            for name in scores[0].stakes_by_height
        },
        pays=_added(one.pays for one in scores),
        alerts=_alerts(alerts) if len(alerts) == len(scores) else None,
        clean_rounds=sum(clean) if len(clean) == len(scores) else None,
        money=list(chain.from_iterable(one.money for one in scores)),
        suspicions=_suspicions(suspected) if len(suspected) == len(scores) else None,
    )


def _added(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for one in tallies:
        for verdict in ("right", "wrong", "undecided"):
            whole.count(verdict, getattr(one, verdict))
    return whole


def _suspicions(scores: Sequence[SuspicionScore]) -> SuspicionScore:
    return SuspicionScore(
        *(sum(getattr(one, part.name) for one in scores) for part in fields(SuspicionScore))
    )


def _alerts(scores: Sequence[AlertScore]) -> AlertScore:
    whole = AlertScore()
    for one in scores:
        whole.faults += one.faults
        whole.found += one.found
        whole.false += one.false
        whole.false_in_clean_rounds += one.false_in_clean_rounds
        whole.rounds_with_false += one.rounds_with_false
        whole.undecided_seats += one.undecided_seats
        whole.false_alerts += one.false_alerts
        for code, counts in one.by_code.items():
            for name, count in counts.items():
                whole.code(code)[name] += count
    whole.by_code = dict(sorted(whole.by_code.items()))
    return whole
