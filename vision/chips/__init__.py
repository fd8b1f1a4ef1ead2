"""Reading chip stacks: chip counts, colours and values."""
