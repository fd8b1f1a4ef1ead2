"""An independent judge of the stack reader: chip stacks painted by a path tracer.

Shares no code and no look with the renderers that training uses. `render` needs Blender as a Python
module (bpy) in an environment of its own, `score` the project's.
"""
