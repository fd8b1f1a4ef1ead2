"""Coded packets: which of a stream to decode, and which to keep for a clip."""
