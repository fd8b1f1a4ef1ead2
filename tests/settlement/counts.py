"""Of the 154,143,080 hands of seven cards, how many make each row of the usual pay tables."""

TREASURE_COUNTS = {
    "seven_card_straight_flush_natural": 32,
    "royal_flush_with_suited_ace_king": 72,
    "seven_card_straight_flush_joker": 196,
    "five_aces": 1_128,
    "royal_flush": 26_020,
    "straight_flush": 184_644,
    "four_of_a_kind": 307_472,
    "full_house": 4_188_528,
    "flush": 6_172_088,
    "three_of_a_kind": 7_672_500,
    "straight": 11_034_204,
    "three_pair": 2_862_000,
}
PAI_GOW_COUNTS = {
    "nine_high": 31_080,
    "ten_high": 248_640,
    "jack_high": 963_480,
    "queen_high": 2_719_500,
    "king_high": 6_386_940,
    "ace_high": 14_430_780,
}
