"""Exact counts, odds and house edges over very many hands; needs numpy."""
