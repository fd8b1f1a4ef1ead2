"""Mistakes with cards, and rounds that do not get on, put into a round settled as is due."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from datasets.simulate.mistakes.house import HOUSE_WAYS
from datasets.simulate.mistakes.laid import PRIZE_WAYS
from datasets.simulate.mistakes.money import MONEY_WAYS, Mistake
from datasets.simulate.mistakes.sensors import SENSOR_WAYS
from datasets.simulate.script import CardMove, PlannedFault, RoundScript, SeatScript, Ways
from settlement.cards import Card
from settlement.games import JACKPOTS, terms_for
from settlement.procedures import BreachKind, procedure_of
from settlement.record import DECK_LABELS, JOKER
from settlement.result import Settlement
from settlement.settle import settle
from vision.geometry.table import TableFile


def _deck_twin(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A card that lies at two seats: one's card becomes its like in rank that another holds.

    What the seat is due by its own cards stays what it was, so that nothing else is wrong.
    The dealer's cards are left alone: a twin of theirs would leave every wager undecided.
    """
    return _twin(script, table, rng, lambda label: _rank(label) is not None)


def _deck_jokers(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A second joker in the place of an ace."""
    if not any(JOKER in (*seat.low, *seat.high) for seat in script.seats):
        return None
    return _twin(script, table, rng, lambda label: label == JOKER)


def _twin(
    script: RoundScript, table: TableFile, rng: random.Random, wanted: Callable[[str], bool]
) -> RoundScript | None:
    places: dict[str, int] = {
        label: seat.seat for seat in script.seats for label in (*seat.low, *seat.high)
    }
    seats = list(script.seats)
    rng.shuffle(seats)
    for seat in seats:
        for label in rng.sample([*seat.low, *seat.high], len(seat.low) + len(seat.high)):
            likes = [
                other for other in DECK_LABELS
                if wanted(other) and _alike(other, label)
                and places.get(other, seat.seat) != seat.seat
            ]  # fmt: skip
            if not likes or seat.before is not None or seat.seat == script.banker:
                continue
            like = rng.choice(likes)
            changed = replace(
                seat,
                low=tuple(like if c == label else c for c in seat.low),
                high=tuple(like if c == label else c for c in seat.high),
            )
            if places[like] == script.banker or not _same_due(script, seat, changed, table):
                continue
            first, second = sorted((seat.seat, places[like]))
            drawn = like if seat.drawn == label else seat.drawn
            again = seat.again
            if again is not None and again[1] == label:
                again = (again[0], like)
            changed = replace(changed, drawn=drawn, again=again)
            note = f"{like} lies twice, at seats {first} and {second}"
            fault = PlannedFault("DECK", first, None, note, ("both", first, str(second)))
            return script.with_seat(changed, fault)
    return None


def _rank(label: str) -> int | None:
    card = Card.parse(label)
    return None if card.joker else card.rank


def _alike(other: str, label: str) -> bool:
    if other == JOKER:
        return label != JOKER and _rank(label) == 14
    return _rank(other) == _rank(label)


def _same_due(script: RoundScript, seat: SeatScript, changed: SeatScript, table: TableFile) -> bool:
    """Whether a seat's wagers, settled alone with the dealer, come out the same."""
    banker = [s for s in script.seats if s.seat == script.banker and s.seat != seat.seat]
    alone = [
        settle(replace(script, seats=(*banker, one)).record(table, "round"), table.rules).seats[-1]
        for one in (seat, changed)
    ]
    first, second = ([(w.wager, w.outcome, w.pay_cents) for w in s.wagers] for s in alone)
    return first == second


def _deck_count(more: bool) -> Mistake:
    """A hand of eight cards, or of six."""

    def mistake(
        script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        seats = [
            s for s in script.seats
            if s.seat != script.banker and s.before is None and len(s.high) == 5 and not s.envy
            and s.drawn is None
        ]  # fmt: skip
        if not seats:
            return None
        seat = rng.choice(seats)
        if more:
            free = [label for label in DECK_LABELS if label not in _all_cards(script)]
            high = (*seat.high, rng.choice(free))
        else:
            high = seat.high[:-1]
        note = f"{len(seat.low) + len(high)} cards"
        fault = PlannedFault("DECK", seat.seat, None, note, ("shown", seat.seat, None))
        return script.with_seat(replace(seat, high=high), fault)

    return mistake


def _deck_dealer(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    """Eight cards in the dealer's hands; of a game in which the dealer draws it is none."""
    if script.discard is not None or script.before is not None:
        return None
    card = rng.choice(_free_cards(script))
    fault = PlannedFault("DECK", None, None, "8 cards", ("set", None, None))
    return replace(
        script, high=(*script.high, card), dealt=(*script.dealt, card),
        faults=(*script.faults, fault),
    )  # fmt: skip


def _moved_dealer(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    """The dealer's hands are set otherwise at first, and laid right before any is compared."""
    if len(script.high) != 5 or any(fault.code == "HOUSE_WAY" for fault in script.faults):
        return None
    low, high = rng.choice(script.low), rng.choice(script.high)
    before = (
        tuple(high if card == low else card for card in script.low),
        tuple(low if card == high else card for card in script.high),
    )
    note = f"{high} and {low} change hands"
    fault = PlannedFault("CARD_MOVED", None, None, note, ("card", None, None))
    move = CardMove("dealer", 0, (high, low))
    return replace(
        script, before=before, moves=(*script.moves, move), faults=(*script.faults, fault)
    )


def _all_cards(script: RoundScript) -> set[str]:
    cards = {label for seat in script.seats for label in (*seat.low, *seat.high)}
    given = {seat.discard for seat in script.seats if seat.discard}
    given |= {seat.again[0] for seat in script.seats if seat.again}
    return cards | given | set(script.dealt)


def _faced(kind: str) -> Mistake:
    def mistake(
        script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        """A card turned up too early, or down after it was shown."""
        seats = [s for s in script.seats if s.before is None and s.seat != script.banker]
        if not seats:
            return None
        seat = rng.choice(seats)
        card = rng.choice(seat.high)
        up = kind == "face"
        move = CardMove("face" if up else "face_down", seat.seat, (card,))
        note = f"{card} turned {'up before' if up else 'down after'} the dealer showed the hand"
        fault = PlannedFault("CARD_MOVED", seat.seat, None, note, ("card", seat.seat, None))
        return replace(script, moves=(*script.moves, move), faults=(*script.faults, fault))

    return mistake


def _hidden(by: str) -> Mistake:
    def mistake(
        script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        """A card that is never seen: another lies on its index, or a hand does."""
        moved = {move.seat for move in script.moves} | {m.other for m in script.moves}
        seats = [s for s in script.seats if s.seat not in moved and len(s.high) == 5]
        if not seats:
            return None
        seat = rng.choice(seats)
        # The last card of a row shows both its indices; the others one each.
        card = rng.choice(seat.high[:-1])
        ways: Ways = replace(seat.ways, hidden=by, hidden_card=card, dropped=False)
        note = f"{card} is covered by {'another card' if by == 'card' else 'a hand'}"
        fault = PlannedFault("UNDECIDED", seat.seat, None, note, ("shown", seat.seat, None))
        return script.with_seat(replace(seat, ways=ways), fault)

    return mistake


_NOTES: Mapping[BreachKind, str] = {
    "taken_up": "hand taken up again",
    "looked_at": "low hand taken up again",
    "set_late": "hand set late",
    "shown_early": "hand turned up before the dealer's",
    "bet_touched": "stake lifted and laid again",
    "bet_taken": "stake taken away",
    "second_discard": "two cards discarded",
    "discard_late": "card of the set hand discarded and taken back",
}


def _touched(script: RoundScript, seat: int) -> bool:
    """Whether a mistake was made at a seat already."""
    return any(fault.seat == seat for fault in script.faults)


def _has_main(seat: SeatScript) -> bool:
    """Whether a seat has a main stake that is not moved late."""
    main = seat.wager("main")
    return main is not None and not main.late


def _takeable(seat: SeatScript, table: TableFile) -> list[str]:
    """A seat's stakes that can be taken away: not one on which a prize of another hand hangs."""
    envy = terms_for(table.rules).envy
    kept = {*JACKPOTS, None if envy is None else envy.wager}
    return [w.wager for w in seat.wagers if w.wager not in kept and not w.late]


def _free_cards(script: RoundScript) -> list[str]:
    """The cards that nobody was dealt; not the joker, which may not be in play."""
    held = _all_cards(script)
    return [label for label in DECK_LABELS if label not in held and label != JOKER]


def _with_second(seat: SeatScript, script: RoundScript, rng: random.Random) -> SeatScript:
    """The seat with one of its cards drawn for a second one that it gave away."""
    own = [card for card in (*seat.low, *seat.high) if card != seat.drawn]
    return replace(seat, again=(rng.choice(_free_cards(script)), rng.choice(own)))


def _breach(kind: BreachKind) -> Mistake:
    def mistake(
        script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        """A hand or a stake touched, or not set, when the game does not allow it any more."""
        procedure = procedure_of(table.rules.game)
        rule = None if procedure is None else procedure.breach(kind)
        if procedure is None or rule is None:
            return None
        players_first = procedure.breach("set_late") is not None
        if kind == "shown_early" and not players_first:
            return None
        moved = {move.seat for move in script.moves} | {move.other for move in script.moves}
        gone = {s.seat for s in script.seats if any(wager.gone for wager in s.wagers)}
        seats = [s for s in script.seats if s.seat not in moved | gone and s.seat != script.banker]
        if kind == "bet_touched":
            seats = [s for s in seats if _has_main(s)]
        elif kind == "bet_taken":
            seats = [s for s in seats if not _touched(script, s.seat) and _takeable(s, table)]
        elif kind == "second_discard":
            has_free = bool(_free_cards(script))
            seats = [s for s in seats if s.discard is not None and has_free]
        if not players_first:
            # The seat that is compared first has no time for it.
            last = table.rules.settling_starts == "last_seat"
            first = (max if last else min)(seat.seat for seat in script.seats)
            seats = [seat for seat in seats if seat.seat != first]
        if not seats:
            return None
        seat = rng.choice(seats)
        if kind == "second_discard":
            seat = _with_second(seat, script, rng)
        ways: Ways = replace(seat.ways, breach=kind, dropped=False, relaid=False)
        wager = "main" if kind == "bet_touched" else None
        if kind == "bet_taken":
            wager = rng.choice(_takeable(seat, table))
            own = seat.wager(wager)
            assert own is not None
            seat = seat.with_wager(replace(own.done("left"), gone=True))
        fault = PlannedFault(
            "PROCEDURE", seat.seat, wager, _NOTES[kind], ("breach", seat.seat, None)
        )  # fmt: skip
        return script.with_seat(replace(seat, ways=ways), fault)

    return mistake


def _wrong_first_seat(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    """The deal begins at another place than the dice name; only where there are dice."""
    if len(script.dealing) < 2:
        return None
    by = rng.randrange(1, len(script.dealing))
    dealing = (*script.dealing[by:], *script.dealing[:by])
    note = f"dice {', '.join(map(str, script.dice))}: the first hand went to another place"
    fault = PlannedFault("PROCEDURE", dealing[0] or None, None, note, ("dealt", None, None))
    return replace(script, dealing=dealing, faults=(*script.faults, fault))


def _silent(way: str) -> Mistake:
    def mistake(
        script: RoundScript, _due: Settlement, _table: TableFile, _rng: random.Random
    ) -> RoundScript | None:
        fault = PlannedFault("SILENT", None, None, way, ("silent", None, None))
        return replace(script, silence=way, faults=(*script.faults, fault))

    return mistake


LATE_WAYS: Mapping[tuple[str, str], Mistake] = {
    **MONEY_WAYS,
    **PRIZE_WAYS,
    **HOUSE_WAYS,
    **SENSOR_WAYS,
    ("DECK", "twin"): _deck_twin,
    ("DECK", "jokers"): _deck_jokers,
    ("DECK", "many"): _deck_count(more=True),
    ("DECK", "few"): _deck_count(more=False),
    ("DECK", "dealer"): _deck_dealer,
    ("CARD_MOVED", "face"): _faced("face"),
    ("CARD_MOVED", "face_down"): _faced("face_down"),
    ("CARD_MOVED", "dealer"): _moved_dealer,
    ("PROCEDURE", "taken_up"): _breach("taken_up"),
    ("PROCEDURE", "set_late"): _breach("set_late"),
    ("PROCEDURE", "looked_at"): _breach("looked_at"),
    ("PROCEDURE", "shown_early"): _breach("shown_early"),
    ("PROCEDURE", "bet_touched"): _breach("bet_touched"),
    ("PROCEDURE", "bet_taken"): _breach("bet_taken"),
    ("PROCEDURE", "second_discard"): _breach("second_discard"),
    ("PROCEDURE", "discard_late"): _breach("discard_late"),
    ("PROCEDURE", "wrong_first_seat"): _wrong_first_seat,
    ("UNDECIDED", "card"): _hidden("card"),
    ("UNDECIDED", "hand"): _hidden("hand"),
    ("SILENT", "dispute"): _silent("dispute"),
    ("SILENT", "chips"): _silent("chips"),
    ("SILENT", "cards"): _silent("cards"),
}
"""Every way that is made after a round is settled."""
