"""Ways of mistakes that are made while bets are laid and cards dealt.

Each function changes a draft of the round and returns whether there was room for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

from datasets.simulate.chipwork import STACK_CHIPS, value_cents
from datasets.simulate.dealing import five_aces, four_of_a_kind
from datasets.simulate.draft import Draft
from datasets.simulate.mistakes.catalogue import HOUSE_CODES
from datasets.simulate.stakes import limit_breaks, stake_chips, within
from settlement.games import JACKPOTS, players_bank

EarlyWay = Callable[[Draft], bool]


def _limit(over: bool) -> EarlyWay:
    def way(draft: Draft) -> bool:
        """A stake beyond one of the limits."""
        choices = []
        for number, own in enumerate(draft.bets):
            for wager in own.stakes:
                limit = draft.terms.limits.get(wager)
                for cents in limit_breaks(wager, draft.table):
                    low = limit is not None and cents < (limit.min_cents or 0)
                    alone = wager != "main" or draft.occasion.hands.get(own.seat, 1) == 1
                    if low != over and alone and (own.seat, wager) not in draft.late:
                        choices.append((number, wager, cents))
        if not choices:
            return False
        number, wager, cents = draft.rng.choice(choices)
        draft.stake(number, wager, cents)
        kept = "over the maximum" if over else "under the minimum"
        seat = draft.bets[number].seat
        draft.fault("LIMIT", seat, wager, f"{cents} cents, {kept}", ("laid", seat, wager))
        return True

    return way


def _limit_hands(draft: Draft) -> bool:
    """A player with several hands stakes the minimum for one hand on one of them."""
    several = draft.terms.several_hands
    limit = draft.terms.limits.get("main")
    if several is None or limit is None or not limit.min_cents:
        return False
    numbers = [
        n for n, own in enumerate(draft.bets)
        if "main" in own.stakes and (own.seat, "main") not in draft.late
    ]  # fmt: skip
    several_hands = [n for n in numbers if _count(draft, n) > 1]
    if not several_hands:
        several_hands = _second_hand(draft, numbers)
    if not several_hands:
        return False
    number = draft.rng.choice(several_hands)
    hands = _count(draft, number)
    least = several.least(hands, limit.min_cents)
    cents = draft.rng.choice([limit.min_cents, least - 500])
    if not limit.min_cents <= cents < least:
        return False
    draft.stake(number, "main", cents)
    seat = draft.bets[number].seat
    note = f"{cents} cents, under the minimum for {hands} hands"
    draft.fault("LIMIT", seat, "main", note, ("laid", seat, "main"))
    return True


def _second_hand(draft: Draft, numbers: list[int]) -> list[int]:
    """Let a player have the seat beside theirs for the round; the places of both hands."""
    several, limit = draft.terms.several_hands, draft.terms.limits["main"]
    pairs = [(a, b) for a, b in pairwise(numbers) if b == a + 1]
    if not pairs or several is None:
        return []
    pair = draft.rng.choice(pairs)
    draft.bets[pair[1]] = replace(draft.bets[pair[1]], player=draft.bets[pair[0]].player)
    least = several.least(2, limit.min_cents or 0)
    for number in pair:
        if draft.cents(draft.bets[number], "main") < least:
            draft.stake(number, "main", least)
    return list(pair)


def _count(draft: Draft, number: int) -> int:
    """How many hands of the round are the player's."""
    own = draft.bets[number]
    return sum(1 for bets in draft.bets if own.player is not None and bets.player == own.player)


def _limit_coins(draft: Draft) -> bool:
    numbers = [
        (n, wager) for n, own in enumerate(draft.bets) for wager in own.stakes if wager in JACKPOTS
    ]
    if not numbers:
        return False
    number, wager = draft.rng.choice(numbers)
    own = draft.bets[number]
    draft.bets[number] = own.with_stake(wager, own.stakes[wager] * 2)
    draft.fault("LIMIT", own.seat, wager, "two coins", ("laid", own.seat, wager))
    return True


def _late(kind: str) -> EarlyWay:
    def way(draft: Draft) -> bool:
        """A bet that grows, shrinks or appears after bets are closed."""
        # A stake that has a lammer is left alone: the lammer would be wrong as well.
        lammer = any(lammer.envy for lammer in draft.terms.game.lammers)
        guarded = draft.treasure if lammer else None
        choices = [
            (n, wager)
            for n, own in enumerate(draft.bets)
            for wager in own.stakes
            if wager not in JACKPOTS and wager != guarded and wager not in own.stacks
        ]
        if kind == "appeared":
            choices = [(n, wager) for n, wager in choices if wager != "main"]
            choices += [
                (n, wager)
                for n, own in enumerate(draft.bets)
                for wager in draft.terms.tables
                if draft.offers(n, wager) and wager not in own.stakes and wager not in JACKPOTS
                and wager not in (guarded, "envy")
            ]  # fmt: skip
        draft.rng.shuffle(choices)
        if kind == "appeared":
            choices = [(n, wager) for n, wager in choices if not _is_marked(draft, n, wager)]
        return any(_moved_late(draft, number, wager, kind) for number, wager in choices)

    return way


def _is_marked(draft: Draft, number: int, wager: str) -> bool:
    """Whether a DEALER lammer, laid at the close, would lie by no stake until it appears."""
    kinds = {lammer.kind: lammer.wager for lammer in draft.terms.game.lammers}
    return draft.bets[number].insures_dealer and kinds.get("dealer") == wager


def _moved_late(draft: Draft, number: int, wager: str, kind: str) -> bool:
    own, chips, rules = draft.bets[number], draft.table.chips, draft.table.rules
    last = own.stakes.get(wager, ())
    if kind == "appeared":
        if not last:
            least = draft.terms.limits.get(wager)
            cents = max(500, (least.min_cents or 0) if least else 0)
            draft.stake(number, wager, cents)
            own = draft.bets[number]
        first: tuple[str, ...] = ()
    elif kind == "grew":
        if len(last) < 2:
            last = stake_chips(value_cents(last, chips), draft.table, "small", draft.rng)
        keep = draft.rng.randint(1, max(1, len(last) - 1))
        first = last[:keep]
        own = own.with_stake(wager, last)
    else:
        more = draft.rng.randint(1, 3)
        first = (*last, *([last[-1]] * more))
        own = own.with_stake(wager, last)
    ends = [cents for cents in (value_cents(first, chips),) if cents]
    if first == own.stakes[wager] or len(first) > STACK_CHIPS:
        return False
    if not all(within(cents, wager, rules) for cents in ends):
        return False
    draft.bets[number] = replace(own, first={**own.first, wager: first})
    draft.late.add((own.seat, wager))
    was, now = value_cents(first, chips), value_cents(own.stakes[wager], chips)
    note = f"{kind} from {was} to {now} cents"
    draft.fault("LATE_BET", own.seat, wager, note, ("moved", own.seat, wager))
    return True


def _envy(draft: Draft) -> bool:
    """Two qualifying stakes, and four of a kind for one seat."""
    treasure = draft.treasure
    if treasure is None or len(draft.bets) < 2:
        return False
    if not draft.ensure_stake(treasure, 2, draft.table.rules.envy_min_cents):
        return False
    seats = [own.seat for own in draft.bets]
    envy = draft.terms.envy
    if envy is not None and envy.trigger_needs_wager:
        seats = [own.seat for own in draft.bets if draft.cents(own, treasure)]
    draft.rigged[draft.rng.choice(seats)] = four_of_a_kind(draft.rng)
    return True


def _lammer(draft: Draft) -> bool:
    treasure = draft.treasure
    if treasure is None:
        return False
    return draft.ensure_stake(treasure, 1, draft.table.rules.envy_min_cents)


def _lammer_extra(draft: Draft) -> bool:
    """A stake on treasure that is too small for envy."""
    treasure, least = draft.treasure, draft.table.rules.envy_min_cents
    if treasure is None:
        return False
    if any(0 < draft.cents(own, treasure) < least for own in draft.bets):
        return True
    small = [c for c in (100, 200, 300) if c < least and within(c, treasure, draft.table.rules)]
    numbers = [n for n in range(len(draft.bets)) if draft.offers(n, treasure)]
    if not small or not numbers:
        return False
    draft.stake(draft.rng.choice(numbers), treasure, draft.rng.choice(small))
    return True


def _large(draft: Draft) -> bool:
    """Five aces with a side stake large enough for a hand pay."""
    for wager in draft.rng.sample(list(draft.terms.tables), len(draft.terms.tables)):
        table = draft.terms.tables[wager]
        row = next((row for row in table.rows if row.category == "five_aces"), None)
        if row is None or wager in JACKPOTS or wager == "envy" or not row.value.odds:
            continue
        stake = int(draft.table.rules.hand_pay_cents / row.value.odds) // 500 * 500 + 500
        numbers = [n for n in range(len(draft.bets)) if draft.offers(n, wager)]
        if numbers and within(stake, wager, draft.table.rules):
            number = draft.rng.choice(numbers)
            draft.stake(number, wager, stake)
            draft.rigged[draft.bets[number].seat] = five_aces(draft.rng)
            return True
    return False


_NINE_HIGH_RED = ("2H", "3D", "4H", "5D", "7H", "8D", "9H")
_PERCENT_HANDS = {
    "five_aces": ("AC", "AD", "AH", "AS", "JOKER"),
    "nine_high_one_colour": _NINE_HIGH_RED,
    "seven_card_straight_flush_natural": ("5S", "6S", "7S", "8S", "9S", "TS", "JS"),
    "seven_card_straight_flush": ("4C", "5C", "6C", "7C", "8C", "9C", "TC"),
}


def _jackpot(draft: Draft) -> bool:
    """A hand that hits a jackpot's meter."""
    choices = [
        (n, wager, row.category)
        for wager, table in draft.terms.tables.items() if wager in JACKPOTS
        for row in table.rows if row.percent and row.category in _PERCENT_HANDS
        for n in range(len(draft.bets)) if draft.offers(n, wager)
    ]  # fmt: skip
    if not choices:
        return False
    number, wager, category = draft.rng.choice(choices)
    draft.stake(number, wager, draft.terms.progressives[wager].base_cents)
    draft.rigged[draft.bets[number].seat] = _PERCENT_HANDS[category]
    return True


def _player_banks(draft: Draft) -> bool:
    """A player banks, so that a house wager lies; one who has a single hand, and no mistake yet."""
    if draft.occasion.banker is not None:
        return True
    wrong = {fault.seat for fault in draft.faults}
    free = [
        n for n, own in enumerate(draft.bets)
        if _count(draft, n) == 1 and own.seat not in wrong and "main" not in own.first
    ]  # fmt: skip
    if not players_bank(draft.table.rules.game) or not free or len(draft.bets) < 2:
        return False
    number = draft.rng.choice(free)
    draft.without(number, "main")
    cents = draft.rng.choice([c for c in (500, 1000, 2500, 5000) if _fits(draft, c)])
    house = stake_chips(cents, draft.table, False, draft.rng)
    draft.occasion = replace(draft.occasion, banker=draft.bets[number].seat, house=house)
    return True


def _fits(draft: Draft, cents: int) -> bool:
    return within(cents, "main", draft.table.rules)


BET_WAYS: Mapping[tuple[str, str], EarlyWay] = {
    ("LIMIT", "under"): _limit(over=False),
    ("LIMIT", "over"): _limit(over=True),
    ("LIMIT", "hands"): _limit_hands,
    ("LIMIT", "coins"): _limit_coins,
    ("LATE_BET", "grew"): _late("grew"),
    ("LATE_BET", "shrank"): _late("shrank"),
    ("LATE_BET", "appeared"): _late("appeared"),
    ("ENVY_MISSED", "missed"): _envy,
    ("ENVY_WRONG", "sum"): _envy,
    ("ENVY_WRONG", "unearned"): _envy,
    ("LAMMER", "missing"): _lammer,
    ("LAMMER", "place"): _lammer,
    ("LAMMER", "extra"): _lammer_extra,
    **{(code, "house"): _player_banks for code in HOUSE_CODES},
    ("HAND_PAY", "large"): _large,
    ("HAND_PAY", "jackpot"): _jackpot,
}
"""Ways that need bets or cards; a mistake made later may stand here for what it needs."""
