"""Evaluation of the networks on held-out images."""
