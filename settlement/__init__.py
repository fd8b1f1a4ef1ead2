"""The game: cards, hands, house ways, pay tables, settling, comparing."""
