"""What the tests of house ways share: which low hand a line of their tables means."""

from __future__ import annotations

from settlement.cards import labels, parse_cards
from settlement.hands import STANDARD
from settlement.houseways.base import HouseWay, HouseWaySetting
from settlement.rules import HouseWayReadings


def set_by(way: HouseWay, cards: str, **readings: str) -> HouseWaySetting:
    return way.set_hands(parse_cards(cards), STANDARD, HouseWayReadings.model_validate(readings))


def assert_line(way: HouseWay, cards: str, low: str, rule: str) -> None:
    """The way sets the low hand `low` by the line `rule`; both may name several, by |."""
    setting = set_by(way, cards)
    assert setting.rule.removeprefix(f"{way.cited}, ") in rule.split("|")
    got = labels(setting.low)
    assert any(fits(got, wanted) for wanted in low.split("|")), got
    assert set(setting.low) | set(setting.high) == set(parse_cards(cards))


def fits(low: tuple[str, ...], wanted: str) -> bool:
    """'AS KD' is those cards, '99' any pair of nines, 'A KH' any ace or joker with KH."""
    if wanted == "AA natural":
        return [label[0] for label in low] == ["A", "A"]
    if len(wanted) == 2:
        return [label[0] for label in low] in ([*wanted], [wanted[0], "J"], ["J", wanted[0]])
    if wanted.startswith("A "):
        return low[0] in ("AS", "AD", "AC", "AH", "JOKER") and low[1] == wanted[2:]
    return set(low) == set(wanted.split())
