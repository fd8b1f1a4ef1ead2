"""Lamps of the jackpots' sensors in a round."""
