"""Held-out sets, listed by hash."""
