"""Which mistakes and troubles a shift is to contain, in which rounds, and in which ways.

Every code of the alert catalogue has one or more ways in which it is put in; `WAYS` lists
them (also `feltwatch simulate --list-faults`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from settlement.compare.finding import MONEY_CODES
from settlement.errors import FeltwatchError

WAYS: Mapping[str, Mapping[str, str]] = {
    "HOUSE_WAY": {
        "slip": "the dealer sets another legal pair of hands",
        "foul": "the dealer's low hand outranks the high hand",
        "eighth": "a draw dealer leaves out another card than the house way does",
    },
    "OVERPAID": {
        "chip": "a chip too many, or one of the next higher value",
        "twice": "the payout is laid twice",
        "commission": "the commission is not taken",
        "uncollected": "the commission that is collected later is not collected",
        "house": "the house wager against a player who banks gets too much",
        "late": "too much is laid and corrected only after the cards are taken",
    },
    "UNDERPAID": {
        "chip": "a chip too few, or one of the next lower value",
        "even": "a better payout is laid at even money",
        "house": "the house wager gets too little",
        "late": "too little is laid and corrected only after the cards are taken",
    },
    "NOT_PAID": {
        "left": "a winner is left as a push is",
        "house": "the house wager wins and is left",
        "late": "a winner is paid only after the cards are taken",
    },
    "WRONG_SPOT": {
        "winner": "a pay is laid with that of another wager of the seat",
        "push": "a pay is laid beside a wager of the seat that pushes",
    },
    "PAID_LOSER": {
        "even": "a loser is paid even money",
        "house": "the house wager loses and is paid",
        "half": "a loser is paid about half its stake",
    },
    "PAID_PUSH": {
        "even": "a push is paid even money",
        "house": "the house wager pushes and is paid",
        "half": "a push is paid about half its stake",
    },
    "TOOK_WINNER": {
        "main": "a winning main wager is taken",
        "side": "a winning side wager is taken",
        "house": "the house wager wins and is taken",
    },
    "TOOK_PUSH": {
        "taken": "a wager that pushes is taken",
        "house": "the house wager pushes and is taken",
    },
    "NOT_TAKEN": {
        "main": "a losing main wager is left",
        "side": "a losing side wager is left",
        "house": "the house wager loses and is left",
    },
    "ENVY_MISSED": {"missed": "a prize that is due is not paid"},
    "ENVY_WRONG": {
        "sum": "a prize of the wrong sum",
        "unearned": "a prize for the own hand or without a qualifying stake",
    },
    "LAMMER": {
        "missing": "no ENVY lammer lies by a stake that qualifies",
        "extra": "an ENVY lammer lies by a stake that is too small",
        "place": "an ENVY lammer lies by another wager than its own",
        "no_stake": "a DEALER lammer lies by no stake",
    },
    "LIMIT": {
        "under": "a stake under the minimum",
        "over": "a stake over the maximum",
        "hands": "a player with two or three hands stakes too little on one",
        "coins": "two coins on a jackpot sensor",
    },
    "FOUL": {
        "rank": "a low hand that outranks the high hand is not settled as a foul",
        "boxes": "boxes that hold three and four cards are not settled as a foul",
    },
    "DECK": {
        "twin": "the same card lies at two seats",
        "jokers": "two jokers are dealt",
        "many": "a hand has eight cards",
        "few": "a hand has six cards",
        "dealer": "the dealer's hands have eight cards where nobody draws",
    },
    "HAND_PAY": {
        "large": "a pay too large for the tray",
        "jackpot": "a pay from a jackpot's meter",
    },
    "LATE_BET": {
        "grew": "a bet grows after bets are closed",
        "shrank": "a bet shrinks after bets are closed",
        "appeared": "a bet appears after bets are closed",
    },
    "CARD_MOVED": {
        "hand": "two cards change hands of a seat after it was shown",
        "seat": "two seats change a card after hands were set",
        "face": "a player turns a card up before the dealer does",
        "face_down": "a card that was shown is turned down again",
        "dealer": "the dealer changes two cards between the own hands once they were set",
    },
    "PROCEDURE": {
        "taken_up": "a player takes a set hand up again when it is too late for that",
        "set_late": "a player sets a hand only after the dealer's cards are shown",
        "looked_at": "a player takes one of the two set hands up again when it is too late",
        "shown_early": "a player's hand is turned up before the dealer's",
        "bet_touched": "a player lifts a stake after the deal and lays it again",
        "bet_taken": "a player takes a stake away after the deal",
        "coin_unregistered": "a jackpot's coin lights its lamp, and the system has none registered",
        "lit_alone": "a sensor's lamp lights without a coin, and the system has none registered",
        "coin_unseen": "a jackpot's coin is registered, and its lamp stays unlit",
        "second_discard": "a player discards a second card, and draws two",
        "discard_late": "a player lays a card of the set hand beside the bet and takes it back",
        "wrong_first_seat": "the deal begins at another place than the dice name",
    },
    "UNDECIDED": {
        "card": "a card hides another's index all the time",
        "hand": "a player's hand rests on a card all the time",
    },
    "SILENT": {
        "dispute": "hands lie undecided for minutes while people reach over the felt",
        "chips": "chips come and go for minutes and nothing is dealt",
        "cards": "cards are spread, mixed and gathered for minutes and nothing is dealt",
    },
    "CAMERA": {
        "black": "no image: black with the clock running on",
        "lost": "no signal: one grey frame without a clock",
        "frozen": "the same frame, clock and all, again and again",
        "stuck": "the image stands still while the clock runs on",
        "blocked": "something near the lens hides a part of the felt",
        "covered": "something near the lens hides all of the felt",
        "dark": "the light goes out",
        "focus": "the image goes out of focus",
        "moved": "the camera is knocked aside and stays there",
        "turned": "the camera turns slowly to another place",
    },
}
"""Every code with the ways in which it can be put in."""

HOUSE_CODES = (
    "OVERPAID", "UNDERPAID", "NOT_PAID", "PAID_LOSER", "PAID_PUSH", "TOOK_WINNER", "TOOK_PUSH",
    "NOT_TAKEN",
)  # fmt: skip
"""The mistakes that can be made with the house wager."""

NAMED_WAYS = frozenset({
    "OVERPAID/uncollected", "DECK/dealer", "CARD_MOVED/dealer",
    "PROCEDURE/bet_taken", "PROCEDURE/coin_unregistered", "PROCEDURE/lit_alone",
    "PROCEDURE/coin_unseen", "PROCEDURE/second_discard", "PROCEDURE/discard_late",
    "PROCEDURE/wrong_first_seat",
    *(f"{code}/house" for code in HOUSE_CODES),
})  # fmt: skip
"""Ways that come only by their names: a code alone draws from the others, so that a seed gives the
shift that it gave before these were added."""

DRAWN_CODES: tuple[str, ...] = (
    "HOUSE_WAY",
    *MONEY_CODES,
    "LAMMER",
    "LIMIT",
    "FOUL",
)
"""The mistakes that a bare rate draws from."""

CODES: tuple[str, ...] = tuple(WAYS)
"""All that can be asked for; what is not in DRAWN_CODES comes only by its name."""

UNSEEN_BY_RULES = frozenset(
    {"LATE_BET", "CARD_MOVED", "PROCEDURE", "UNDECIDED", "SILENT", "CAMERA"}
)
"""Codes that the simulator's record of a round does not raise: they are of the image and its
time. What `vision` sees of late bets and moved cards comes into its own records."""

MOST_PER_ROUND = 2
_WORD = re.compile(
    r"(?P<code>[A-Z_]+)(?:/(?P<way>[A-Z_]+))?(?::(?P<rate>[0-9.]+))?(?:@(?P<round>[0-9]+))?"
)


def split_wish(wish: str) -> tuple[str, str | None]:
    """A wish's code and way.

    >>> split_wish("CAMERA/frozen"), split_wish("FOUL")
    (('CAMERA', 'frozen'), ('FOUL', None))
    """
    code, _, way = wish.partition("/")
    return code, way or None


def drawn_ways(code: str) -> list[str]:
    """The ways that a code alone stands for.

    >>> drawn_ways("PROCEDURE")
    ['taken_up', 'set_late', 'looked_at', 'shown_early', 'bet_touched']
    """
    return [way for way in WAYS[code] if f"{code}/{way}" not in NAMED_WAYS]


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Mistakes by rate, by kind at drawn rounds, by kind at given rounds, and by kind and rate.

    A kind is a code, or a code and a way such as 'OVERPAID/twice'.

    >>> FaultPlan.parse("OVERPAID@3,HOUSE_WAY").at
    (('OVERPAID', 3),)
    >>> FaultPlan.parse("0.25").rate
    0.25
    >>> FaultPlan.parse("OVERPAID:0.05,CAMERA/frozen@2")
    FaultPlan(rate=0.0, kinds=(), at=(('CAMERA/frozen', 2),), rates=(('OVERPAID', 0.05),))
    """

    rate: float = 0.0
    kinds: tuple[str, ...] = ()
    at: tuple[tuple[str, int], ...] = ()
    rates: tuple[tuple[str, float], ...] = ()

    @classmethod
    def parse(cls, words: str) -> FaultPlan:
        """Read 'none', a rate such as '0.3', or kinds such as 'OVERPAID,TOOK_PUSH@4'.

        A kind may have a way ('DECK/jokers') and a rate per round ('OVERPAID:0.05'). Raises
        FeltwatchError for a word that is none of these.
        """
        text = words.strip()
        if text.lower() in ("", "none"):
            return cls()
        rate = 0.0
        kinds: list[str] = []
        at: list[tuple[str, int]] = []
        rates: list[tuple[str, float]] = []
        for word in (part.strip() for part in text.split(",")):
            share = _share(word)
            if share is not None:
                rate = share
                continue
            match = _WORD.fullmatch(word.upper())
            if match is None or match["code"] not in WAYS:
                raise FeltwatchError(
                    f"--faults: {word!r} is no kind of mistake; write none, a rate such as 0.3, "
                    f"or kinds such as OVERPAID or OVERPAID@3 from {', '.join(CODES)}"
                )
            kind = match["code"]
            if match["way"]:
                kind = f"{kind}/{_way(kind, match['way'].lower())}"
            if match["rate"] and match["round"]:
                raise FeltwatchError(f"--faults {word}: give a rate or a round, not both")
            if match["rate"]:
                own = _share(match["rate"])
                rates.append((kind, own if own is not None else 0.0))
            elif match["round"]:
                at.append((kind, int(match["round"])))
            else:
                kinds.append(kind)
        return cls(rate=rate, kinds=tuple(kinds), at=tuple(at), rates=tuple(rates))

    def schedule(
        self, rounds: int, rng: random.Random, possible: Sequence[str] = DRAWN_CODES
    ) -> dict[int, tuple[str, ...]]:
        """Each round's mistakes, for rounds that have some; only `possible` kinds are drawn.

        Raises FeltwatchError when a round lies beyond the shift, a kind asked for is not
        possible, or more mistakes are wished for than rounds can hold.
        """
        named = [*self.kinds, *(kind for kind, _ in self.at), *(kind for kind, _ in self.rates)]
        for kind in named:
            if split_wish(kind)[0] not in possible:
                raise FeltwatchError(
                    f"--faults {kind}: the table's rules leave no room for it; "
                    "give [rules] the wager, pay table or limits it needs, or leave it out"
                )
        plan: dict[int, list[str]] = {number: [] for number in range(1, rounds + 1)}
        for kind, number in self.at:
            if number not in plan:
                raise FeltwatchError(
                    f"--faults {kind}@{number}: the shift has rounds 1 to {rounds}"
                )
            plan[number].append(kind)
            if len(plan[number]) > MOST_PER_ROUND:
                raise FeltwatchError(
                    f"--faults: more than {MOST_PER_ROUND} mistakes in round {number}; "
                    "spread them over other rounds"
                )
        for kind in self.kinds:
            self._place(plan, kind, rng)
        for kind, rate in self.rates:
            free = [number for number, kinds in plan.items() if len(kinds) < MOST_PER_ROUND]
            rng.shuffle(free)
            for number in free[: _drawn(rate, rounds)]:
                plan[number].append(kind)
        share = [n for n in plan if not plan[n]]
        rng.shuffle(share)
        bag: list[str] = []
        for number in share[: _drawn(self.rate, rounds)]:
            if not bag:
                bag = [code for code in possible if code in DRAWN_CODES]
                rng.shuffle(bag)
            plan[number].append(bag.pop())
        return {number: tuple(kinds) for number, kinds in plan.items() if kinds}

    @staticmethod
    def _place(plan: dict[int, list[str]], kind: str, rng: random.Random) -> None:
        fewest = min((len(kinds) for kinds in plan.values()), default=MOST_PER_ROUND)
        if fewest >= MOST_PER_ROUND:
            raise FeltwatchError(
                f"--faults: more mistakes than {len(plan)} rounds can hold "
                f"({MOST_PER_ROUND} to a round); ask for more rounds"
            )
        plan[rng.choice([n for n, kinds in plan.items() if len(kinds) == fewest])].append(kind)


def _drawn(rate: float, rounds: int) -> int:
    """How many of the rounds a rate gives; at least one where there is a rate."""
    return 0 if not rate else max(1, round(rate * rounds))


def _share(word: str) -> float | None:
    """A rate, or None where the word is no number."""
    try:
        rate = float(word)
    except ValueError:
        return None
    if not 0.0 <= rate <= 1.0:
        raise FeltwatchError(f"--faults {word}: a rate lies between 0 and 1, such as 0.3")
    return rate


def _way(code: str, way: str) -> str:
    if way not in WAYS[code]:
        raise FeltwatchError(
            f"--faults {code}/{way}: {code} has no such way; it has {', '.join(WAYS[code])}"
        )
    return way
