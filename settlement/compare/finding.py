"""Findings: what a comparison of a record with its settlement has to say."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal

from pydantic import Field

from settlement.form import Form

Severity = Literal["high", "medium", "low", "info"]


class FindingCode(StrEnum):
    """The codes of the alert catalogue that a round record alone can raise.

    WRONG_SPOT: a seat got the right sum, laid beside another of its wagers.
    """

    HOUSE_WAY = "HOUSE_WAY"
    FOUL = "FOUL"
    OVERPAID = "OVERPAID"
    UNDERPAID = "UNDERPAID"
    NOT_PAID = "NOT_PAID"
    WRONG_SPOT = "WRONG_SPOT"
    PAID_LOSER = "PAID_LOSER"
    PAID_PUSH = "PAID_PUSH"
    TOOK_WINNER = "TOOK_WINNER"
    TOOK_PUSH = "TOOK_PUSH"
    NOT_TAKEN = "NOT_TAKEN"
    ENVY_MISSED = "ENVY_MISSED"
    ENVY_WRONG = "ENVY_WRONG"
    LAMMER = "LAMMER"
    LIMIT = "LIMIT"
    LATE_BET = "LATE_BET"
    CARD_MOVED = "CARD_MOVED"
    PROCEDURE = "PROCEDURE"
    DECK = "DECK"
    HAND_PAY = "HAND_PAY"
    UNDECIDED = "UNDECIDED"


SEVERITY: dict[FindingCode, Severity] = {
    FindingCode.HOUSE_WAY: "high",
    FindingCode.FOUL: "high",
    FindingCode.OVERPAID: "high",
    FindingCode.UNDERPAID: "high",
    FindingCode.NOT_PAID: "high",
    FindingCode.WRONG_SPOT: "low",
    FindingCode.PAID_LOSER: "high",
    FindingCode.PAID_PUSH: "high",
    FindingCode.TOOK_WINNER: "high",
    FindingCode.TOOK_PUSH: "high",
    FindingCode.NOT_TAKEN: "high",
    FindingCode.ENVY_MISSED: "medium",
    FindingCode.ENVY_WRONG: "medium",
    FindingCode.LAMMER: "low",
    FindingCode.LIMIT: "medium",
    FindingCode.LATE_BET: "high",
    FindingCode.CARD_MOVED: "high",
    FindingCode.PROCEDURE: "medium",
    FindingCode.DECK: "high",
    FindingCode.HAND_PAY: "info",
    FindingCode.UNDECIDED: "info",
}
"""How grave each code is."""

MONEY_CODES: tuple[str, ...] = (
    "OVERPAID",
    "UNDERPAID",
    "NOT_PAID",
    "PAID_LOSER",
    "PAID_PUSH",
    "TOOK_WINNER",
    "TOOK_PUSH",
    "NOT_TAKEN",
    "ENVY_MISSED",
    "ENVY_WRONG",
)
"""Codes that say that money went the wrong way."""

WAGER_NAMES: dict[str, str] = {
    "main": "main bet",
    "pai_gow_insurance": "Pai Gow Insurance",
    "ace_high_pai_gow_insurance": "Ace-High Pai Gow Insurance",
    "emperors_treasure": "Emperor's Treasure",
    "pai_gow_insurance_progressive": "Pai Gow Insurance Progressive",
    "emperors_treasure_progressive": "Emperor's Treasure Progressive",
    "emperors_treasure_progressive_2": "Emperor's Treasure Progressive, second sensor",
    "emperors_treasure_progressive_3": "Emperor's Treasure Progressive, third sensor",
    "imperial_side_bet": "Imperial Side Bet",
    "envy": "Envy Bonus",
    "house": "House wager",
}
"""Wagers as a person calls them."""


class Finding(Form):
    """One difference between what was seen and what was due.

    >>> f = Finding.of(FindingCode.NOT_PAID, seat=3, wager="main", seen="left in place",
    ...                due="paid $25.00", rule="002, ...", message="Seat 3, main bet: ...")
    >>> f.severity, str(f.code)
    ('high', 'NOT_PAID')
    """

    code: FindingCode
    severity: Severity
    seat: int | None = Field(default=None, description="None for the dealer or the whole table.")
    wager: str | None = None
    seen: str = Field(description="What lay on the felt or was done.")
    due: str = Field(description="What was due.")
    rule: str = Field(description="The rule that says so.")
    message: str = Field(description="One sentence for the person who watches.")

    @classmethod
    def of(
        cls,
        code: FindingCode,
        *,
        seen: str,
        due: str,
        rule: str,
        message: str,
        seat: int | None = None,
        wager: str | None = None,
    ) -> Finding:
        """A finding with the severity of its code."""
        return cls(
            code=code,
            severity=SEVERITY[code],
            seat=seat,
            wager=wager,
            seen=seen,
            due=due,
            rule=rule,
            message=message,
        )


def wager_name(wager: str) -> str:
    """A wager as a person calls it; unknown ones by their name in the record."""
    return WAGER_NAMES.get(wager, wager)


_PLACES = {"stake": "stake", "paid": "pay", "action": "what was done"}
_CARD = re.compile(r"\b(?:dealer\.)?(low|high)\[\d+\]")
_WHOLE_HAND = re.compile(r"(?:^|(?<=hand: ))hand: ")
"""The record's name of a whole hand before a cause, which says itself that it is about the hand."""


def card_words(text: str) -> str:
    """A text with the record's name of a card as a person calls it.

    >>> card_words("high[4]")
    'a card of the high hand'
    """
    return _CARD.sub(r"a card of the \1 hand", text)


def cause_words(cause: str) -> str:
    """Why something was not read, with the record's name for the place as a person calls it.

    >>> cause_words("ace_high_pai_gow_insurance.stake: a chip was hidden")
    'Ace-High Pai Gow Insurance, stake: a chip was hidden'
    >>> cause_words("low[1]: blurred"), cause_words("the dealer's hand was not read")
    ('a card of the low hand: blurred', "the dealer's hand was not read")
    >>> cause_words("seat 5's hand: high[0]: no index of the card was found")
    "seat 5's hand: a card of the high hand: no index of the card was found"
    >>> cause_words("the dealer's hand: hand: the round was broken off")
    "the dealer's hand: the round was broken off"
    """
    cause = _WHOLE_HAND.sub("", cause)
    place, colon, why = cause.partition(": ")
    wager, _, part = place.partition(".")
    if not colon or part not in _PLACES:
        return card_words(cause)
    return f"{wager_name(wager)}, {_PLACES[part]}: {why}"


class Suspicion(Form):
    """A wager that is wrong by what was likeliest read, which is not sure: worth a look.

    >>> f = Finding.of(FindingCode.OVERPAID, seat=3, wager="main", seen="paid $20.00",
    ...                due="$15.00", rule="002, ...", message="Seat 3, main bet: ...")
    >>> Suspicion(probability=0.934, finding=f).message
    'Perhaps (93%): Seat 3, main bet: ...'
    """

    probability: float = Field(
        ge=0, le=1,
        description="By what was read, that the wager is wrong; not by how rarely dealers err.",
    )  # fmt: skip
    finding: Finding = Field(description="What it is by the likeliest sums.")

    @property
    def message(self) -> str:
        """One sentence for the person who looks."""
        return f"Perhaps ({int(100 * self.probability)}%): {self.finding.message}"
