"""What the application does, without a word of HTTP."""
