"""The settlement calculator: cards and stakes in, what every wager should do out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue, ValidationError

from settlement.cards import labels, parse_cards
from settlement.compare.check import check_record
from settlement.compare.finding import FindingCode, wager_name
from settlement.errors import FeltwatchError
from settlement.games import Terms, terms_for
from settlement.hands import rank_five, rank_two
from settlement.houseways import HouseWaySetting
from settlement.money_flows import balances
from settlement.record import DealerRecord, RoundRecord, SeatRecord, WagerRecord
from settlement.result import DealerSettlement, HouseWayResult, SeatSettlement, WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle
from surveillance.web.schemas.calculator import (
    BankerAnswer,
    CalculatorAnswer,
    CalculatorQuestion,
    HandAnswer,
    HandQuestion,
    ProblemLine,
    SeatAnswer,
    SumLine,
    WagerAnswer,
    WayAnswer,
)
from surveillance.web.services.plain_faults import fault_of_rules, faults_of

_NO_FOLDER = "pay tables of one's own come with a table file; leave the key out"


def calculate(question: CalculatorQuestion, base: TableRules | None = None) -> CalculatorAnswer:
    """Settle what was asked; `base` are the rules of the table file, where one is named.

    Never raises on what people send: what cannot be is among the answer's problems.
    """
    rules, problems = checked_rules(question.rules, base)
    if rules is None:
        return CalculatorAnswer(problems=problems)
    terms = terms_for(rules)
    held = [("dealer", question.dealer), *((f"seat {s.seat}", s) for s in question.seats)]
    twice = tuple(_twice(held))
    ways = {place: _way(hand, terms, rules, place) for place, hand in held}
    record = _record(question, rules, ways)
    problems = (*twice, *_impossible(record, rules, question), *_limits(question, terms))
    settlement = settle(record, rules)
    return CalculatorAnswer(
        problems=_distinct(problems),
        dealer=_hand(settlement.dealer, ways["dealer"], rules),
        dealer_wagers=tuple(_wager(w) for w in settlement.dealer.wagers),
        seats=tuple(_seat(due, ways[f"seat {due.seat}"], rules) for due in settlement.seats),
        banker=None
        if settlement.banker is None
        else BankerAnswer(
            seat=settlement.banker.seat,
            net_cents=settlement.banker.net_cents,
            commission_cents=settlement.banker.commission_cents,
            undecided=settlement.banker.undecided,
        ),
        meters=settlement.meters,
        sums=tuple(SumLine(party=p, cents=c) for p, c in sorted(balances(settlement).items())),
    )


def checked_rules(
    sent: Mapping[str, JsonValue] | None, base: TableRules | None
) -> tuple[TableRules | None, tuple[ProblemLine, ...]]:
    """The rules that count, or what is wrong with them."""
    if sent is None:
        if base is None:
            return None, (ProblemLine(place="rules", message="name a table file or send rules"),)
        return base, ()
    if sent.get("paytable_folder") is not None:
        return None, (ProblemLine(place="rules.paytable_folder", message=_NO_FOLDER),)
    data: dict[str, Any] = dict(sent)
    data["paytable_folder"] = None if base is None else base.paytable_folder
    try:
        rules = TableRules.model_validate(data)
        terms_for(rules)
    except ValidationError as error:
        return None, tuple(
            ProblemLine(place=f"rules.{f.place}".rstrip("."), message=f.message)
            for f in faults_of(error)
        )
    except FeltwatchError as error:
        fault = fault_of_rules(error)
        return None, (ProblemLine(place=fault.place, message=fault.message),)
    return rules, ()


def _distinct(problems: tuple[ProblemLine, ...]) -> tuple[ProblemLine, ...]:
    seen = {(p.place, p.message): p for p in problems}
    return tuple(seen.values())


def _twice(held: list[tuple[str, HandQuestion]]) -> Iterator[ProblemLine]:
    """Every card that was given more than once, and where."""
    places: dict[str, list[str]] = {}
    for place, hand in held:
        for card in hand.held:
            places.setdefault(card, []).append(place)
    for card, found in places.items():
        if len(found) > 1:
            where = " and ".join(dict.fromkeys(found))
            name = "the joker" if card == "JOKER" else card
            yield ProblemLine(
                place=found[-1], message=f"{name} is there twice: {where}; one pack has it once"
            )


def _impossible(
    record: RoundRecord, rules: TableRules, question: CalculatorQuestion
) -> Iterator[ProblemLine]:
    """Yield what the rules make impossible; hands that are not complete yet are no fault."""
    whole = {"dealer": len(question.dealer.held) >= 7}
    whole |= {f"seat {seat.seat}": len(seat.held) >= 7 for seat in question.seats}
    for problem in check_record(record, rules):
        place = "dealer" if problem.seat is None else f"seat {problem.seat}"
        if problem.code is FindingCode.DECK and "lies" in problem.reason.split("cards")[0]:
            continue  # reported by `_twice`, with the seat that was filled last
        if problem.code is FindingCode.DECK and "cards (" in problem.reason and not whole[place]:
            continue
        if problem.seat is None and problem.code is not FindingCode.DECK:
            place = "round"
        message = f"{wager_name(problem.wager)}: " if problem.wager else ""
        yield ProblemLine(place=place, message=message + problem.reason)


def _limits(question: CalculatorQuestion, terms: Terms) -> Iterator[ProblemLine]:
    """Stakes outside the table's limits; they are settled all the same."""
    for seat in question.seats:
        for wager, cents in seat.stakes.items():
            limit = terms.limits.get(wager)
            if limit is None or cents == 0:
                continue
            amount = f"{wager_name(wager)}: {money(cents)} is"
            if limit.min_cents is not None and cents < limit.min_cents:
                message = f"{amount} under the minimum of {money(limit.min_cents)}"
            elif limit.max_cents is not None and cents > limit.max_cents:
                message = f"{amount} over the maximum of {money(limit.max_cents)}"
            else:
                continue
            yield ProblemLine(place=f"seat {seat.seat}", message=message)


class _Way:
    """A hand's cards by the house way, or why they are not set."""

    def __init__(self, setting: HouseWaySetting | None, why_not: str = "") -> None:
        self.setting = setting
        self.why_not = why_not


def _way(hand: HandQuestion, terms: Terms, rules: TableRules, place: str) -> _Way:
    cards = hand.held
    wanted = terms.game.dealer_cards if place == "dealer" else 7
    if len(cards) != wanted:
        many = len(cards) > wanted
        if many:
            return _Way(None, f"{len(cards)} cards, and a hand has {wanted}")
        return _Way(None, f"{wanted - len(cards)} more to come" if cards else "no cards yet")
    if len(set(cards)) < len(cards):
        return _Way(None, "a card is there twice")
    parsed = parse_cards(cards)
    readings = rules.house_way_readings
    if wanted == 8:
        return _Way(terms.house_way.set_eight(parsed, rules.ranking, readings))
    return _Way(terms.house_way.set_hands(parsed, rules.ranking, readings))


def _record(
    question: CalculatorQuestion, rules: TableRules, ways: Mapping[str, _Way]
) -> RoundRecord:
    house = question.house_stake_cents
    return RoundRecord(
        round_id="calculator",
        table="calculator",
        game=rules.game,
        banker=question.banker,
        meters=question.meters or None,
        dynamic_pays=question.dynamic_pays,
        dealer=DealerRecord(
            **_set(question.dealer, ways["dealer"]),
            wagers=() if house is None else (WagerRecord(wager="house", stake_cents=house),),
        ),
        seats=tuple(
            SeatRecord(
                seat=seat.seat,
                player=seat.player,
                lammers=seat.lammers,
                wagers=tuple(
                    WagerRecord(wager=wager, stake_cents=cents)
                    for wager, cents in seat.stakes.items()
                ),
                **_set(seat, ways[f"seat {seat.seat}"]),
            )
            for seat in question.seats
        ),
    )


def _set(hand: HandQuestion, way: _Way) -> dict[str, Any]:
    if hand.by == "hand":
        if not hand.held:
            return {}
        return {"low": hand.low, "high": hand.high, "discard": hand.discard}
    if way.setting is None:
        return {}
    discard = way.setting.discard
    return {
        "low": labels(way.setting.low),
        "high": labels(way.setting.high),
        "discard": None if discard is None else str(discard),
    }


def _hand(due: DealerSettlement, way: _Way, rules: TableRules) -> HandAnswer:
    """The dealer's hand; a fouled one is reported as the dealer's fault."""
    foul = None
    if due.low is not None and due.high is not None:
        low, high = (
            rank_two(parse_cards(due.low.cards)),
            rank_five(parse_cards(due.high.cards), rules.ranking),
        )
        foul = low.order > high.order
    elif due.undecided is None:
        foul = True
    return HandAnswer(
        low=due.low,
        high=due.high,
        pai_gow=None if due.pai_gow is None else due.pai_gow.replace("_", "-"),
        foul=foul,
        foul_reason="the low hand outranks the high hand, or the boxes hold not two and five cards"
        if foul
        else None,
        undecided=_unknown(due.undecided, way),
        house_way=_way_answer(way.setting, due.house_way.id if due.house_way else "", rules),
        matches=due.matches,
    )


def _seat(due: SeatSettlement, way: _Way, rules: TableRules) -> SeatAnswer:
    matches = None
    if way.setting is not None and due.low is not None and due.high is not None:
        matches = way.setting.same_hands(
            parse_cards(due.low.cards), parse_cards(due.high.cards), rules.ranking
        )
    return SeatAnswer(
        seat=due.seat,
        low=due.low,
        high=due.high,
        foul=due.foul,
        foul_reason=due.foul_reason,
        undecided=_unknown(due.undecided, way),
        house_way=_way_answer(way.setting, rules.house_way, rules),
        matches=matches,
        wagers=tuple(_wager(wager) for wager in due.wagers),
    )


def _unknown(undecided: str | None, way: _Way) -> str | None:
    """Why a hand is not known, as somebody who is laying cards wants to hear it."""
    if undecided is None:
        return None
    return way.why_not or undecided.partition(": ")[2] or undecided


def _way_answer(
    setting: HouseWaySetting | None, way_id: str, rules: TableRules
) -> WayAnswer | None:
    if setting is None:
        return None
    form = HouseWayResult.of(way_id or rules.house_way, setting)
    return WayAnswer(
        **form.model_dump(),
        low_name=rank_two(setting.low).name,
        high_name=rank_five(setting.high, rules.ranking).name,
        alternatives=tuple((labels(low), labels(high)) for low, high in setting.alternatives),
    )


def _wager(due: WagerSettlement) -> WagerAnswer:
    return WagerAnswer(
        **due.model_dump(),
        title=wager_name(due.wager),
        rule_text=None if due.rule is None else str(due.rule),
    )
