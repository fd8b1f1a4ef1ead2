"""Drawn cards: faces, backs, fonts and wear."""
