"""Views varied with their boxes, and training the detector on shards of them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from datasets.training.view_shards import PATCHES_FOLDER, ViewSet, save_views
from datasets.training.views import CLASSES
from models.export.weights import load_checkpoint
from models.networks.card_head import CARDS
from models.train import views as training
from models.train.views import (
    ViewPool,
    fresh,
    join_cards,
    train_on_views,
    train_views,
    varied_views,
    windows_of,
)
from settlement.errors import FeltwatchError

SIZE = 96


def squares(n: int, seed: int = 0) -> ViewSet:
    """Dark views with one or two bright squares: large ones are backs, small ones chips."""
    rng = np.random.default_rng(seed)
    views = np.full((n, SIZE, SIZE, 3), 30, np.uint8)
    boxes, many = [], []
    for view in views:
        many.append(int(rng.integers(1, 3)))
        for k in range(many[-1]):
            kind, side = (("back", 36), ("chip", 16))[int(rng.integers(2))]
            x, y = (int(v) for v in rng.integers([2 + 46 * k, 2], [10 + 46 * k, SIZE - side - 2]))
            view[y : y + side, x : x + side] = 220
            boxes.append([CLASSES.index(kind), x, y, x + side, y + side])
    return ViewSet(views, np.array(boxes, np.float32), np.array(many, np.int32))


def test_boxes_stay_on_what_they_were_drawn_about() -> None:
    torch.manual_seed(4)
    pool = ViewPool(50, SIZE, torch.device("cpu"))
    pool.take(squares(50))
    shown, boxes = varied_views(*pool.draw(200))
    assert shown.shape == (200, 3, SIZE, SIZE)
    assert 0 <= float(shown.min()) <= float(shown.max()) <= 1
    inside, outside = [], []
    for view, own in zip(shown.mean(1), boxes, strict=True):
        for kind, x0, y0, x1, y1 in own.tolist():
            if kind < 0:
                continue
            assert 0 <= x0 < x1 <= SIZE
            assert 0 <= y0 < y1 <= SIZE
            a, b, c, d = round(x0), round(y0), round(x1), round(y1)
            inside.append(float(view[b:d, a:c].median() - view.median()))
            edge = view[max(0, b - 3) : max(0, b - 2), a:c]
            outside += [float(edge.mean() - view.median())] if edge.numel() else []
    assert np.mean(np.array(inside) > 0.1) > 0.97
    assert np.mean(np.array(outside) < 0.1) > 0.9


def test_a_box_that_is_moved_out_of_the_view_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "MOVED", 1.0)
    monkeypatch.setattr(training, "MOST_SHIFT", 0.9)
    pool = ViewPool(40, SIZE, torch.device("cpu"))
    pool.take(squares(40))
    torch.manual_seed(1)
    views, before = pool.draw(100)
    _, after = varied_views(views, before)
    assert (after[..., 0] >= 0).sum() < 0.7 * (before[..., 0] >= 0).sum()


def test_the_newest_views_replace_the_oldest_and_other_sizes_are_refused() -> None:
    pool = ViewPool(6, SIZE, torch.device("cpu"))
    pool.take(squares(4))
    pool.take(squares(4, seed=1))
    assert (pool.filled, pool.taken) == (6, 8)
    assert torch.equal(pool.views[0], torch.from_numpy(squares(4, seed=1).views[2]))
    small = ViewSet(np.zeros((1, 64, 64, 3), np.uint8), np.zeros((0, 5), np.float32),
                    np.zeros(1, np.int32))  # fmt: skip
    with pytest.raises(FeltwatchError, match="64 px"):
        pool.take(small)


def test_training_lowers_the_loss_and_notes_what_it_was_trained_on(tmp_path: Path) -> None:
    data, fixed = tmp_path / "views", tmp_path / "fixed.npz"
    (data / PATCHES_FOLDER).mkdir(parents=True)
    save_views(data / "1-00000.npz", squares(40))
    (data / PATCHES_FOLDER / "1-00000.npz").write_bytes(b"")
    save_views(fixed, squares(8, seed=2))
    recipe = {"seed": 1, "decks": ["house"], "fonts": 3, "size": SIZE}
    (data / "recipe.json").write_text(json.dumps(recipe))
    last = train_views(
        data, tmp_path / "run", fixed=[(fixed, 0.25)], steps=40, batch=8, rate=0.02, pool=40,
        size=SIZE, keep_every_s=0.0, seed=3,
    )  # fmt: skip
    lines = [json.loads(x) for x in (last.parent / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, 41))
    first, end = (sum(x["class"] for x in part) for part in (lines[:8], lines[-8:]))
    assert end < 0.8 * first
    network, _ = load_checkpoint(last, "detector", CLASSES)
    assert network.names == dict(enumerate(CLASSES))
    noted = json.loads((tmp_path / "run" / "training.json").read_text())
    assert noted["data"]["rendered"][0]["views"] == 40
    assert noted["data"]["rendered"][0]["decks"] == ["house"]
    again = train_views(
        data,
        tmp_path / "more",
        start=last,
        fixed=[(fixed, 0.25)],
        steps=1,
        batch=4,
        pool=8,
        size=SIZE,
    )
    one, other, mean = (
        load_checkpoint(path, "detector", CLASSES)[0].state_dict()["model.0.conv.weight"].float()
        for path in (last, again, again.parent / "mean.pt")
    )
    assert torch.allclose(mean, (one + other) / 2, atol=2e-3)
    assert not torch.equal(one, other)
    chain = json.loads((tmp_path / "more" / "training.json").read_text())["chain"]
    assert [link["steps"] for link in chain] == [40]


def test_shards_that_were_taken_up_can_be_removed(tmp_path: Path) -> None:
    save_views(tmp_path / "1-00000.npz", squares(8))
    train_on_views(tmp_path, tmp_path / "run", steps=1, batch=2, pool=8, size=SIZE, remove=True)
    assert not list(tmp_path.glob("*.npz"))


def test_how_long_is_said_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="steps or seconds"):
        train_on_views(tmp_path, tmp_path / "run", steps=1, seconds=2.0)


def test_windows_show_boxes_where_they_lie_and_most_show_one() -> None:
    torch.manual_seed(2)
    pool = ViewPool(40, SIZE, torch.device("cpu"))
    pool.take(squares(40))
    views, before = pool.draw(120)
    shown, boxes = windows_of(views, before, 64)
    assert shown.shape == (120, 3, 64, 64)
    assert (boxes[..., 0] >= 0).any(1).float().mean() > 0.8
    for view, own in zip(shown.mean(1), boxes, strict=True):
        for kind, *corners in own.tolist():
            if kind >= 0:
                x0, y0, x1, y1 = (round(v) for v in corners)
                assert 0 <= x0 < x1 <= 64
                assert 0 <= y0 < y1 <= 64
                assert float(view[y0:y1, x0:x1].min()) > 0.8


def test_held_layers_and_the_figures_of_all_norms_stay(tmp_path: Path) -> None:
    save_views(tmp_path / "1-00000.npz", squares(8))
    how = partial(train_on_views, tmp_path, batch=4, rate=0.01, pool=8, size=SIZE, window=64)
    first = how(tmp_path / "one", steps=1)
    last = how(tmp_path / "two", start=first, steps=3, held=5)
    before, after = (
        load_checkpoint(path, "detector", CLASSES)[0].state_dict() for path in (first, last)
    )
    for name, values in before.items():
        layer = int(name.split(".")[1])
        if layer < 5 or "running" in name:
            assert torch.equal(values, after[name]), name
    assert not torch.equal(before["model.16.cv1.conv.weight"], after["model.16.cv1.conv.weight"])


def test_only_the_head_of_the_finest_scale_learns(tmp_path: Path) -> None:
    save_views(tmp_path / "1-00000.npz", squares(8))
    how = partial(train_on_views, tmp_path, batch=4, rate=0.01, pool=8, size=SIZE, window=64)
    first = how(tmp_path / "one", steps=1)
    last = how(tmp_path / "two", start=first, steps=3, finest=True)
    before, after = (
        load_checkpoint(path, "detector", CLASSES)[0].state_dict() for path in (first, last)
    )
    changed = {name for name, values in before.items() if not torch.equal(values, after[name])}
    assert {name[:14] for name in changed} == {"model.23.cv2.0", "model.23.cv3.0"}


def test_a_head_for_cards_finds_cards_alone_and_the_others_as_before(tmp_path: Path) -> None:
    save_views(tmp_path / "1-00000.npz", squares(8))
    how = partial(train_on_views, tmp_path, batch=4, rate=0.01, pool=8, size=SIZE, window=64)
    first = how(tmp_path / "one", steps=1)
    trained = how(tmp_path / "two", start=first, steps=3, finest=True)
    joined = join_cards(first, trained, tmp_path / "two" / "cards.pt")
    networks = [fresh(path).eval() for path in (first, trained, joined)]
    views = torch.rand(2, 3, SIZE, SIZE)
    with torch.no_grad():
        old, new, both = (network(views)[0] for network in networks)
    finest, cards = (SIZE // 8) ** 2, 4 + len(CARDS)
    # The places of the head for cards come last.
    assert torch.allclose(both[:, cards:, : old.shape[2]], old[:, cards:], atol=1e-5)
    assert torch.allclose(both[:, :cards, -finest:], new[:, :cards, :finest], atol=1e-4)
    assert float(both[:, 4:cards, :finest].max()) < 1e-4
    assert float(both[:, cards:, -finest:].max()) < 1e-4
    # Trained on, it alone learns, and cards stay its own.
    last = fresh(how(tmp_path / "three", start=joined, steps=2, finest=True)).state_dict()
    before = networks[2].state_dict()
    changed = {name[:14] for name, values in before.items() if not torch.equal(values, last[name])}
    assert changed == {"model.23.cv2.3", "model.23.cv3.3"}
    # What was not trained from the start alone is refused.
    with pytest.raises(FeltwatchError, match="finest head alone"):
        join_cards(how(tmp_path / "four", steps=1, seed=9), trained, tmp_path / "no.pt")


def test_a_window_is_chosen_that_cuts_few_boxes() -> None:
    torch.manual_seed(3)
    views = torch.zeros(200, 3, 128, 128)
    boxes = torch.full((200, 6, 5), -1.0)
    # A row of indices, and two stacks beside it.
    for n in range(4):
        boxes[:, n] = torch.tensor([0.0, 20 + 14 * n, 30, 30 + 14 * n, 44])
    for n, x in enumerate((20.0, 70.0)):
        boxes[:, 4 + n] = torch.tensor([float(CLASSES.index("chip")), x, 80, x + 28, 110])
    _, seen = windows_of(views, boxes, 64)
    whole = (seen[..., 3:] - seen[..., 1:3]).prod(-1)
    chips = seen[..., 0] == CLASSES.index("chip")
    # Without a choice a third of the stacks that are seen are cut.
    assert float((whole[chips] < 28 * 30 - 1).float().mean()) < 0.1
