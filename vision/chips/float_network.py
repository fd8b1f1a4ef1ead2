"""Compiling the small networks of chip stacks with OpenVINO, in float32."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import openvino as ov

from vision.detect.openvino_runtime import ModelError


def compile_float(path: Path, inputs: tuple[str, ...], what: str, threads: int | None) -> Any:
    """The compiled network at `path`, shared by all that ask for it.

    Raises ModelError when the file is missing, cannot be read, or lacks one of `inputs` and so
    is not `what` it should be.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise ModelError(f"{path}: the model is missing") from error
    return _compiled(path, (state.st_mtime_ns, state.st_size), inputs, what, threads)


@lru_cache(maxsize=8)
def _compiled(
    path: Path, _state: tuple[int, int], inputs: tuple[str, ...], what: str, threads: int | None
) -> Any:
    core = ov.Core()
    try:
        model = core.read_model(str(path))
        names = {name for one in model.inputs for name in one.get_names()}
    except RuntimeError as error:
        raise ModelError(f"{path}: OpenVINO cannot read the model") from error
    if not names >= set(inputs):
        raise ModelError(f"{path}: not a {what}; its inputs are {sorted(names)}")
    # Log probabilities of the surer chips need more digits than bfloat16 has.
    config: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    if threads:
        config["INFERENCE_NUM_THREADS"] = threads
    return core.compile_model(model, "CPU", config)
