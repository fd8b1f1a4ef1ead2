"""The input form of the chip networks, shared with their training."""
