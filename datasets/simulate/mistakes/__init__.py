"""Mistakes and troubles that a simulated shift contains."""
