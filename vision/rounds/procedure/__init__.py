"""The interpreter of dealing procedures: what places show, the steps taken, and who banks."""
