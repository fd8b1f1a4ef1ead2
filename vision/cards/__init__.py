"""Reading cards: indices joined to cards, in a view or a photograph."""
