"""The game: cards, hands, house ways, pay tables, settling, comparing.

What a user of the rules needs is imported from here; `settlement.analysis` (odds, house edges)
needs numpy and stands apart.
"""

from settlement.cards import Card, parse_cards
from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.errors import FeltwatchError
from settlement.houseways import house_way_for
from settlement.paytables.registry import pay_table, pay_table_ids
from settlement.record import RoundRecord, read_rounds
from settlement.result import Settlement
from settlement.rules import TableRules
from settlement.settle import settle

__all__ = [
    "Card",
    "FeltwatchError",
    "Finding",
    "RoundRecord",
    "Settlement",
    "TableRules",
    "compare",
    "house_way_for",
    "parse_cards",
    "pay_table",
    "pay_table_ids",
    "read_rounds",
    "settle",
]
