"""Watching tables as they are played: a process a camera, and what brings its news together."""
