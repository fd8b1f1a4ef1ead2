"""Filming a simulated shift: frames, encoding and their truth."""
