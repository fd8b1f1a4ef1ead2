"""Where things are kept, and how they are read in pages."""
