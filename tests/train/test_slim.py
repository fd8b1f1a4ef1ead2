"""A slim detector: what is left out, which channels stay, and that it can be trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from ultralytics.nn.modules.block import PSABlock
from ultralytics.nn.tasks import DetectionModel

from datasets.training.views import CLASSES
from models.networks.slim import BOX_WIDTH, is_slim, slim
from models.train.checkpoint import fresh_detector, unfolded


@pytest.fixture
def network() -> DetectionModel:
    torch.manual_seed(3)
    return DetectionModel("yolo11n.yaml", nc=len(CLASSES), verbose=False)


def test_what_costs_more_than_it_brings_is_left_out(network: DetectionModel) -> None:
    before = sum(p.numel() for p in network.parameters())
    assert not is_slim(network)
    assert slim(network) is network
    assert is_slim(network)
    kinds = {type(part) for part in network.modules()}
    assert nn.Hardswish in kinds
    assert not kinds & {nn.SiLU, PSABlock}
    for branch in network.model[-1].cv2:
        widths = [(part.conv.in_channels, part.conv.out_channels) for part in branch[:2]]
        assert widths[0][1] == BOX_WIDTH
        assert widths[1] == (BOX_WIDTH, BOX_WIDTH)
        assert branch[2].in_channels == BOX_WIDTH
        assert branch[2].out_channels == 64
    assert sum(p.numel() for p in network.parameters()) < before
    # Made slim again, nothing changes.
    weights = {name: value.clone() for name, value in network.state_dict().items()}
    assert all(torch.equal(weights[n], v) for n, v in slim(network).state_dict().items())


def test_the_channels_that_weigh_most_stay(network: DetectionModel) -> None:
    branch = network.model[-1].cv2[0]
    idle = torch.arange(0, 64, 4)  # what these 16 channels give, nothing takes
    with torch.no_grad():
        branch[1].conv.weight[:, idle] = 0
        branch[2].weight[:, idle] = 0
    x = torch.rand(1, branch[0].conv.in_channels, 8, 8)
    branch.eval()
    with torch.no_grad():
        for part in branch[:2]:
            part.act = nn.Hardswish()
        before = branch(x)
        slim(network)
        assert torch.allclose(branch(x), before, atol=1e-5)


def test_it_is_trained_and_goes_on_from_its_export(network: DetectionModel, tmp_path: Path) -> None:
    slim(network, 32)
    picture = torch.rand(2, 3, 64, 64)
    network.train()
    sum(part.float().square().mean() for part in network(picture).values()
        if isinstance(part, torch.Tensor)).backward()  # fmt: skip
    assert all(p.grad is not None for p in network.model[10].parameters())
    network.eval()
    fused = DetectionModel("yolo11n.yaml", nc=len(CLASSES), verbose=False)
    slim(fused, 32).load_state_dict(network.state_dict())
    fused = fused.fuse(verbose=False).eval()
    fused.model[-1].export = True
    file = tmp_path / "slim.onnx"
    torch.onnx.export(fused, picture[:1], str(file), opset_version=17, dynamo=False)
    samples = np.random.default_rng(0).integers(0, 255, (4, 64, 64, 3), dtype=np.uint8)
    again = unfolded(file, fresh_detector(file), samples).eval()
    assert again.model[-1].cv2[0][0].conv.out_channels == 32
    with torch.no_grad():
        mine, theirs = (one(picture[:1])[0] for one in (again, network))
    assert torch.allclose(mine, theirs, atol=2e-2)
