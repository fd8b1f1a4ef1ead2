"""Export of the stack reader to ONNX, checked against its checkpoint."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import nn

from models.data.provenance import StackData, read_object
from models.export.model_card import PAGE_FILE, card_json, card_markdown
from models.networks.side_network import FACTS, SideNetwork
from models.train.chain import training_chain
from models.train.chip_stacks import read_checkpoint
from settlement.errors import FeltwatchError
from vision.chips.network_input.chip_sample import SAMPLE_COLUMNS, SAMPLE_ROWS
from vision.chips.network_input.side_strip import COLUMNS, ROWS
from vision.chips.side_chain import Potentials, number_logs
from vision.chips.side_palette import Palette
from vision.chips.side_runtime import INPUTS, OpenVinoStripReader
from vision.detect.openvino_runtime import CARD_FILE, LIKENESS, PARTS

OPSET = 17
STRIPS_FILE = "strips.onnx"
OUTPUTS = ("edges", "looks", "numbers", "durations")

PROBABILITY_GAP = 0.01
"""Most that the probability of a number of chips may differ, in float32."""

TRIED, KINDS = 24, 5


class _Whole(nn.Module):
    """The network with its durations as an output."""

    def __init__(self, network: SideNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, strips: torch.Tensor, facts: torch.Tensor, samples: torch.Tensor,
        faces: torch.Tensor, flags: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:  # fmt: skip
        edges, looks, numbers = self.network(strips, facts, samples, faces, flags)
        return edges, looks, numbers, self.network.durations * 1.0


def export_strips(
    checkpoint: Path, target: Path, notes: dict[str, str], temperature: float = 1.0
) -> dict[str, Any]:
    """Write `target` (.onnx) with `notes`; returns its entry for the model card.

    Raises FeltwatchError for a file that is no such checkpoint, and where OpenVINO's
    probabilities differ from the checkpoint's by more than PROBABILITY_GAP.
    """
    state = read_checkpoint(checkpoint)
    network = SideNetwork()
    # A checkpoint from before the comb has none.
    network.load_state_dict({**network.state_dict(), **state["network"]})
    whole = _Whole(network.eval()).eval()
    strips, facts, palette = _trial()
    given = (
        torch.from_numpy(strips.transpose(0, 3, 1, 2)).float() / 255, torch.from_numpy(facts),
        *(torch.from_numpy(a) for a in (palette.samples, palette.faces, palette.flags)),
    )  # fmt: skip
    torch.onnx.export(
        whole, given, str(target), opset_version=OPSET, dynamo=False, input_names=list(INPUTS),
        output_names=list(OUTPUTS),
        dynamic_axes={
            "strips": {0: "stacks"}, "facts": {0: "stacks"}, "samples": {1: "chips"},
            "faces": {1: "chips"}, "flags": {1: "chips"},
        },
    )  # fmt: skip
    model = onnx.load(str(target))
    for key, value in notes.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(model, str(target))
    with torch.no_grad():
        edges, looks, numbers, durations = (one.double().numpy() for one in whole(*given))
    shipped = OpenVinoStripReader(target).read(
        strips, np.exp(facts[:, 0] + 1).tolist(), ((facts[:, 1] + 1) / 2).tolist(), palette
    )
    gap = max(
        float(
            np.abs(
                np.exp(number_logs(shipped[k]))
                - np.exp(number_logs(Potentials(edges[k], looks[k], numbers[k], durations)))
            ).max()
        )
        for k in range(len(strips))
    )
    if not gap <= PROBABILITY_GAP:
        raise FeltwatchError(
            f"{target}: differs from its checkpoint: probabilities by {gap:.4f}, at most "
            f"{PROBABILITY_GAP:g} is allowed"
        )
    data = target.read_bytes()
    return {
        "file": STRIPS_FILE,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "weights": "float32",
        "input": ["stacks", 4, ROWS, COLUMNS],
        "opset": OPSET,
        "temperature": temperature,
        "training": {**state["train_args"], "steps done": int(state["steps done"])},
        "check": {
            "strips": len(strips), "probability difference": round(gap, 5),
            "allowed": PROBABILITY_GAP,
        },
    }  # fmt: skip


def put_strips(
    checkpoint: Path, weights: Path, temperature: float, data: StackData,
    figures: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Put the stack reader of a checkpoint into a folder of weights, in place of its own.

    The card and its page get the new entry, `data` and `figures` (of
    `models.evaluate.side_figures.strip_figures`); the card is written last. Returns the entry.
    Raises FeltwatchError as `export_strips` does, and for a folder without a card.
    """
    card = read_object(weights / CARD_FILE)
    part = weights / f"{STRIPS_FILE}.part.onnx"
    try:
        notes = {"part": "strips", "licence": card["licence"]}
        entry = export_strips(checkpoint, part, notes, temperature)
        entry["chain"] = training_chain(checkpoint)
        named = (*PARTS, LIKENESS)
        kept = {name: own for name, own in card["models"].items() if name in named}
        card["models"] = kept | {"strips": entry}
        card["data"]["stacks"] = [data.model_dump(mode="json")]
        if card["figures"] is not None:
            card["figures"]["stacks"] = figures
            # The other figures are of the other networks alone.
            own = card["figures"]["weights"]
            card["figures"]["weights"] = own | {"strips": entry["sha256"]}
        page = card_markdown(card)
    except KeyError as error:
        raise FeltwatchError(f"{weights / CARD_FILE}: not a model card ({error})") from error
    finally:
        if sys.exc_info()[0] is not None:
            part.unlink(missing_ok=True)
    part.replace(weights / STRIPS_FILE)
    (weights / PAGE_FILE).write_text(page, encoding="utf-8")
    (weights / CARD_FILE).write_text(card_json(card), encoding="utf-8")
    return entry


def _trial() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Palette]:
    """Strips, facts and a palette of noise: what they show does not matter to the comparison."""
    rng = np.random.default_rng(20_251)
    strips = rng.integers(0, 256, (TRIED, ROWS, COLUMNS, 4), dtype=np.uint8)
    facts = rng.normal(0, 0.4, (TRIED, FACTS)).astype(np.float32)
    samples = rng.random((1, KINDS, 3, SAMPLE_ROWS, SAMPLE_COLUMNS), np.float32)
    palette = Palette(
        tuple(f"chip {k}" for k in range(KINDS)), tuple(100 * (k + 1) for k in range(KINDS)),
        samples, rng.random((1, KINDS, 3), np.float32), np.ones((1, KINDS, 1), np.float32),
    )  # fmt: skip
    return strips, facts, palette
