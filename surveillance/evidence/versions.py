"""Names and hashes of all that a reading depends on: model, rules, table file, program."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from surveillance.version import installed_version
from vision.detect.openvino_runtime import load_card
from vision.geometry.table import TableFile

_ROOMS = ("settlement", "vision", "models", "datasets", "surveillance")
_READ = frozenset({".py", ".toml"})


def versions_of(table: TableFile, table_file: bytes, weights: Path) -> dict[str, dict[str, Any]]:
    """By kind its `name` and `sha256`; raises ModelError when the networks are missing."""
    card = load_card(weights)
    parts = {name: own["sha256"] for name, own in sorted(card["models"].items())}
    rules = table.rules.model_dump_json(exclude={"paytable_folder"})
    return {
        "model": {
            "name": str(card.get("name", weights.name)),
            "sha256": _sha256(json.dumps(parts, sort_keys=True).encode()),
            "parts": parts,
        },
        "rules": {"name": table.rules.game, "sha256": _sha256(rules.encode())},
        "table_file": {"name": table.table, "sha256": _sha256(table_file)},
        "program": {"name": f"feltwatch {installed_version()}", "sha256": program_sha256()},
    }


@cache
def program_sha256() -> str:
    """One hash over the installed program's own files, by name."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in _READ and path.is_file():
                digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
