"""Jackpots in a round: the lamps of their sensors, and their meters."""
