"""Simulated shifts: what is bet, dealt, paid and recorded."""
