"""What the felt itself shows: its print, whether it is bare, and what hangs over it."""
