"""Weights of the fit: `python -m benchmarks.deck_doubt --write` makes this file.

What they weigh: `vision.cards.deck_assignment.name_odds`.
"""

WEIGHTS = (1.1043, 0.9575, 1.2575, -0.5501)
