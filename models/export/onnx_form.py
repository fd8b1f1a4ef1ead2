"""The form in which ONNX files are shipped: half-size weights, and notes of our own only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SMALLEST_HALVED = 256
"""Weights of fewer numbers (biases, constants) stay in float32: they cost next to nothing."""


def halve_weights(model: Any) -> Any:
    """Store the weights as float16 behind a cast; the network still computes in float32.

    Returns the same model, changed. Half the file for a rounding of the weights that is
    smaller than what bfloat16 processors do to them at run time.
    """
    graph = model.graph
    kept, casts = [], []
    for weight in graph.initializer:
        if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < SMALLEST_HALVED:
            kept.append(weight)
            continue
        values = numpy_helper.to_array(weight)
        if not np.isfinite(values).all() or np.abs(values).max() > np.finfo(np.float16).max:
            kept.append(weight)
            continue
        half = numpy_helper.from_array(values.astype(np.float16), f"{weight.name}_half")
        kept.append(half)
        casts.append(
            helper.make_node(
                "Cast", [half.name], [weight.name], to=TensorProto.FLOAT, name=f"{weight.name}_cast"
            )
        )
    nodes = list(graph.node)
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend([*casts, *nodes])
    return model


def rewrite(source: Path, target: Path, notes: dict[str, str], *, half: bool) -> None:
    """Write an exporter's ONNX file in the shipped form.

    The exporter's own notes (dates, paths of the machine) are dropped, so that the same
    weights always give the same file.
    """
    model = onnx.load(str(source))
    if half:
        model = halve_weights(model)
    del model.metadata_props[:]
    model.doc_string = ""
    for key, value in sorted(notes.items()):
        note = model.metadata_props.add()
        note.key, note.value = key, value
    onnx.checker.check_model(model)
    onnx.save(model, str(target))
