"""Commands about the networks."""
