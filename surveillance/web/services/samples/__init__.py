"""Samples of a table's own chips, joker and marker, taken on pages."""
