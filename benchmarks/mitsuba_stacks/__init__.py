"""An independent judge of the stack reader: chip stacks by Mitsuba's path tracer.

Its chips, felts, lamps, postures and cameras are drawn here and nowhere else; it shares the form of
the truth with `benchmarks.traced_stacks`, whose `score` reads what `render` writes. `render` runs
in an environment of its own with NumPy, Pillow, PyAV and Mitsuba.
"""
