"""Label formats: readers and writers."""
