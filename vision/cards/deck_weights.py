"""Weights of the fit: `python -m benchmarks.deck_doubt --write` makes this file.

The log odds that a name is right: `ODDS` + `BY_CARDS` * many times the log odds of its probability
given the other cards of the round, + `CARDS` * many + `OFFSET`; many: their number over 49.
"""

ODDS, BY_CARDS, CARDS, OFFSET = 1.1043, 0.9575, 1.2575, -0.5501
