"""House ways: how a dealer must set seven cards. One plain module each, chosen by id."""

from __future__ import annotations

from settlement.errors import FeltwatchError
from settlement.houseways import document_004, foxwoods, trump_plaza
from settlement.houseways.base import HouseWay, HouseWaySetting
from settlement.rules import TableRules

HOUSE_WAYS: dict[str, HouseWay] = {
    way.id: way for way in (document_004.HOUSE_WAY, trump_plaza.HOUSE_WAY, foxwoods.HOUSE_WAY)
}
"""Every house way by the id that a table file names."""


def house_way_for(rules: TableRules) -> HouseWay:
    """The house way of a table's rules.

    Raises FeltwatchError naming the known ids when there is none of that id.
    """
    try:
        return HOUSE_WAYS[rules.house_way]
    except KeyError:
        known = ", ".join(sorted(HOUSE_WAYS))
        raise FeltwatchError(
            f"rules.house_way: no house way {rules.house_way!r}; known are: {known}"
        ) from None


__all__ = ["HOUSE_WAYS", "HouseWay", "HouseWaySetting", "house_way_for"]
