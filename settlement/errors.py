"""The one base of every error that feltwatch raises on bad input."""

from __future__ import annotations


class FeltwatchError(Exception):
    """Bad input or a broken surrounding, reported in one line for the person at the keyboard.

    The message names the place (file, key, seat, wager) and what would be right.
    The command line prints it without a traceback and ends with a non-zero exit code.
    """
