"""Reports of a day or a shift."""
