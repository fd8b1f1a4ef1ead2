"""Commands about the rules of the game."""
