"""The dealing procedure of traditional Pai Gow Poker, with a bank that goes round.

All hands stay face down until every player has set; a dice total gives the first packet.
Where a player banks, the dealer's hand plays against them with the house wager.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasets.simulate.play.roundplay import RoundPlay


@dataclass
class TraditionalRound(RoundPlay):
    """The dealer's hands are set after the players'."""

    def steps(self, start_s: float) -> None:
        """004, Rules of Play, 1 to 6."""
        self.open(start_s)
        self.deal()
        self.late_bets(self.dealer.off_s)
        self.set_players()
        self.early_shows()
        self.set_dealer()
        self.breaches()
        self.dealer.rest(self.style.tempo.compare_rest_s)
        self.settle_all()
        self.finish()
