"""The game: cards, hands, house ways, pay tables, settling, comparing."""

from settlement.houseways import house_way_for

__all__ = ["house_way_for"]
