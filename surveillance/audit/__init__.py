"""Audits of recordings."""
