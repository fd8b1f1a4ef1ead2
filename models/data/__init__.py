"""Training data for the networks."""
