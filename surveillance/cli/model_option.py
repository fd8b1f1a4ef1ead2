"""What the option --model says wherever a model is run."""

MODEL_HELP = (
    "Folder of other weights than the shipped ones, or a detector's .pt, .onnx or .engine (runs by "
    "ultralytics; a .pt may run any code: trust its maker)."
)
