"""Benchmarks behind `feltwatch bench`; no room of the product imports them but its command line."""
