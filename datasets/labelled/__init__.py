"""Labelled datasets on disk: their manifest, imports and exports, checks, splits, statistics."""
