"""An evidence folder with bundles, as a shift would leave it."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from settlement.settle import settle
from surveillance.alerts.model import Alert
from surveillance.evidence.bundle import BundleContents, BundleRef, Chain, SigningKey, write_bundle
from tests.surveillance.handmade import RULES, observed_round

AT = datetime(2026, 3, 1, 20, 15, 30, tzinfo=UTC)


def contents(number: int = 1, clip: Path | None = None, **changes: Any) -> BundleContents:
    """What stands behind an alert that seat 3 was overpaid."""
    rng = random.Random(number)
    record = observed_round(number, paid_cents=3000).record
    values: dict[str, Any] = {
        "alert": Alert(
            alert_id=f"{record.round_id}-01",
            round_id=record.round_id,
            code="OVERPAID",
            severity="high",
            seat=3,
            message="Seat 3 was paid $30 for $25.",
        ),
        "record": record,
        "settlement": settle(record, RULES).model_dump(mode="json"),
        "table": "t1",
        "camera": "pit1-t1",
        "at": AT + timedelta(minutes=number),
        "pictures": {"seat3.jpg": rng.randbytes(700), "before.jpg": rng.randbytes(300)},
        "clip": clip,
        "clip_start_s": "812.4",
        "detections": [{"at_s": "812.4", "label": "AS", "score": 0.97, "box_px": [1, 2, 3, 4]}],
        "versions": {"model": {"name": "cards", "sha256": "ab" * 32}},
        "table_file": b'table = "t1"\n',
    }
    return BundleContents(**{**values, **changes})


def make_clip(folder: Path) -> Path:
    """Some bytes that stand for a clip."""
    path = folder / "clip.mp4"
    path.write_bytes(random.Random(99).randbytes(2500))
    return path


def make_evidence(
    folder: Path, bundles: int = 3, key: SigningKey | None = None, first: int = 1
) -> list[BundleRef]:
    """Bundles in `folder`/2026-03-01 and their log; other lines stand in it too."""
    folder.mkdir(parents=True, exist_ok=True)
    clip = make_clip(folder)
    chain = Chain.of(folder, key)
    refs = []
    for number in range(first, first + bundles):
        refs.append(write_bundle(folder / "2026-03-01", contents(number, clip), chain))
        chain.append("verdict", {"alert": number, "verdict": "confirmed"})
    clip.unlink()
    return refs
