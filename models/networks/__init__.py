"""The networks, and what runs them."""
