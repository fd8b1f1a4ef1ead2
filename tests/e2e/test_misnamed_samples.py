"""A table whose deck was sampled under wrong names: the sample, audited."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.card_rounds import SEATS, Table
from datasets.render.cards.deck import draw_deck
from datasets.training.asset_pool import Stage
from models.weights.folder import default_weights
from settlement.record import DECK_LABELS
from surveillance.cli import main
from surveillance.cli.recordings.score_cmd import score_files
from vision.cards.table_deck import DeckSamples
from vision.networks import load_networks

SAMPLE = Path(__file__).parents[2] / "sample"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def test_misnamed_samples_cost_no_card_and_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.toml"
    table.write_text(with_misnamed_samples((SAMPLE / "table.toml").read_text("utf-8")), "utf-8")
    out = tmp_path / "audit"
    own = ["audit", str(SAMPLE / "video.mp4"), "--table", str(table), "--out", str(out), "--json"]
    assert main(own) == 0
    summary = json.loads(capsys.readouterr().out)
    assert any("without the samples of the deck" in words for words in summary["warnings"])
    form = score_files(
        SAMPLE / "truth.jsonl", out / "rounds.jsonl", out / "alerts.jsonl", None
    ).as_dict()
    score: dict[str, dict[str, int]] = json.loads(json.dumps(form))
    cards, alerts = score["cards"], score["alerts"]
    assert cards["right"] >= 0.99 * cards["seen"]
    assert (alerts["found"], alerts["false"]) == (alerts["faults"], 0)


def with_misnamed_samples(table: str) -> str:
    """The table file with samples of the deck, three suits under wrong names.

    As where the row of hearts is not found, and the lower corners of the clubs make up for it.
    """
    rng = np.random.default_rng(3)
    deck = draw_deck()
    networks = load_networks(default_weights(), 1)
    spread = Table("other", deck, frozenset(), Stage.draw(rng, [deck]), len(SEATS)).enrolled(
        networks.detector, networks.reader
    )
    assert spread is not None
    crops = spread.samples.crops.copy()
    for n, label in enumerate(DECK_LABELS):
        if label[-1] in "HD":
            crops[n] = spread.samples.crops[n - 1]
        elif label[-1] == "C":
            crops[n] = spread.samples.crops[n][::-1, ::-1]
    (data,) = DeckSamples(crops).as_table_data().values()
    return f'deck_jpeg = "{data}"\n{table}'
