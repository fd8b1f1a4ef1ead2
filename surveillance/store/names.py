"""How names of people are compared."""

from __future__ import annotations

import unicodedata


def name_key(name: str) -> str:
    """What two spellings of one name have in common.

    >>> name_key(" Ana ") == name_key("ANA"), name_key("Straße") == name_key("STRASSE")
    (True, True)
    """
    folded = unicodedata.normalize("NFKC", name).strip().casefold()
    # Names are typed by strangers: what no database takes must not stop a count of attempts.
    plain = folded.encode("utf-8", "replace").decode().replace("\0", "?")
    return unicodedata.normalize("NFKC", plain)
