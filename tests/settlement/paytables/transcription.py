"""Every printed pay table of the rule documents, copied by eye and apart from the shipped tables.

A table that three documents print stands here three times. Each block below is one printed block:
its ids from left to right, then its rows from top to bottom, the cells of a row apart by commas.
Thousands commas and the backslash before "$" are left out; the words are the document's own.

Cells: "400" odds to 1, "0.5" odds of 0.5 to 1, "push", "loss", "$125" dollars for the base wager,
"100%" of the only meter, "100% Lv.2" of a level's meter, "n/a"; "5000 | $1000" pay and envy of a
joined table, "-" where the document prints a dash or, in document 001, no envy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One printed column: a pay table as one document prints it; rows are label, category, cell.

    `appendix` has the subheading too where one parts two tables of an appendix, and is the
    heading alone in document 001.
    """

    table_id: str
    document: str
    appendix: str
    wager: str
    basis: str
    rows: tuple[tuple[str, str, str], ...]


Row = tuple[str, str, str]

SF7_NATURAL = "seven_card_straight_flush_natural"
SF7_JOKER = "seven_card_straight_flush_joker"
SF7 = "seven_card_straight_flush"
ROYAL_AK = "royal_flush_with_suited_ace_king"
FIVE_ACES = "five_aces"
ROYAL_NATURAL = "royal_flush_natural"
ROYAL = "royal_flush"
SF = "straight_flush"
QUADS = "four_of_a_kind"
FULL_HOUSE = "full_house"
FLUSH = "flush"
TRIPS = "three_of_a_kind"
STRAIGHT = "straight"
THREE_PAIR = "three_pair"

NINE_ONE_COLOUR = "nine_high_one_colour"
NINE = "nine_high"
TEN = "ten_high"
JACK = "jack_high"
QUEEN = "queen_high"
KING = "king_high"
ACE = "ace_high"

BOTH_ACE = "player_and_dealer_ace_high"
DEALER_ACE_JOKER = "dealer_ace_high_with_joker"
DEALER_ACE_NO_JOKER = "dealer_ace_high_without_joker"


def _block(place: tuple[str, str], wager: str, basis: str, ids: str, *rows: Row) -> list[Printed]:
    """The columns of a printed block; raises ValueError where a row has too few or many cells."""
    names = ids.split(", ")
    cells = [row[2].split(", ") for row in rows]
    if any(len(row) != len(names) for row in cells):
        raise ValueError(f"{place}, {ids}: a row has not {len(names)} cells")
    return [
        Printed(
            name,
            *place,
            wager,
            basis,
            tuple((label, category, cells[i][n]) for i, (label, category, _) in enumerate(rows)),
        )
        for n, name in enumerate(names)
    ]


# ---- Document 000: Emperor's Challenge Exposed ----

D000_A = _block(
    ("000", "A"),
    "pai_gow_insurance",
    "to 1",
    "PT-FLT-EC-PGI-01, PT-FLT-EC-PGI-02, PT-FLT-EC-PGI-03, PT-FLT-EC-PGI-04, PT-FLT-EC-PGI-05",
    ("9-High Pai Gow", NINE, "400, 250, 100, 100, 100"),
    ("10-High Pai Gow", TEN, "40, 75, 50, 25, 25"),
    ("Jack-High Pai Gow", JACK, "20, 25, 25, 15, 15"),
    ("Queen-High Pai Gow", QUEEN, "5, 5, 10, 6, 7"),
    ("King-High Pai Gow", KING, "3, 3, 5, 5, 5"),
    ("Ace-High Pai Gow", ACE, "2, 2, 1, 3, 3"),
)

D000_B = _block(
    ("000", "B"),
    "emperors_treasure",
    "to 1",
    "PT-FLT-EC-ET-01, PT-FLT-EC-ET-02, PT-FLT-EC-ET-03, PT-FLT-EC-ET-04, "
    "PT-FLT-EC-ET-05, PT-FLT-EC-ET-06, PT-FLT-EC-ET-07, PT-FLT-EC-ET-08",
    (
        "7-Card Straight Flush, No Joker",
        SF7_NATURAL,
        "5000, 8000, 5000, 2500, 5000, 5000, 5000, 2500",
    ),
    (
        "5-Card Royal Flush w/ A-K Suited",
        ROYAL_AK,
        "1000, 2000, 2000, 1000, 2000, 1000, 2000, 1000",
    ),
    ("7-Card Straight Flush w/Joker", SF7_JOKER, "750, 1000, 1000, 750, 1000, 500, 1000, 750"),
    ("5 Aces", FIVE_ACES, "250, 400, 400, 250, 400, 300, 400, 250"),
    ("5-Card Royal Flush", ROYAL, "100, 150, 150, 100, 150, 110, 150, 125"),
    ("5-Card Straight Flush", SF, "50, 50, 50, 50, 50, 45, 50, 50"),
    ("Four-of-a-Kind", QUADS, "20, 25, 25, 25, 25, 25, 25, 25"),
    ("Full House", FULL_HOUSE, "5, 5, 5, 5, 5, 5, 5, 5"),
    ("5-Card Flush", FLUSH, "4, 4, 4, 4, 4, 4, 4, 4"),
    ("3-of-a-Kind", TRIPS, "3, 3, 3, 3, 3, 3, 3, 3"),
    ("5-Card Straight", STRAIGHT, "2, 2, 2, 2, 2, 2, 2, 2"),
    ("3 Pair", THREE_PAIR, "push, loss, loss, loss, loss, loss, loss, loss"),
)

D000_B_ENVY = _block(
    ("000", "B, Envy Bonus"),
    "envy",
    "fixed",
    "E01, E02, E03, E04, E05, E06, E07, E08",
    (
        "7-Card Straight Flush, No Joker",
        SF7_NATURAL,
        "$1000, $5000, $3000, $1000, $2500, $2500, $5000, $1000",
    ),
    (
        "5-Card Royal Flush w/A-K Suited",
        ROYAL_AK,
        "$250, $1000, $1000, $750, $500, $500, $1000, $750",
    ),
    (
        "7-Card Straight Flush w/ Joker",
        SF7_JOKER,
        "$100, $500, $500, $250, $250, $250, $500, $250",
    ),
    ("5 Aces", FIVE_ACES, "$50, $250, $250, $100, $150, $150, $250, $100"),
    ("5-Card Royal Flush", ROYAL, "$25, $50, $50, $50, $55, $55, $50, $50"),
    ("5-Card Straight Flush", SF, "$10, $20, $20, $20, $25, $25, $20, $20"),
    ("Four-of-a-Kind", QUADS, "$5, $5, $5, $5, $6, $6, $5, $5"),
)

# The document prints columns 03 to 05 without "$" (250, 500, 1000; 125, 125, 100; ...): read as
# dollars, as 002 and 003 print them (reading ST-8b).
D000_C = _block(
    ("000", "C"),
    "pai_gow_insurance_progressive",
    "for 1",
    "PT-BJS-EC-PGI-01, PT-BJS-EC-PGI-02, PT-BJS-EC-PGI-03, PT-BJS-EC-PGI-04, PT-BJS-EC-PGI-05",
    ("9-High one color", NINE_ONE_COLOUR, "100%, 100%, 100%, 100%, 100%"),
    ("9-High two-tone", NINE, "10%, 10%, $250, $500, $1000"),
    ("10-High", TEN, "$125, $100, $125, $125, $100"),
    ("Jack-High", JACK, "$30, $25, $30, $25, $25"),
    ("Queen-High", QUEEN, "$7, $10, $7, $5, $5"),
)

D000_D = _block(
    ("000", "D"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-BJS-EC-ET-01, PT-BJS-EC-ET-02, PT-BJS-EC-ET-03",
    ("7-Card Straight Flush, No Joker", SF7_NATURAL, "100%, 100%, 100%"),
    ("5-Card Royal Flush w/ A-K Suited", ROYAL_AK, "50%, 50%, n/a"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "25%, 25%, 100%"),
    ("Five Aces", FIVE_ACES, "$1000, $2000, 10%"),
    ("5-Card Royal Flush", ROYAL, "$175, $250, $500"),
    ("5-Card Straight Flush", SF, "$150, $150, $100"),
    ("4-of-a-Kind", QUADS, "$75, $65, $75"),
    ("Full House", FULL_HOUSE, "$5, $5, $4"),
)

# ---- Document 001: Imperial Pai Gow Draw Poker (no appendices; "0.5:1", "1:1" ... are odds) ----

D001_A = _block(
    ("001", "BONUS PAYOUT A"),
    "imperial_side_bet",
    "to 1",
    "IMPERIAL-BONUS-A",
    ("straight", STRAIGHT, "0.5 | -"),
    ("flush", FLUSH, "1 | -"),
    ("trips", TRIPS, "2 | -"),
    ("full house", FULL_HOUSE, "3 | -"),
    ("quads", QUADS, "10 | $5"),
    ("strt. flsh", SF, "25 | $10"),
    ("royal flsh", ROYAL, "50 | $25"),
    ("five aces", FIVE_ACES, "150 | $100"),
    ("7 card strt flush(wild)", SF7_JOKER, "500 | $250"),
    ("7 card strt flsh(natural)", SF7_NATURAL, "5000 | $2000"),
)

D001_B = _block(
    ("001", "BONUS PAYOUT B"),
    "imperial_side_bet",
    "to 1",
    "IMPERIAL-BONUS-B",
    ("straight", STRAIGHT, "push | -"),
    ("flush", FLUSH, "1 | -"),
    ("trips", TRIPS, "3 | -"),
    ("full house", FULL_HOUSE, "3 | -"),
    ("quads", QUADS, "10 | $5"),
    ("strt. flsh", SF, "25 | $10"),
    ("royal flsh", ROYAL, "50 | $25"),
    ("five aces", FIVE_ACES, "150 | $100"),
    ("7 card strt flush(wild)", SF7_JOKER, "500 | $250"),
    ("7 card strt flsh(natural)", SF7_NATURAL, "5000 | $2000"),
)

D001_C = _block(
    ("001", "BONUS PAYOUT C"),
    "imperial_side_bet",
    "to 1",
    "IMPERIAL-BONUS-C",
    ("straight", STRAIGHT, "1 | -"),
    ("flush", FLUSH, "1 | -"),
    ("trips", TRIPS, "1 | -"),
    ("full house", FULL_HOUSE, "3 | -"),
    ("quads", QUADS, "10 | $5"),
    ("strt. flsh", SF, "25 | $10"),
    ("royal flsh", ROYAL, "50 | $25"),
    ("five aces", FIVE_ACES, "150 | $100"),
    ("7 card strt flush(wild)", SF7_JOKER, "500 | $250"),
    ("7 card strt flsh(natural)", SF7_NATURAL, "5000 | $2000"),
)

# ---- Document 002: Emperor's Challenge Exposed, Nevada ----

D002_A = _block(
    ("002", "A"),
    "pai_gow_insurance",
    "to 1",
    "PT-FLT-EC-PGI-01, PT-FLT-EC-PGI-02, PT-FLT-EC-PGI-03, PT-FLT-EC-PGI-04, PT-FLT-EC-PGI-05",
    ("9-High", NINE, "400, 250, 100, 100, 100"),
    ("10-High", TEN, "40, 75, 50, 25, 25"),
    ("Jack-High", JACK, "20, 25, 25, 15, 15"),
    ("Queen-High", QUEEN, "5, 5, 10, 6, 7"),
    ("King-High", KING, "3, 3, 5, 5, 5"),
    ("Ace-High", ACE, "2, 2, 1, 3, 3"),
)

D002_B = _block(
    ("002", "B"),
    "ace_high_pai_gow_insurance",
    "to 1",
    "PT-FLT-AHPG-01, PT-FLT-AHPG-02, PT-FLT-AHPG-03, PT-FLT-AHPG-04, PT-FLT-AHPG-05",
    ("Player and Dealer Ace-High", BOTH_ACE, "20, 40, 30, 25, 40"),
    ("Dealer Ace High w/ Joker", DEALER_ACE_JOKER, "10, 15, 15, 10, 12"),
    ("Dealer Ace High w/o Joker", DEALER_ACE_NO_JOKER, "8, 5, 6, 7, 5"),
)

D002_C = _block(
    ("002", "C"),
    "emperors_treasure",
    "to 1",
    "PT-FLT-EC-ET-01, PT-FLT-EC-ET-02, PT-FLT-EC-ET-03, PT-FLT-EC-ET-04, "
    "PT-FLT-EC-ET-05, PT-FLT-EC-ET-06, PT-FLT-EC-ET-07, PT-FLT-EC-ET-08",
    (
        "7-Card Straight Flush, No Joker",
        SF7_NATURAL,
        "5000, 8000, 5000, 2500, 5000, 5000, 5000, 2500",
    ),
    (
        "5-Card Royal Flush w/ Natural Ace/King Suited",
        ROYAL_AK,
        "1000, 2000, 2000, 1000, 2000, 1000, 2000, 1000",
    ),
    ("7-Card Straight Flush w/Joker", SF7_JOKER, "750, 1000, 1000, 750, 1000, 500, 1000, 750"),
    ("5 Aces", FIVE_ACES, "250, 400, 400, 250, 400, 300, 400, 250"),
    ("5-Card Royal Flush", ROYAL, "100, 150, 150, 100, 150, 110, 150, 125"),
    ("5-Card Straight Flush", SF, "50, 50, 50, 50, 50, 45, 50, 50"),
    ("Four-of-a-Kind", QUADS, "20, 25, 25, 25, 25, 25, 25, 25"),
    ("Full House", FULL_HOUSE, "5, 5, 5, 5, 5, 5, 5, 5"),
    ("5-Card Flush", FLUSH, "4, 4, 4, 4, 4, 4, 4, 4"),
    ("3-of-a-Kind", TRIPS, "3, 3, 3, 3, 3, 3, 3, 3"),
    ("5-Card Straight", STRAIGHT, "2, 2, 2, 2, 2, 2, 2, 2"),
    ("3 Pair", THREE_PAIR, "push, loss, loss, loss, loss, loss, loss, loss"),
)

D002_C_ENVY = _block(
    ("002", "C, Envy Bonus"),
    "envy",
    "fixed",
    "E01, E02, E03, E04, E05, E06, E07, E08",
    (
        "7-Card Straight Flush, No Joker",
        SF7_NATURAL,
        "$1000, $5000, $3000, $1000, $2500, $2500, $5000, $1000",
    ),
    (
        "5-Card Royal Flush w/Natural Ace/King Suited",
        ROYAL_AK,
        "$250, $1000, $1000, $750, $500, $500, $1000, $750",
    ),
    (
        "7-Card Straight Flush w/ Joker",
        SF7_JOKER,
        "$100, $500, $500, $250, $250, $250, $500, $250",
    ),
    ("5 Aces", FIVE_ACES, "$50, $250, $250, $100, $150, $150, $250, $100"),
    ("5-Card Royal Flush", ROYAL, "$25, $50, $50, $50, $55, $55, $50, $50"),
    ("5-Card Straight Flush", SF, "$10, $20, $20, $20, $25, $25, $20, $20"),
    ("Four-of-a-Kind", QUADS, "$5, $5, $5, $5, $6, $6, $5, $5"),
)

D002_D = _block(
    ("002", "D"),
    "pai_gow_insurance_progressive",
    "for 1",
    "PT-BJS-EC-PGI-01, PT-BJS-EC-PGI-02, PT-BJS-EC-PGI-03, PT-BJS-EC-PGI-04, PT-BJS-EC-PGI-05",
    ("9-High (Same Color)", NINE_ONE_COLOUR, "100%, 100%, 100%, 100%, 100%"),
    ("9-High", NINE, "10%, 10%, $250, $500, $1000"),
    ("10-High", TEN, "$125, $100, $125, $125, $100"),
    ("Jack-High", JACK, "$30, $25, $30, $25, $25"),
    ("Queen-High", QUEEN, "$7, $10, $7, $5, $5"),
)

D002_E = _block(
    ("002", "E"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-BJS-EC-ET-01, PT-BJS-EC-ET-02, PT-BJS-EC-ET-03, PT-BJS-EC-ET-04",
    ("7-Card Straight Flush, No Joker", SF7_NATURAL, "100%, 100%, 100%, 100%"),
    ("5-Card Royal Flush w/ Natural Ace/King Suited", ROYAL_AK, "50%, 50%, n/a, 50%"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "25%, 25%, 100%, 25%"),
    ("Five Aces", FIVE_ACES, "$1000, $2000, 10%, $2000"),
    ("5-Card Royal Flush", ROYAL, "$175, $250, $500, $250"),
    ("5-Card Straight Flush", SF, "$150, $150, $100, $150"),
    ("4-of-a-Kind", QUADS, "$75, $65, $75, $75"),
    ("Full House", FULL_HOUSE, "$5, $5, $4, $5"),
)

D002_F_UPPER = _block(
    ("002", "F"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-PRG-MLP-ET-01, PT-PRG-MLP-ET-02",
    ("7-Card Straight Flush", SF7, "100% Lv.1, 100% Lv.1"),
    ("Five Aces", FIVE_ACES, "100% Lv.2, 100% Lv.2"),
    ("5-Card Royal Flush", ROYAL, "100% Lv.3, $500"),
    ("5-Card Straight Flush", SF, "$100, $100"),
    ("4-of-a-Kind", QUADS, "$75, $75"),
    ("Full House", FULL_HOUSE, "$6, $6"),
)

D002_F_LOWER = _block(
    ("002", "F"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-PRG-MLP-ET-03, PT-PRG-MLP-ET-04",
    ("7-Card Straight Flush, No Joker", SF7_NATURAL, "100% Lv.1, 100% Lv.1"),
    ("5-Card Royal Flush w/ Natural Ace/King Suited", ROYAL_AK, "100% Lv.2, 100% Lv.2"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "100% Lv.3, 100% Lv.3"),
    ("Five Aces", FIVE_ACES, "100% Lv.4, $2000"),
    ("5-Card Royal Flush", ROYAL, "$300, $300"),
    ("5-Card Straight Flush", SF, "$100, $100"),
    ("4-of-a-Kind", QUADS, "$75, $75"),
    ("Full House", FULL_HOUSE, "$5, $5"),
)

# Cells are the default pays; the ten dynamic pays of a row stand in DYNAMIC.
D002_G_D01 = _block(
    ("002", "G"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-PRG-EC-ET-D01",
    ("7-Card Straight Flush", SF7, "100% Lv.1"),
    ("5 Aces", FIVE_ACES, "100% Lv.2"),
    ("Royal Flush", ROYAL, "$200"),
    ("Straight Flush", SF, "$30"),
    ("Four-of-a-Kind", QUADS, "$20"),
    ("Full House", FULL_HOUSE, "$2"),
)

D002_G_D02 = _block(
    ("002", "G"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-PRG-EC-ET-D02",
    ("5 Aces", FIVE_ACES, "100%"),
    ("Royal Flush", ROYAL, "$200"),
    ("Straight Flush", SF, "$40"),
    ("Four-of-a-Kind", QUADS, "$30"),
    ("Full House", FULL_HOUSE, "$2"),
)

D002_G_D03 = _block(
    ("002", "G"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-PRG-EC-ET-D03",
    ("7-Card Straight Flush", SF7, "100%"),
    ("5 Aces", FIVE_ACES, "10%"),
    ("Royal Flush", ROYAL, "$200"),
    ("Straight Flush", SF, "$30"),
    ("Four-of-a-Kind", QUADS, "$20"),
    ("Full House", FULL_HOUSE, "$2"),
)

DYNAMIC: dict[str, dict[str, tuple[int, ...]]] = {
    "PT-PRG-EC-ET-D01": {
        ROYAL: (300, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
        SF: (45, 60, 90, 120, 150, 180, 210, 240, 270, 300),
        QUADS: (30, 40, 60, 80, 100, 120, 140, 160, 180, 200),
        FULL_HOUSE: (3, 4, 6, 8, 10, 12, 14, 16, 18, 20),
    },
    "PT-PRG-EC-ET-D02": {
        ROYAL: (300, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
        SF: (60, 80, 120, 160, 200, 240, 280, 320, 360, 400),
        QUADS: (45, 60, 90, 120, 150, 180, 210, 240, 270, 300),
        FULL_HOUSE: (3, 4, 6, 8, 10, 12, 14, 16, 18, 20),
    },
    "PT-PRG-EC-ET-D03": {
        ROYAL: (300, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
        SF: (45, 60, 90, 120, 150, 180, 210, 240, 270, 300),
        QUADS: (30, 40, 60, 80, 100, 120, 140, 160, 180, 200),
        FULL_HOUSE: (3, 4, 6, 8, 10, 12, 14, 16, 18, 20),
    },
}

# ---- Document 003: Emperor's Challenge Exposed, Washington ----

D003_A = _block(
    ("003", "A"),
    "pai_gow_insurance",
    "to 1",
    "PT-FLT-EC-PGI-01, PT-FLT-EC-PGI-02, PT-FLT-EC-PGI-03, PT-FLT-EC-PGI-04, PT-FLT-EC-PGI-05",
    ("9-High Pai Gow", NINE, "400, 250, 100, 100, 100"),
    ("10-High Pai Gow", TEN, "40, 75, 50, 25, 25"),
    ("Jack-High Pai Gow", JACK, "20, 25, 25, 15, 15"),
    ("Queen-High Pai Gow", QUEEN, "5, 5, 10, 6, 7"),
    ("King-High Pai Gow", KING, "3, 3, 5, 5, 5"),
    ("Ace-High Pai Gow", ACE, "2, 2, 1, 3, 3"),
)

D003_B_UPPER = _block(
    ("003", "B"),
    "emperors_treasure",
    "to 1",
    "PT-FLT-EC-ET-E01, PT-FLT-EC-ET-E02, PT-FLT-EC-ET-E03",
    ("7-Card Straight Flush (No Joker)", SF7_NATURAL, "5000 | $1000, 8000 | $5000, 5000 | $3000"),
    ("Royal Flush w/ A-K Suited", ROYAL_AK, "1000 | $250, 2000 | $1000, 2000 | $1000"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "750 | $100, 1000 | $500, 1000 | $500"),
    ("5 Aces", FIVE_ACES, "250 | $50, 400 | $250, 400 | $250"),
    ("Royal Flush", ROYAL, "100 | $25, 150 | $50, 150 | $50"),
    ("Straight Flush", SF, "50 | $10, 50 | $20, 50 | $20"),
    ("4-of-a-Kind", QUADS, "20 | $5, 25 | $5, 25 | $5"),
    ("Full House", FULL_HOUSE, "5 | -, 5 | -, 5 | -"),
    ("Flush", FLUSH, "4 | -, 4 | -, 4 | -"),
    ("3-of-a-Kind", TRIPS, "3 | -, 3 | -, 3 | -"),
    ("Straight", STRAIGHT, "2 | -, 2 | -, 2 | -"),
    ("3 Pair", THREE_PAIR, "push | -, - | -, - | -"),
)

# Printed in this order: E04, E09, E06.
D003_B_LOWER = _block(
    ("003", "B"),
    "emperors_treasure",
    "to 1",
    "PT-FLT-EC-ET-E04, PT-FLT-EC-ET-E09, PT-FLT-EC-ET-E06",
    ("7-Card Straight Flush (No Joker)", SF7_NATURAL, "2500 | $1000, 5000 | $2500, 5000 | $2500"),
    ("Royal Flush w/ A-K Suited", ROYAL_AK, "1000 | $750, 1000 | $500, 2000 | $500"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "750 | $250, 500 | $250, 1000 | $250"),
    ("5 Aces", FIVE_ACES, "250 | $100, 300 | $150, 400 | $150"),
    ("Royal Flush", ROYAL, "125 | $50, 110 | $55, 150 | $55"),
    ("Straight Flush", SF, "50 | $20, 45 | $25, 50 | $25"),
    ("4-of-a-Kind", QUADS, "25 | $5, 25 | $6, 25 | $6"),
    ("Full House", FULL_HOUSE, "5 | -, 5 | -, 5 | -"),
    ("Flush", FLUSH, "4 | -, 4 | -, 4 | -"),
    ("3-of-a-Kind", TRIPS, "3 | -, 3 | -, 3 | -"),
    ("Straight", STRAIGHT, "2 | -, 2 | -, 2 | -"),
    ("3 Pair", THREE_PAIR, "- | -, - | -, - | -"),
)

D003_C = _block(
    ("003", "C"),
    "ace_high_pai_gow_insurance",
    "to 1",
    "PT-FLT-AHPG-01, PT-FLT-AHPG-02, PT-FLT-AHPG-03, PT-FLT-AHPG-04, PT-FLT-AHPG-05",
    ("Dealer and Player Ace High Pai Gow", BOTH_ACE, "20, 40, 30, 25, 40"),
    ("Dealer Ace High Pai Gow, with Joker", DEALER_ACE_JOKER, "10, 15, 15, 10, 12"),
    ("Dealer Ace High Pai Gow, No Joker", DEALER_ACE_NO_JOKER, "8, 5, 6, 7, 5"),
)

D003_D = _block(
    ("003", "D"),
    "pai_gow_insurance_progressive",
    "for 1",
    "PT-BJS-EC-PGI-01, PT-BJS-EC-PGI-02, PT-BJS-EC-PGI-03, PT-BJS-EC-PGI-04, PT-BJS-EC-PGI-05",
    ("9-High Pai Gow, Same Color", NINE_ONE_COLOUR, "100%, 100%, 100%, 100%, 100%"),
    ("9-High Pai Gow", NINE, "10%, 10%, $250, $500, $1000"),
    ("10-High Pai Gow", TEN, "$125, $100, $125, $125, $100"),
    ("Jack-High Pai Gow", JACK, "$30, $25, $30, $25, $25"),
    ("Queen-High Pai Gow", QUEEN, "$7, $10, $7, $5, $5"),
)

D003_E_UPPER = _block(
    ("003", "E"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-BJS-EC-ET-05",
    ("7-Card Straight Flush (No Joker)", SF7_NATURAL, "100%"),
    ("Royal Flush w/ A-K Suited (see Note 3)", ROYAL_AK, "100%"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "100%"),
    ("5 Aces", FIVE_ACES, "100%"),
    ("Royal Flush (No Joker)", ROYAL_NATURAL, "100%"),
    ("Royal Flush", ROYAL, "$325"),
    ("Straight Flush", SF, "$75"),
    ("4-of-a-Kind", QUADS, "$50"),
    ("3 Pair", THREE_PAIR, "$7"),
    ("Full House", FULL_HOUSE, "$5"),
)

# Printed in this order: 13, 09, 11, 17, 21.
D003_E_MIDDLE = _block(
    ("003", "E"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-BJS-EC-ET-13, PT-BJS-EC-ET-09, PT-BJS-EC-ET-11, PT-BJS-EC-ET-17, PT-BJS-EC-ET-21",
    ("7-Card Straight Flush (No Joker)", SF7_NATURAL, "100%, 100%, 100%, 100%, 100%"),
    ("Royal Flush w/ A-K Suited (see Note 3)", ROYAL_AK, "50%, 50%, 100%, 100%, 100%"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "25%, 10%, 100%, 100%, 100%"),
    ("5 Aces", FIVE_ACES, "$2500, $2500, $2500, 100%, 100%"),
    ("Royal Flush", ROYAL, "$200, $200, $200, $200, $325"),
    ("Straight Flush", SF, "$100, $100, $100, $100, $75"),
    ("4-of-a-Kind", QUADS, "$75, $75, $75, $75, $50"),
    ("Full House", FULL_HOUSE, "$6, $6, $6, $6, $5"),
)

# Printed in this order: 12, 10, 22, 14, 19, 16.
D003_E_LOWER = _block(
    ("003", "E"),
    "emperors_treasure_progressive",
    "for 1",
    "PT-BJS-EC-ET-12, PT-BJS-EC-ET-10, PT-BJS-EC-ET-22, "
    "PT-BJS-EC-ET-14, PT-BJS-EC-ET-19, PT-BJS-EC-ET-16",
    ("7-Card Straight Flush (No Joker)", SF7_NATURAL, "100%, 100%, 100%, 100%, 100%, 100%"),
    ("Royal Flush w/ A-K Suited (see Note 3)", ROYAL_AK, "50%, 50%, 50%, 50%, 50%, 100%"),
    ("7-Card Straight Flush w/ Joker", SF7_JOKER, "25%, 10%, 25%, 25%, 25%, 100%"),
    ("5 Aces", FIVE_ACES, "$1500, $2500, $2500, $1500, $2500, $2500"),
    ("Royal Flush", ROYAL, "$200, $200, $200, $200, $200, $200"),
    ("Straight Flush", SF, "$80, $80, $80, $80, $100, $80"),
    ("4-of-a-Kind", QUADS, "$50, $50, $50, $40, $75, $50"),
    ("3 Pair", THREE_PAIR, "$7, $7, $7, $6, $7, $7"),
    ("Full House", FULL_HOUSE, "$5, $5, $5, $5, $5, $5"),
)

PRINTED: tuple[Printed, ...] = (
    *(*D000_A, *D000_B, *D000_B_ENVY, *D000_C, *D000_D),
    *(*D001_A, *D001_B, *D001_C),
    *(*D002_A, *D002_B, *D002_C, *D002_C_ENVY, *D002_D, *D002_E, *D002_F_UPPER, *D002_F_LOWER),
    *(*D002_G_D01, *D002_G_D02, *D002_G_D03),
    *(*D003_A, *D003_B_UPPER, *D003_B_LOWER, *D003_C, *D003_D),
    *(*D003_E_UPPER, *D003_E_MIDDLE, *D003_E_LOWER),
)
"""Every pay table of documents 000 to 003, once for each document that prints it."""

# Document 003, Appendix F "Example Table Layouts" prints three tables without an id; the id here
# is the one whose numbers they are. The treasure table and the insurance table are printed twice,
# the same both times. The empty envy cells below four of a kind are "-"; there is no 3 Pair row.
LAYOUTS: tuple[Printed, ...] = (
    *_block(
        ("003", "F"),
        "emperors_treasure",
        "to 1",
        "PT-FLT-EC-ET-E02",
        ("7 Card Straight Flush (No Joker)", SF7_NATURAL, "8000 | $5000"),
        ("Royal Flush + Ace/King Suited", ROYAL_AK, "2000 | $1000"),
        ("7 Card Straight Flush (with Joker)", SF7_JOKER, "1000 | $500"),
        ("5 Aces", FIVE_ACES, "400 | $250"),
        ("Royal Flush", ROYAL, "150 | $50"),
        ("Straight Flush", SF, "50 | $20"),
        ("Four of a Kind", QUADS, "25 | $5"),
        ("Full House", FULL_HOUSE, "5 | -"),
        ("Flush", FLUSH, "4 | -"),
        ("Three of a Kind", TRIPS, "3 | -"),
        ("Straight", STRAIGHT, "2 | -"),
    ),
    *_block(
        ("003", "F"),
        "pai_gow_insurance",
        "to 1",
        "PT-FLT-EC-PGI-05",
        ("9-High", NINE, "100"),
        ("10-High", TEN, "25"),
        ("JACK-High", JACK, "15"),
        ("QUEEN-High", QUEEN, "7"),
        ("KING-High", KING, "5"),
        ("ACE-High", ACE, "3"),
    ),
    *_block(
        ("003", "F"),
        "ace_high_pai_gow_insurance",
        "to 1",
        "PT-FLT-AHPG-02",
        ("Dealer & Player Ace High", BOTH_ACE, "40"),
        ("Dealer Ace High w/ Joker", DEALER_ACE_JOKER, "15"),
        ("Dealer Ace High w/ no Joker", DEALER_ACE_NO_JOKER, "5"),
    ),
)
"""The example layouts of document 003, which show pay tables without naming them."""
