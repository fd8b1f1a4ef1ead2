"""What a request asks and what it is answered: paths, status codes, headers."""
