"""The dealing procedure of Emperor's Challenge Exposed, in its three editions.

The order is that of the game's rules of play: bets and lammers, seven packets, the
dealer's hands face up, the players' face down, then seat by seat from the dealer's right
compared, settled and taken, envy prizes as they come up, and the chips drawn in.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasets.simulate.play.roundplay import RoundPlay


@dataclass
class ExposedRound(RoundPlay):
    """The dealer's hands are set before the players'."""

    sets_after_dealer = True

    def steps(self, start_s: float) -> None:
        """002, Emperor's Challenge Wager, 1 to 6."""
        self.open(start_s)
        self.deal()
        self.late_bets(self.dealer.off_s)
        self.set_dealer()
        self.set_players()
        self.settle_all()
        self.finish()
