"""Weights of the fit: `python -m benchmarks.deck_likeness --write` makes this file.

What they weigh: `vision.cards.table_deck.compared`.
"""

WEIGHTS = (0.2598, 22.5075, 2.977, 20.531)
