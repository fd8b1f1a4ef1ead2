"""The process of one camera: reading, clips, incidents, and its messages."""
