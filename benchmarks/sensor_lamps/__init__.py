"""How often the lamps of jackpot sensors are read right; `python -m benchmarks.sensor_lamps`."""
