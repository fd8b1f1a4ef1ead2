"""One table for every game, with every wager that the game has."""

from __future__ import annotations

from settlement.rules import Progressive, TableRules

SEED_CENTS = 500000
_JACKPOTS = {
    "pai_gow_insurance_progressive": Progressive(seed_cents=(SEED_CENTS,)),
    "emperors_treasure_progressive": Progressive(seed_cents=(SEED_CENTS, 200000, 100000, 50000)),
}

NEVADA = TableRules(
    game="emperors_challenge_exposed",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-05",
        "emperors_treasure": "PT-FLT-EC-ET-02",
        "envy": "E02",
        "pai_gow_insurance_progressive": "PT-BJS-EC-PGI-01",
        "emperors_treasure_progressive": "PT-BJS-EC-ET-01",
    },
    progressives=_JACKPOTS,
    settling_starts="last_seat",
)
WASHINGTON = TableRules(
    game="emperors_challenge_exposed_washington",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-02",
        "emperors_treasure": "PT-FLT-EC-ET-E02",
        "pai_gow_insurance_progressive": "PT-BJS-EC-PGI-03",
        "emperors_treasure_progressive": "PT-BJS-EC-ET-05",
    },
    progressives=_JACKPOTS,
    settling_starts="last_seat",
)
EARLIER = TableRules(
    game="emperors_challenge_exposed_earlier",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-01",
        "emperors_treasure": "PT-FLT-EC-ET-01",
        "envy": "E01",
        "pai_gow_insurance_progressive": "PT-BJS-EC-PGI-02",
        "emperors_treasure_progressive": "PT-BJS-EC-ET-03",
    },
    progressives=_JACKPOTS,
    settling_starts="last_seat",
)
TRADITIONAL = TableRules(
    game="pai_gow_poker",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-02",
        "emperors_treasure": "PT-FLT-EC-ET-06",
        "envy": "E06",
        "pai_gow_insurance_progressive": "PT-BJS-EC-PGI-04",
        "emperors_treasure_progressive": "PT-BJS-EC-ET-02",
    },
    progressives=_JACKPOTS,
)
IMPERIAL = TableRules(
    game="imperial_pai_gow_draw", paytables={"imperial_side_bet": "IMPERIAL-BONUS-A"}
)
TABLES = {rules.game: rules for rules in (NEVADA, WASHINGTON, EARLIER, TRADITIONAL, IMPERIAL)}


def with_rules(rules: TableRules, **changes: object) -> TableRules:
    """The rules with some keys changed, checked as a table file is."""
    return TableRules.model_validate(rules.model_dump() | changes)


def reading(rules: TableRules, **changes: object) -> TableRules:
    """The rules with some of their readings changed."""
    return with_rules(rules, readings=rules.readings.model_dump() | changes)
