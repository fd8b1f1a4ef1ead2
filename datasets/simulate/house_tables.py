"""Tables to play at: for every game its usual wagers, limits, chips and felt."""

from __future__ import annotations

from typing import Literal

from datasets.simulate.dealing import PLAYERS_MOST
from settlement.errors import FeltwatchError
from settlement.games import GAMES
from settlement.rules import Progressive, TableRules, WagerLimit
from vision.geometry.standard_layout import CHIPS, SMALL_CHIPS, spots_for, standard_table
from vision.geometry.table import TableFile

Jackpots = Literal["none", "plain", "levels", "dynamic"]

NEVADA = "emperors_challenge_exposed"
_SIDE = WagerLimit(min_cents=100, max_cents=10000)
_PAYTABLES: dict[str, dict[str, str]] = {
    NEVADA: {
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-05",
        "emperors_treasure": "PT-FLT-EC-ET-02",
        "envy": "E02",
    },
    "emperors_challenge_exposed_washington": {
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-02",
        "emperors_treasure": "PT-FLT-EC-ET-E02",
    },
    "emperors_challenge_exposed_earlier": {
        "pai_gow_insurance": "PT-FLT-EC-PGI-01",
        "emperors_treasure": "PT-FLT-EC-ET-01",
        "envy": "E01",
    },
    "pai_gow_poker": {
        "pai_gow_insurance": "PT-FLT-EC-PGI-02",
        "emperors_treasure": "PT-FLT-EC-ET-06",
        "envy": "E06",
    },
    "imperial_pai_gow_draw": {"imperial_side_bet": "IMPERIAL-BONUS-A"},
}
GAME_IDS: tuple[str, ...] = tuple(_PAYTABLES)
"""The games that the simulator deals."""

_INSURANCE_JACKPOT = {
    NEVADA: "PT-BJS-EC-PGI-02",
    "emperors_challenge_exposed_washington": "PT-BJS-EC-PGI-03",
    "emperors_challenge_exposed_earlier": "PT-BJS-EC-PGI-01",
    "pai_gow_poker": "PT-BJS-EC-PGI-04",
}
_TREASURE_JACKPOT: dict[tuple[str, Jackpots], str] = {
    (NEVADA, "plain"): "PT-BJS-EC-ET-02",
    (NEVADA, "levels"): "PT-PRG-MLP-ET-03",
    (NEVADA, "dynamic"): "PT-PRG-EC-ET-D01",
    ("emperors_challenge_exposed_washington", "plain"): "PT-BJS-EC-ET-05",
    ("emperors_challenge_exposed_earlier", "plain"): "PT-BJS-EC-ET-03",
}
_SEEDS = (500000, 200000, 100000, 50000)
_SMALL_CHIPS = frozenset(
    {"emperors_challenge_exposed_earlier", "pai_gow_poker", "imperial_pai_gow_draw"}
)


def rules_for(game: str, jackpots: Jackpots = "none") -> TableRules:
    """The rules of a usual table of a game.

    With 'plain' it has the game's jackpot wagers; Nevada's treasure jackpot may have
    'levels' or 'dynamic' pays. Raises FeltwatchError for a game or jackpot that is not known.
    """
    if game not in _PAYTABLES:
        raise FeltwatchError(
            f"game {game!r}: the simulator deals no such game; known are {', '.join(GAME_IDS)}"
        )
    paytables = dict(_PAYTABLES[game])
    progressives: dict[str, Progressive] = {}
    if jackpots != "none":
        if game not in _INSURANCE_JACKPOT:
            raise FeltwatchError(f"game {game}: it has no jackpot wagers; leave --jackpots out")
        if jackpots != "plain" and (game, jackpots) not in _TREASURE_JACKPOT:
            raise FeltwatchError(f"game {game}: its jackpots are 'plain' only, not {jackpots!r}")
        paytables["pai_gow_insurance_progressive"] = _INSURANCE_JACKPOT[game]
        progressives["pai_gow_insurance_progressive"] = Progressive(seed_cents=_SEEDS[:1])
        treasure = _TREASURE_JACKPOT.get((game, jackpots))
        if treasure is not None:
            paytables["emperors_treasure_progressive"] = treasure
            progressives["emperors_treasure_progressive"] = Progressive(seed_cents=_SEEDS)
    least = 500 if game == "pai_gow_poker" else 1000
    sides = [name for name in paytables if name != "envy" and name not in progressives]
    return TableRules(
        game=game,
        paytables=paytables,
        progressives=progressives,
        limits={"main": WagerLimit(min_cents=least, max_cents=50000)} | dict.fromkeys(sides, _SIDE),
        # Seat 1 is at the dealer's right, where settling begins.
        settling_starts="first_seat",
    )


def table_for(game: str, *, seats: int | None = None, jackpots: Jackpots = "none") -> TableFile:
    """A usual table of a game, without a camera; Imperial has five seats, others six.

    >>> table_for("imperial_pai_gow_draw").chips["grey"].value_cents
    25
    """
    rules = rules_for(game, jackpots)
    most = min(GAMES[game].seats_most, PLAYERS_MOST)
    count = seats or most
    if count > most:
        raise FeltwatchError(f"--seats {count}: {game} has cards for {most} players at most")
    return standard_table(
        rules,
        seats=count,
        spots=spots_for(rules),
        chips=CHIPS | SMALL_CHIPS if game in _SMALL_CHIPS else CHIPS,
        house_spot=game == "pai_gow_poker",
    )
