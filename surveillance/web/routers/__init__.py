"""Routes: paths, status codes, headers."""
