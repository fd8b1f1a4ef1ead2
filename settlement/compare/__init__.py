"""Comparing what lay on the felt with what was due: findings."""
