"""Which findings a simulated way films, in which games, and which none does.

What a comparison or the camera can report is the code's own list; a test fails for a kind that
stands neither in `FILMED` nor in `NOT_FILMED`. `docs/simulator.md` has the table of `as_markdown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from datasets.simulate.house_tables import GAME_IDS
from datasets.simulate.mistakes.catalogue import HOUSE_CODES, WAYS
from settlement.compare.finding import FindingCode
from settlement.procedures import BreachKind
from settlement.record import CardMove

TableKind = Literal["usual", "jackpots", "afterwards", "dice"]
"""A usual table of a game, one with `--jackpots plain`, `--commission afterwards` or `--dice`."""

SHORT = {
    "emperors_challenge_exposed": "N", "emperors_challenge_exposed_washington": "W",
    "emperors_challenge_exposed_earlier": "E", "pai_gow_poker": "T", "imperial_pai_gow_draw": "I",
}  # fmt: skip
"""Games in the table: Exposed of Nevada, of Washington, its earlier edition, traditional, Imperial.
"""

_EXPOSED = frozenset(game for game in GAME_IDS if game.startswith("emperors"))
_TRADITIONAL, _IMPERIAL = frozenset({"pai_gow_poker"}), frozenset({"imperial_pai_gow_draw"})
_WASHINGTON = frozenset({"emperors_challenge_exposed_washington"})

_ONLY: Mapping[str, frozenset[str]] = {
    "HOUSE_WAY/eighth": _IMPERIAL,
    "HOUSE_WAY/foul": _TRADITIONAL | (_EXPOSED - {"emperors_challenge_exposed_earlier"}),
    "OVERPAID/commission": _TRADITIONAL,
    "OVERPAID/uncollected": _TRADITIONAL,
    "LIMIT/hands": _TRADITIONAL,
    "DECK/dealer": _EXPOSED | _TRADITIONAL,
    "PROCEDURE/set_late": _TRADITIONAL | _IMPERIAL,
    "PROCEDURE/shown_early": _TRADITIONAL | _IMPERIAL,
    "PROCEDURE/wrong_first_seat": _TRADITIONAL | _IMPERIAL,
    "PROCEDURE/second_discard": _IMPERIAL,
    "PROCEDURE/discard_late": _IMPERIAL,
    "PROCEDURE/coin_unregistered": _WASHINGTON,
    "PROCEDURE/lit_alone": _WASHINGTON,
    "PROCEDURE/coin_unseen": _WASHINGTON,
    "LIMIT/coins": _EXPOSED | _TRADITIONAL,
    "HAND_PAY/jackpot": _EXPOSED | _TRADITIONAL,
    **{f"LAMMER/{way}": _EXPOSED | _TRADITIONAL for way in WAYS["LAMMER"]},
    **{f"{code}/house": _TRADITIONAL for code in HOUSE_CODES},
}
"""Ways that usual tables of some games alone leave room for."""

_TABLES: Mapping[str, TableKind] = {
    "LIMIT/coins": "jackpots", "HAND_PAY/jackpot": "jackpots",
    "PROCEDURE/coin_unregistered": "jackpots", "PROCEDURE/lit_alone": "jackpots",
    "PROCEDURE/coin_unseen": "jackpots", "OVERPAID/uncollected": "afterwards",
    "PROCEDURE/wrong_first_seat": "dice",
}  # fmt: skip

FILMED: Mapping[str, tuple[str, ...]] = {
    **{str(code): tuple(f"{code}/{way}" for way in WAYS[code]) for code in FindingCode
       if code not in ("CARD_MOVED", "PROCEDURE", "LATE_BET", "LIMIT", "LAMMER", "DECK")},
    "LIMIT: minimum": ("LIMIT/under",),
    "LIMIT: maximum": ("LIMIT/over",),
    "LIMIT: minimum for several hands": ("LIMIT/hands",),
    "LIMIT: fixed wager": ("LIMIT/coins",),
    "LAMMER: missing": ("LAMMER/missing", "LAMMER/place"),
    "LAMMER: by too small a stake": ("LAMMER/extra",),
    "LAMMER: by no stake": ("LAMMER/no_stake",),
    "LATE_BET: grew": ("LATE_BET/grew",),
    "LATE_BET: shrank": ("LATE_BET/shrank",),
    "LATE_BET: appeared": ("LATE_BET/appeared",),
    "CARD_MOVED: hand": ("CARD_MOVED/hand", "CARD_MOVED/dealer"),
    "CARD_MOVED: face_up": ("CARD_MOVED/face",),
    "CARD_MOVED: face_down": ("CARD_MOVED/face_down",),
    "CARD_MOVED: reach": ("CARD_MOVED/seat",),
    "DECK: a card twice": ("DECK/twin", "DECK/jokers"),
    "DECK: number of cards": ("DECK/many", "DECK/few", "DECK/dealer"),
    **{f"PROCEDURE: {kind}": (f"PROCEDURE/{kind}",) for kind in get_args(BreachKind)
       if kind != "coin_unregistered"},
    "PROCEDURE: coin_unregistered": ("PROCEDURE/coin_unregistered", "PROCEDURE/lit_alone"),
}  # fmt: skip
"""The ways that film a finding, by its code and, where it has several, its kind."""

NOT_FILMED: Mapping[str, str] = {
    "CARD_MOVED: seat": "cards of two hands that lie open: no way films it",
    "LIMIT: house wager": "no usual table limits it",
    "LIMIT: only one wager": "the camera reads one wager a spot",
    "LAMMER: one that the table has no use for": "usual tables have none",
    "DECK: an eighth card where nobody draws": "the camera reads it as one of the hand",
    "PAID_LOSER: on a sensor without a registered coin": "no way films it",
}
"""Findings that no way films, with the reason."""


def finding_kinds() -> frozenset[str]:
    """Every finding that the code distinguishes by its code and a kind of its own.

    >>> sorted(kind for kind in finding_kinds() if kind.startswith("LATE_BET"))
    ['LATE_BET: appeared', 'LATE_BET: grew', 'LATE_BET: shrank']
    """
    moves = get_args(CardMove.model_fields["kind"].annotation)
    kinds = {
        "PROCEDURE": get_args(BreachKind), "CARD_MOVED": moves,
        "LATE_BET": ("grew", "shrank", "appeared"),
    }  # fmt: skip
    whole = {str(code) for code in FindingCode} - kinds.keys() - {"LIMIT", "LAMMER", "DECK"}
    return frozenset(whole | {f"{code}: {kind}" for code, own in kinds.items() for kind in own})


def table_of(way: str, game: str) -> TableKind | None:
    """The kind of table of a game that leaves room for a way; None where none does.

    >>> table_of("LIMIT/coins", "pai_gow_poker"), table_of("OVERPAID/twice", "pai_gow_poker")
    ('jackpots', 'usual')
    >>> table_of("HOUSE_WAY/eighth", "pai_gow_poker") is None
    True
    """
    if game not in _ONLY.get(way, GAME_IDS):
        return None
    return _TABLES.get(way, "usual")


def as_markdown() -> str:
    """The table of `docs/simulator.md`."""
    lines = ["| finding | ways |", "|---|---|"]
    for kind, ways in FILMED.items():
        lines.append(f"| {kind} | {', '.join(_noted(way) for way in ways)} |")
    lines += [f"| {kind} | none: {why} |" for kind, why in NOT_FILMED.items()]
    return "\n".join(lines) + "\n"


def _noted(way: str) -> str:
    """A way with the option and the games that it needs."""
    needs = {"jackpots": "¹", "afterwards": "²", "dice": "³"}.get(_TABLES.get(way, ""), "")
    games = "".join(SHORT[game] for game in GAME_IDS if table_of(way, game))
    return f"`{way.partition('/')[2]}`{needs}" + (f" {games}" if len(games) < len(GAME_IDS) else "")
