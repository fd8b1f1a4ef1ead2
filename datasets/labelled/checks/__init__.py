"""Checks of labelled datasets: findings with a severity."""
