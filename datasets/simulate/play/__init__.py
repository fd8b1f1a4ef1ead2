"""How a round and a shift are played on the felt."""
