"""Reading the lamps of the jackpots' sensors."""
