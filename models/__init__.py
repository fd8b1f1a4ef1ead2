"""The YOLO models: train, validate, export, and the shipped weights."""
