"""The round record: what lay on the felt in one round, seat by seat.

One JSON object per line. The simulator writes it as truth, the camera side produces it
from images, settling computes from it and scoring compares one with another. There is
no second form. A key a producer does not know is left out, never invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import json_data, key_twice, reading
from settlement.plain_words import plain_words

RANKS = "23456789TJQKA"
SUITS = "CDHS"
JOKER = "JOKER"
BOM = "\ufeff"
"""What some editors put before a text."""
HIGHEST_SEAT = 12
"""The highest number of a seat: numbers may be left out, tables have seven seats at most."""
DECK_LABELS: tuple[str, ...] = (*(r + s for r in RANKS for s in SUITS), JOKER)
"""All 53 card labels, as they stand in records and in the model's classes."""

_LABELS = frozenset(DECK_LABELS)


def card_label(text: str) -> str:
    """The label of a card as people write it: also in small letters, and 10 for T.

    Raises ValueError when it names no card.

    >>> card_label("as"), card_label("10H"), card_label("Joker")
    ('AS', 'TH', 'JOKER')
    """
    if text in _LABELS:
        return text
    label = text.strip().upper()
    if label.startswith("10"):
        label = f"T{label[2:]}"
    if label not in _LABELS:
        raise ValueError(
            f"{text!r} is no card: write rank then suit, such as 'AS' or 'TD', or 'JOKER'"
        )
    return label


def _seconds(value: str) -> str:
    try:
        number = Decimal(value)
    except ArithmeticError as error:
        raise ValueError(f"{value!r} is no decimal number of seconds") from error
    if not number.is_finite():
        raise ValueError(f"{value!r} is no finite number of seconds")
    return value


Cents = Annotated[int, Field(ge=0, le=10**12, strict=True)]
"""A sum of chips: whole cents, below ten thousand million dollars."""

Share = Annotated[float, Field(ge=0, le=1)]
CardLabel = Annotated[str, AfterValidator(card_label)]
Seconds = Annotated[str, AfterValidator(_seconds)]
Action = Literal["paid", "taken", "left"]


MOST_SUMS, LEAST_SUM = 8, 1e-4
"""The most sums that are listed of a stake or payout, the likeliest first, and the least
probability of a listed one."""


class Payment(Form):
    """Chips laid beside a stake, or taken back from there, at one time.

    >>> Payment(at_s="12.4", cents=-500).cents
    -500
    """

    at_s: Seconds
    cents: int = Field(strict=True, description="Laid; below 0 when chips were taken back.")


class LateBet(Form):
    """A stake that grew, shrank or appeared after bets were closed.

    >>> late = LateBet(before_cents=500, after_cents=1500, before_s="30.2", after_s="33.0")
    >>> late.how
    'grew'
    """

    before_cents: Cents = Field(description="What lay there after the close; 0: no chips.")
    after_cents: Cents = Field(gt=0, description="What lay there when the hand was turned up.")
    before_s: Seconds = Field(description="When it was seen last as it was.")
    after_s: Seconds = Field(description="When it was first seen at rest as it is.")

    @property
    def how(self) -> Literal["grew", "shrank", "appeared"]:
        """What became of the stake."""
        if not self.before_cents:
            return "appeared"
        return "grew" if self.after_cents > self.before_cents else "shrank"


class CardMove(Form):
    """Cards that changed hand, seat or face after hands were set.

    >>> CardMove(kind="hand", cards=("QS", "7D"), before_s="70.2", after_s="72.4").cards
    ('QS', '7D')
    """

    kind: Literal["hand", "seat", "face_up", "face_down", "reach"] = Field(
        description="'hand': between the low and the high hand; 'seat': the first card for the "
        "second, of `to_seat`; 'face_up': before the dealer turned the hand up; 'face_down': "
        "turned down after it was shown; 'reach': the player's arm was over the face-down cards of "
        "`to_seat`, and which cards moved was not seen."
    )
    cards: tuple[CardLabel, ...] = Field(description="None of a 'reach', else one or more.")
    to_seat: int | None = Field(
        None, ge=1, strict=True,
        description="Of 'seat' and 'reach' alone; none: the dealer's hand.",
    )  # fmt: skip
    before_s: Seconds = Field(
        description="When the cards were seen last as they were; when a reach began."
    )
    after_s: Seconds = Field(
        description="When they were first seen at rest as they are; when a reach ended."
    )

    @model_validator(mode="after")
    def _names_its_cards(self) -> Self:
        if bool(self.cards) == (self.kind == "reach"):
            raise ValueError(f"cards: {'none' if self.cards else 'one or more'} for {self.kind!r}")
        if self.kind == "reach" and self.to_seat is None:
            raise ValueError("to_seat: a 'reach' names the seat whose cards it was over")
        return self


class Breach(Form):
    """Something that the dealing procedure forbids at that time.

    >>> Breach(kind="taken_up", before_s="40.2", after_s="44.0").kind
    'taken_up'
    """

    kind: Literal[
        "taken_up",
        "set_late",
        "looked_at",
        "shown_early",
        "bet_touched",
        "bet_taken",
        "coin_unregistered",
        "coin_unseen",
        "second_discard",
        "discard_late",
    ] = Field(
        description="'taken_up': a hand that was set was taken up again; 'looked_at': its low or "
        "its high hand was; 'set_late': a hand was not set when it had to be; 'shown_early': it "
        "was turned up before the dealer's was; 'bet_touched': a stake was lifted and laid again; "
        "'bet_taken': it was taken away; 'coin_unregistered': a sensor's lamp was lit, and its "
        "system has no coin registered; 'coin_unseen': it has one, and the lamp stayed unlit; "
        "'second_discard': two cards were discarded; 'discard_late': one of a hand that was set."
    )
    wager: str | None = Field(None, description="Of a bet that was touched, or a coin.")
    before_s: Seconds = Field(description="When the seat was seen last as it was before.")
    after_s: Seconds = Field(description="When the seat was first seen so.")


class WagerRecord(Form):
    """One wager of a seat: what was staked and what the dealer did with it."""

    wager: str = Field(description="Wager name, such as 'main' or 'emperors_treasure'.")
    stake_cents: Cents | None = Field(None, description="Chips staked; none for 'envy'.")
    action: Action | None = Field(
        None,
        description="'paid': chips were laid beside the stake; 'taken'; 'left': a push or no act.",
    )
    paid_cents: Cents | None = Field(None, description="Chips laid, the stake not counted.")
    returned_cents: Cents | None = Field(
        None, description="Chips taken back from the payout: change given or commission."
    )
    payments: tuple[Payment, ...] | None = Field(
        None,
        description="The payout step by step, where it was seen; `paid_cents` is their sum. Of one "
        "payment alone whose sum is not sure it is the likeliest of `paid_sums`.",
    )
    late: LateBet | None = Field(
        None, description="The stake was changed after bets were closed; `stake_cents` is the new."
    )
    stake_sums: tuple[tuple[Cents, Share], ...] | None = Field(
        None, description="What the stake may be: sums and probabilities, the likeliest first."
    )
    read_sums: tuple[tuple[Cents, Share], ...] | None = Field(
        None,
        description="The same by what was read alone, where `stake_sums` were weighed by what "
        "people stake at the table.",
    )
    paid_sums: tuple[tuple[Cents, Share], ...] | None = Field(
        None, description="What the payout may be: sums and probabilities, the likeliest first."
    )
    in_time_sums: tuple[tuple[Cents, Share], ...] | None = Field(
        None,
        description="What the payout may have been when the cards were taken, where another one "
        "lies at last; `payments` has two steps then, by the likeliest sums.",
    )
    former_sums: tuple[tuple[Cents, Share], ...] | None = Field(
        None,
        description="What the payout may have been before it was changed, in time, to the one that "
        "lies there at last.",
    )
    paid_least_cents: Cents | None = Field(
        None, description="The smallest chip of the payout, where its chips were seen."
    )
    hides_more: bool | None = Field(
        None, description="The stake hides a place where more of the payout may lie."
    )
    stands: bool | None = Field(
        None,
        description="The stake lay there to the end; whether a payout was laid too, and so the "
        "action, is not known.",
    )
    stirred: bool | None = Field(
        None,
        description="Something moved over the payout while it lay: a commission may have been "
        "given in other chips. false: seen that nothing did until it was drawn in, where the "
        "commission is collected afterwards.",
    )
    stake_chips: int | None = Field(None, ge=0, description="Height of the stake's tallest stack.")
    paid_chips: int | None = Field(None, ge=0, description="Height of the payout's tallest stack.")
    cameras: tuple[str, ...] | None = Field(
        None, description="Further cameras that read its chips too, by name."
    )


class Sensor(Form):
    """What each source says of a coin on one jackpot sensor of a seat, and which one decided.

    >>> Sensor(wager="emperors_treasure_progressive", lamp="lit", decided_by="lamp").lamp
    'lit'
    """

    wager: str
    coin: bool | None = Field(
        None, description="Whether a coin was seen at rest on it; none: it was not read."
    )
    lamp: Literal["lit", "unlit"] | None = Field(None, description="Its lamp; none: not sure.")
    lamp_probability: Share | None = Field(None, description="That the lamp was lit.")
    registered: bool | None = Field(
        None, description="Whether the sensors' own system reports a coin; none: no report."
    )
    decided_by: Literal["coin", "lamp", "feed"] | None = Field(
        None, description="What decided whether the wager was made; none: it is undecided."
    )
    laid: WagerRecord | None = Field(
        None, description="Chips laid there at last, or not seen, where no wager is in the record."
    )


class DealerRecord(Form):
    """The dealer's two hands as they were set."""

    low: tuple[CardLabel, ...] | None = None
    high: tuple[CardLabel, ...] | None = None
    discard: CardLabel | None = Field(None, description="The eighth card, in draw games.")
    moves: tuple[CardMove, ...] | None = Field(
        None, description="Cards moved after the hands were set, where it was seen."
    )
    wagers: tuple[WagerRecord, ...] = Field(
        (), description="The dealer's own stake, 'house', when a player banks."
    )


class SeatRecord(Form):
    """One seat's hand, lammers and wagers."""

    seat: int = Field(ge=1, le=HIGHEST_SEAT, strict=True)
    player: int | None = Field(
        None, description="Seats with the same number are one player's; none: a player of its own."
    )
    cards_taken_s: Seconds | None = Field(
        None,
        description="When the dealer took the cards away; payouts can be corrected until then.",
    )
    low: tuple[CardLabel, ...] | None = None
    high: tuple[CardLabel, ...] | None = None
    discard: CardLabel | None = None
    moves: tuple[CardMove, ...] | None = Field(
        None, description="Cards moved after the hands were set, where it was seen."
    )
    breaches: tuple[Breach, ...] | None = Field(
        None, description="What the dealing procedure forbids, where it was seen."
    )
    lammers: tuple[str, ...] = ()
    wagers: tuple[WagerRecord, ...] = ()
    sensors: tuple[Sensor, ...] | None = Field(
        None, description="Its jackpot sensors, where a coin, a lamp or a report was seen."
    )

    def wager(self, name: str) -> WagerRecord | None:
        """The wager of that name, or None when the seat has none."""
        return next((w for w in self.wagers if w.wager == name), None)


class Undecided(Form):
    """Something that could not be read. Never counted as right or wrong."""

    seat: int | None = Field(None, description="None for the dealer or the whole table.")
    what: str = Field(
        description="'high[2]', 'low[0]', 'main.stake', 'main.paid', 'main.action', 'chips' (by "
        "the seat, of an unknown owner)."
    )
    why: str
    may_be: tuple[tuple[CardLabel, Share], ...] | None = Field(
        None, description="Of a card: what it may be, with probabilities, the likeliest first."
    )


class Meter(Form):
    """What a jackpot meter showed before the round was settled.

    >>> Meter(wager="emperors_treasure_progressive", cents=1234567).level
    1
    """

    wager: str = Field(description="The jackpot wager the meter belongs to.")
    level: int = Field(1, ge=1, description="Level of a multi-level jackpot.")
    cents: Cents
    probability: Share | None = Field(
        None, description="Probability of the reading, where it was read from the meter's display."
    )
    display_cents: Cents | None = Field(
        None, description="What its display was read as, where something else is declared."
    )


class DynamicPay(Form):
    """A pay drawn for this round in place of a default one (002, Appendix G, note 4).

    >>> DynamicPay(category="full_house", pay_cents=600).pay_cents
    600
    """

    wager: str | None = Field(
        None, description="The jackpot wager it is of; none where one jackpot has such pays."
    )
    category: str = Field(description="Pay table category, such as 'full_house'.")
    pay_cents: int = Field(gt=0, strict=True, description="As printed, for the base wager of $1.")


DiePlace = Literal["dealer"] | Annotated[int, Field(ge=1, le=HIGHEST_SEAT)]
"""A position of the counting of dice: the dealer or a seat."""


class Dice(Form):
    """What the dice showed, and to whom the first hand went.

    >>> Dice(values=(3, 5, 2), total=10, due=3, first=5, before_due=5).probability is None
    True
    """

    values: tuple[Annotated[int, Field(ge=1, le=6)], ...]
    total: int
    probability: Share | None = Field(None, description="That the total is this one.")
    seen_s: Seconds | None = Field(None, description="When they were first seen at rest.")
    due: DiePlace | None = Field(
        None, description="The place that gets the first hand: the one counted, or the next that "
        "plays.",
    )  # fmt: skip
    first: DiePlace | None = Field(
        None, description="The place that got a hand before all others, where that is sure."
    )
    before_due: DiePlace | None = Field(
        None, description="A place that certainly got its hand before the one due."
    )


class UnsureCard(Form):
    """A card that was read, and what else it may be."""

    seat: int | None = Field(None, description="None for the dealer.")
    what: str = Field(description="'high[2]': which of the cards that the record names there.")
    may_be: tuple[tuple[CardLabel, Share], ...] = Field(
        min_length=1, description="What it may be, with probabilities, as it was read first.",
    )  # fmt: skip


class Confidence(Form):
    """How sure the reading is; producers leave out what they do not measure."""

    min_card: float | None = Field(None, ge=0, le=1)
    min_chips: float | None = Field(None, ge=0, le=1)
    cards: tuple[UnsureCard, ...] | None = Field(
        None, description="The cards that were read with less than 0.999."
    )


class Fault(Form):
    """A dealer or player mistake that the simulator put in (truth only)."""

    code: str
    seat: int | None = None
    wager: str | None = None
    at_s: Seconds | None = None
    note: str | None = None


class RoundRecord(Form):
    """One round at one table.

    >>> r = RoundRecord(round_id="t1-000001", table="t1", game="emperors_challenge_exposed",
    ...                 dealer=DealerRecord(low=("AS", "KD"), high=("9H", "9C", "7S", "5D", "2C")))
    >>> r.dealer.low
    ('AS', 'KD')
    >>> DealerRecord(low=("1S",))
    Traceback (most recent call last):
    ...
    pydantic_core._pydantic_core.ValidationError: 1 validation error for DealerRecord
    low.0
      Value error, '1S' is no card: write rank then suit, such as 'AS' or 'TD', or 'JOKER' ...
    """

    round_id: str
    table: str
    game: str
    start_s: Seconds | None = None
    end_s: Seconds | None = None
    dealt_by: str | None = Field(
        None, description="Name or number of the dealer when settling began, as declared."
    )
    banker: int | None = Field(None, description="The seat that banks; none: the house.")
    banker_marker: int | Literal["house"] | None = Field(
        None, description="Where the banker's button or dice cup lay: a seat, or 'house'."
    )
    dice: Dice | None = Field(
        None, description="The dice that name the first hand, where their total was read."
    )
    players_known: bool | None = Field(
        None, description="False: nobody declared which seats are one player's."
    )
    meters: tuple[Meter, ...] | None = None
    dynamic_pays: tuple[DynamicPay, ...] | None = None
    dealer: DealerRecord = DealerRecord()
    seats: tuple[SeatRecord, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    confidence: Confidence | None = None
    faults: tuple[Fault, ...] | None = Field(None, description="Simulator truth only.")

    def dynamic_pays_of(self, wager: str) -> dict[str, int]:
        """The pays in cents that were drawn for a jackpot wager, by category.

        >>> drawn = (DynamicPay(category="full_house", pay_cents=600),)
        >>> RoundRecord(round_id="r", table="t", game="g", dynamic_pays=drawn).dynamic_pays_of("x")
        {'full_house': 600}
        """
        drawn = self.dynamic_pays or ()
        return {e.category: e.pay_cents for e in drawn if e.wager in (None, wager)}

    def to_json(self) -> str:
        """One line of JSON without the keys that are not known."""
        return self.model_dump_json(exclude_none=True)


def _fault(data: object, error: ValidationError) -> str:
    """The first fault, its place in words: 'seat 3, emperors_treasure: stake_cents: ...'."""
    first = error.errors()[0]
    return f"{_place(data, first['loc'])}: {plain_words(first)}".removeprefix(": ")


def _place(data: object, keys: tuple[str | int, ...]) -> str:
    """Seat and wager by their names, and the keys within."""
    named: list[str] = []
    rest = list(keys)
    for group, key, word in (("seats", "seat", "seat "), ("wagers", "wager", "")):
        if len(rest) < 2 or rest[0] != group or not isinstance(rest[1], int):
            break
        data = _item(_item(data, group), rest[1])
        own = _item(data, key)
        known = isinstance(own, str | int)
        named.append(f"{word}{own}" if known else f"{key} {rest[1] + 1} in the list")
        rest = rest[2:]
    parts = (", ".join(named), ".".join(str(part) for part in rest))
    # A key may hold what no terminal should be sent.
    return ascii(": ".join(part for part in parts if part))[1:-1]


def _item(data: object, key: str | int) -> object:
    if isinstance(data, dict):
        return data.get(key)
    if isinstance(data, list) and isinstance(key, int) and key < len(data):
        return data[key]
    return None


def parse_round(line: str, place: str) -> RoundRecord:
    """Read one JSON record; `place` (file and line) opens the error message.

    Raises FeltwatchError naming seat, wager and key when the line is no JSON, has a key
    twice in one object, or is not in the form.
    """
    line = line.removeprefix(BOM)
    data = json_data(line)
    twice = key_twice(data)
    if twice is not None:
        raise FeltwatchError(f"{place}: {_place(data, twice)}: the key stands twice; leave one out")
    try:
        return RoundRecord.model_validate_json(line)
    except ValidationError as error:
        raise FeltwatchError(f"{place}: {_fault(data, error)}") from error


def iter_rounds(lines: Iterable[str], name: str) -> Iterator[RoundRecord]:
    """Read records from lines of JSON, blank lines passed over."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield parse_round(line, f"{name}, line {number}")


def read_rounds(path: Path) -> list[RoundRecord]:
    """Read a `*.jsonl` file of round records.

    Raises FeltwatchError naming the file and line of the first fault.
    """
    with reading(path), path.open(encoding="utf-8-sig") as handle:
        return list(iter_rounds(handle, str(path)))
