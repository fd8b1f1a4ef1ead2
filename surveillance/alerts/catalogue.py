"""The catalogue of alert codes: what each means, how grave it is and what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from settlement.compare.finding import SEVERITY, FindingCode, Severity

About = Literal["hand", "table", "camera"]


@dataclass(frozen=True, slots=True)
class AlertCode:
    """One code; `about` names what an alert without a seat is about ('hand': the dealer's)."""

    code: str
    severity: Severity
    title: str
    about: About = "hand"


def _of_round(code: FindingCode, title: str, about: About = "hand") -> AlertCode:
    return AlertCode(str(code), SEVERITY[code], title, about)


CATALOGUE: tuple[AlertCode, ...] = (
    _of_round(FindingCode.HOUSE_WAY, "Dealer's hands not set the house way"),
    _of_round(FindingCode.FOUL, "Foul hand not settled as a foul"),
    _of_round(FindingCode.OVERPAID, "Paid too much"),
    _of_round(FindingCode.UNDERPAID, "Paid too little"),
    _of_round(FindingCode.NOT_PAID, "Winner not paid"),
    _of_round(FindingCode.WRONG_SPOT, "Paid beside another wager"),
    _of_round(FindingCode.PAID_LOSER, "Loser paid"),
    _of_round(FindingCode.PAID_PUSH, "Push paid"),
    _of_round(FindingCode.TOOK_WINNER, "Winner's stake taken"),
    _of_round(FindingCode.TOOK_PUSH, "Push taken"),
    _of_round(FindingCode.NOT_TAKEN, "Loser's stake not taken"),
    _of_round(FindingCode.ENVY_MISSED, "Envy Bonus not paid"),
    _of_round(FindingCode.ENVY_WRONG, "Envy Bonus paid wrongly"),
    _of_round(FindingCode.LAMMER, "Lammer missing or misplaced"),
    _of_round(FindingCode.LIMIT, "Wager outside the limits"),
    _of_round(FindingCode.LATE_BET, "Wager changed after bets were closed"),
    _of_round(FindingCode.CARD_MOVED, "Card moved after hands were set"),
    _of_round(FindingCode.PROCEDURE, "Dealing procedure not kept"),
    _of_round(FindingCode.DECK, "Cards do not make up one deck", "table"),
    _of_round(FindingCode.HAND_PAY, "Large payout, to be checked by a person"),
    AlertCode("CAMERA", "high", "Camera", "camera"),
    AlertCode("SILENT", "high", "No round decided for too long", "table"),
    AlertCode("OVERLOAD", "high", "Machine does not keep up", "camera"),
    AlertCode("GAP", "high", "Rounds may be lost", "camera"),
)
"""Every code that an alert can have, in the order in which lists offer them.

What was not read (UNDECIDED) raises none: see `surveillance.alerts.unread`.
"""

_BY_CODE = {one.code: one for one in CATALOGUE}


def alert_code(code: str) -> AlertCode:
    """Return the entry of a code; one made of its name where a newer version stored it.

    >>> alert_code("OVERPAID").title, alert_code("NEW_ONE").title
    ('Paid too much', 'New one')
    """
    known = _BY_CODE.get(code)
    return known or AlertCode(code, "high", code.replace("_", " ").capitalize())
