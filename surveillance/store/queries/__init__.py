"""What the lists of the store are filtered, ordered and paged by."""
