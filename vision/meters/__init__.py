"""Reading the displays of jackpot meters."""
