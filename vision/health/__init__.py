"""Whether a camera still shows its table."""
