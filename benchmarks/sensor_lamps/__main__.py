"""The command."""

from benchmarks.sensor_lamps.measure import main

main()
