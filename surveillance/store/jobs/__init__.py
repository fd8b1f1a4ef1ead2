"""Work that any of several workers takes, one at a time, under a lease."""
