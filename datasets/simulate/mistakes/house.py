"""Mistakes with the house wager, the dealer's own stake where a player banks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from datasets.simulate.chipwork import make_change
from datasets.simulate.mistakes.catalogue import HOUSE_CODES
from datasets.simulate.mistakes.money import Mistake, miscounts
from datasets.simulate.script import PlannedFault, RoundScript, WagerScript
from settlement.result import Settlement, WagerSettlement
from settlement.ruling import Outcome, money
from vision.geometry.table import TableFile

_OUTCOMES: Mapping[str, Outcome] = {
    "OVERPAID": "win", "UNDERPAID": "win", "NOT_PAID": "win", "TOOK_WINNER": "win",
    "PAID_LOSER": "lose", "NOT_TAKEN": "lose", "PAID_PUSH": "push", "TOOK_PUSH": "push",
}  # fmt: skip


def _wrongly_done(
    code: str, house: WagerScript, due: WagerSettlement, table: TableFile, rng: random.Random
) -> WagerScript | None:
    """The house wager with that mistake, or None where the chips leave no room for it."""
    if code in ("NOT_PAID", "NOT_TAKEN"):
        return house.done("left")
    if code in ("TOOK_WINNER", "TOOK_PUSH"):
        return house.done("taken")
    if code in ("PAID_LOSER", "PAID_PUSH"):
        return house.done("paid", house.stake)
    right = make_change(due.pay_cents or 0, table.chips)
    ways = miscounts(right, table, over=code == "OVERPAID")
    return house.done("paid", rng.choice(ways)) if ways else None


def _on_house(code: str) -> Mistake:
    def mistake(
        script: RoundScript, due: Settlement, table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        house = script.house
        if house is None or not due.dealer.wagers:
            return None
        (decided,) = due.dealer.wagers
        if decided.outcome != _OUTCOMES[code] or any(f.wager == "house" for f in script.faults):
            return None
        wrong = _wrongly_done(code, house, decided, table, rng)
        if wrong is None:
            return None
        owed = money(decided.pay_cents or 0) if decided.outcome == "win" else decided.outcome
        fault = PlannedFault(
            code, None, "house", f"house wager {wrong.action}, due {owed}", ("house", None, None)
        )
        return replace(script, house=wrong, faults=(*script.faults, fault))

    return mistake


HOUSE_WAYS: Mapping[tuple[str, str], Mistake] = {
    (code, "house"): _on_house(code) for code in HOUSE_CODES
}
"""The ways of mistakes with the house wager."""
