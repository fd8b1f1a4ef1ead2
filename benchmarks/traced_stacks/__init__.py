"""Chip stacks by Blender's Cycles, a path tracer, to judge the stack reader and to train it.

Shares no code and no look with the other renderers of training. It judged readers that had seen
none of its tables; since its training tables exist, `benchmarks.mitsuba_stacks` is the judge.
`render` needs Blender as a Python module (bpy) in an environment of its own, `strips` and `score`
the project's.
"""
