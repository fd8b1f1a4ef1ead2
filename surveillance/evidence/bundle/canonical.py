"""JSON that has one form only, so that hashes of it can be computed again anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Keys sorted, no spaces, ASCII only; raises ValueError for NaN and infinity.

    >>> canonical_json({"b": [1, "ä"], "a": None})
    b'{"a":null,"b":[1,"\\\\u00e4"]}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """The same with `sha256`, the hash of the canonical JSON of all other keys.

    >>> sealed({"a": 1})["sha256"][:8], opened(canonical_json(sealed({"a": 1})))["a"]
    ('015abd7f', 1)
    """
    rest = {key: part for key, part in value.items() if key != "sha256"}
    return {**rest, "sha256": hashlib.sha256(canonical_json(rest)).hexdigest()}


def opened(text: bytes) -> dict[str, Any] | None:
    """Return the sealed object; None when any byte of the text was changed."""
    try:
        value = json.loads(text)
        if isinstance(value, dict) and canonical_json(sealed(value)) == text:
            return value
    except (ValueError, RecursionError):
        pass
    return None
