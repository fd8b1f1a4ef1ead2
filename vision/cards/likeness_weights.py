"""Weights of the fit: `python -m benchmarks.deck_likeness --write` makes this file.

What they weigh: `vision.cards.table_deck.compared`.
"""

WEIGHTS = (0.4469, 11.0968, 0.7248, 10.0672)
