"""Weights of the fit: `python -m benchmarks.deck_likeness --write` makes this file.

What they weigh: `vision.cards.table_deck.compared`.
"""

WEIGHTS = (0.5302, 11.018, 0.915, 9.2411)
