"""The version of what is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The installed version, or 'unknown' when run from a folder without installing."""
    try:
        return version("feltwatch")
    except PackageNotFoundError:
        return "unknown"
