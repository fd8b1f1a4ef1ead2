"""Storage of the web application, read in pages."""
