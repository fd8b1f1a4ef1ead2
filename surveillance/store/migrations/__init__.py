"""The migrations of the store; `versions/` holds one file a step."""
