"""An independent judge of the card reader: hands of cards painted by a path tracer.

Shares no code and no look with the renderers that training uses; camera, lamps, felt, chips and
film are those of `benchmarks.traced_stacks`. `render` needs Blender as a Python module (bpy) in an
environment of its own, `decks` and `score` the project's.
"""
