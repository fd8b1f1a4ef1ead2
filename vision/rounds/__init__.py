"""Rounds: from views at rest to round records."""
