"""The YOLO models: train, validate, export, and the shipped weights."""

import os

# ultralytics installs packages that it misses while it runs; here an environment is changed
# by pip alone. It reads this when it is first imported.
os.environ.setdefault("YOLO_AUTOINSTALL", "false")
