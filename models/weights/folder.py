"""Where the shipped weights lie."""

from __future__ import annotations

from pathlib import Path


def default_weights() -> Path:
    """The folder of weights inside the installed package, with its model card.

    It need not be there: `vision.networks.load_networks` raises ModelError naming
    what is missing.

    >>> default_weights().parts[-2:]
    ('models', 'weights')
    """
    return Path(__file__).resolve().parent
