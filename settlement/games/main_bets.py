"""How main bets are decided: both hands against both hands, with each document's lines."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from settlement.games.base import SeatView
from settlement.ruling import LOSS, PUSH, Pay, Rule, Ruling
from settlement.seven_card_hand import SevenCardHand, Unread

EVEN_MONEY = Pay.to_one(Fraction(1))


@dataclass(frozen=True, slots=True)
class Lines:
    """Where a document says what a main bet does.

    >>> lines = Lines("004_85e5a972ed3a3af9.txt", "Rules of Play", foul="3", win="5.a",
    ...               push="5.b", lose="5.c")
    >>> str(lines.rule(lines.win))
    '004, Rules of Play, 5.a'
    """

    document: str
    section: str
    foul: str
    win: str
    push: str
    lose: str

    def rule(self, row: str) -> Rule:
        """The place of one line."""
        return Rule(document=self.document, section=self.section, row=row)


def played(view: SeatView, lines: Lines) -> SevenCardHand | Ruling:
    """The seat's hands as they count, or the ruling where that is settled already.

    A fouled hand loses, unless the house sets it again (reading ST-2).
    """
    hand = view.hand
    if isinstance(hand, Unread):
        return Ruling.unknown(hand.reason)
    if hand.foul_reason is None:
        return hand
    if view.set_again is not None:
        return view.set_again
    return Ruling.of(LOSS, lines.rule(lines.foul), f"foul: {hand.foul_reason}")


def beat_both(
    view: SeatView,
    hand: SevenCardHand,
    opponent: SevenCardHand,
    lines: Lines,
    win: Ruling | None = None,
) -> Ruling:
    """Standard reconciliation against the opponent's hands; `win` replaces the win at even money.

    A copy is the dealer's, or the banker's, unless the house lets it push (reading ST-1).
    """
    whose = view.opponent_name
    if opponent.foul_reason or opponent.split is None or hand.split is None:
        # A dealer's fouled hand is set again, which the record does not show.
        return Ruling.unknown(f"{whose}'s hand: {opponent.foul_reason}")
    mine, theirs = hand.split, opponent.split
    low, high = mine.low_rank > theirs.low_rank, mine.high_rank > theirs.high_rank
    if low and high:
        return win or Ruling.of(
            EVEN_MONEY, lines.rule(lines.win), f"both hands beat {whose}'s: pays 1 to 1"
        )
    if low or high:
        winner = "low" if low else "high"
        return Ruling.of(PUSH, lines.rule(lines.push), f"only the {winner} hand beats {whose}'s")
    copied = mine.low_rank == theirs.low_rank or mine.high_rank == theirs.high_rank
    if copied and view.rules.readings.copies == "push":
        return Ruling.of(
            PUSH, lines.rule(lines.push), f"a hand copies {whose}'s, so not both are lower"
        )
    return Ruling.of(LOSS, lines.rule(lines.lose), f"both hands lose to or tie {whose}'s")


def beat_or_tie_both(view: SeatView, hand: SevenCardHand, lines: Lines, odds: Fraction) -> Ruling:
    """Reconciliation where ties are the player's (001, 9; reading ST-1b)."""
    opponent = view.opponent
    if isinstance(opponent, Unread):
        return Ruling.unknown(opponent.reason)
    if opponent.foul_reason or opponent.split is None or hand.split is None:
        return Ruling.unknown(f"the dealer's hand: {opponent.foul_reason}")
    mine, theirs = hand.split, opponent.split
    low, high = mine.low_rank >= theirs.low_rank, mine.high_rank >= theirs.high_rank
    if low and high:
        pay = Pay.to_one(odds)
        return Ruling.of(
            pay, lines.rule(lines.win), f"both hands beat or tie the dealer's: pays {pay}"
        )
    if low or high:
        loser = "high" if low else "low"
        return Ruling.of(
            PUSH, lines.rule(lines.push), f"only the {loser} hand loses to the dealer's"
        )
    return Ruling.of(LOSS, lines.rule(lines.lose), "both hands lose to the dealer's")
