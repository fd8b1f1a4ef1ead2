"""Where frames come from: files, live cameras, and their clocks."""
