"""Names by which people log in."""

from __future__ import annotations

import re
import unicodedata

from settlement.errors import FeltwatchError

MAX_LETTERS = 40
_NAME = re.compile(r"[^\W_](?:[\w.@-]*\w)?")


def clean_name(name: str) -> str:
    """A name as it is kept: letters of any script, digits and `. _ @ -`.

    The store takes two names that differ only in case for one.
    Raises FeltwatchError saying what would be right.

    >>> clean_name(" Ann.B "), clean_name("Zoe\u0308") == "Zo\u00eb"
    ('Ann.B', True)
    >>> clean_name("a b")
    Traceback (most recent call last):
    settlement.errors.FeltwatchError: the name 'a b': give letters, digits and . _ @ - only, ...
    """
    plain = unicodedata.normalize("NFKC", name).strip()
    if len(plain) > MAX_LETTERS or not _NAME.fullmatch(plain):
        raise FeltwatchError(
            f"the name {name[:60]!r}: give letters, digits and . _ @ - only, beginning and ending "
            f"with a letter or digit, at most {MAX_LETTERS} in all"
        )
    return plain


def looked_up(name: str) -> str:
    """A name as somebody typed it at the login, cut to what can be one."""
    plain = unicodedata.normalize("NFKC", name[: 4 * MAX_LETTERS]).strip()[:MAX_LETTERS]
    # What no database takes, a lone surrogate or NUL, is in no name either.
    return plain.encode("utf-8", "replace").decode().replace("\0", "?")
