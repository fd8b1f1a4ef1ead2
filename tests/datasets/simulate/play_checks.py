"""What must hold for every planned shift; used by the tests of the play side."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

import cv2
import numpy as np

from datasets.render.scene import (
    CardItem,
    Change,
    FeltState,
    Item,
    LammerItem,
    MarkerItem,
    Reach,
    ShiftPlan,
    StackItem,
)
from datasets.simulate.decide import raised
from datasets.simulate.mistakes.catalogue import UNSEEN_BY_RULES
from datasets.simulate.play.layouts import card_corners, overlap
from datasets.simulate.play.motion import hand_at
from settlement.games import JACKPOTS
from settlement.record import RoundRecord
from settlement.rules import TableRules, WagerLimit
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import CHIP_DIAMETER_MM, TableFile

EPS_S = 0.002
RULES = TableRules(
    game="emperors_challenge_exposed",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-05",
        "emperors_treasure": "PT-FLT-EC-ET-02",
        "envy": "E02",
    },
    limits={
        "main": WagerLimit(min_cents=500, max_cents=50000),
        "emperors_treasure": WagerLimit(min_cents=100, max_cents=10000),
    },
)
TABLE = standard_table(RULES)

KEPT = ("rack.", "fill")
"""Keys of what lies on the felt beside a round's own things."""


def replay(plan: ShiftPlan) -> Iterator[tuple[Change, FeltState, tuple[Item, ...]]]:
    """Every change in order with the felt after it and the items that went or came."""
    state = FeltState()
    for change in plan.changes:
        yield change, state, state.apply(change)


def hands_at(plan: ShiftPlan, t_s: float) -> list[tuple[tuple[float, float], Reach]]:
    """Every hand over the felt at a time, with its reach."""
    found = []
    for reach in plan.reaches:
        if reach.t0_s > t_s:
            break
        hand = hand_at(reach, t_s)
        if hand is not None:
            found.append((hand, reach))
    return found


def reach_of(plan: ShiftPlan, change: Change, touched: tuple[Item, ...]) -> Reach:
    """The reach whose hand is nearest to what the change touches."""
    middle = tuple(np.mean([item.center_mm for item in touched], axis=0))
    return min(
        ((math.dist(hand, middle), n, reach)
         for n, (hand, reach) in enumerate(hands_at(plan, change.t_s))),
    )[2]  # fmt: skip


def check_hands_cover_changes(plan: ShiftPlan) -> None:
    """Some hand is at every change, near everything that comes or goes."""
    for change, _, touched in replay(plan):
        assert any(
            all(
                math.dist(hand, item.center_mm) <= (135.0 if isinstance(item, CardItem) else 62.0)
                for item in touched
            )
            for hand, _ in hands_at(plan, change.t_s)
        ), change


def _radius(item: StackItem | LammerItem | MarkerItem, table: TableFile) -> float:
    if isinstance(item, StackItem):
        return CHIP_DIAMETER_MM / 2
    if isinstance(item, MarkerItem):
        return item.diameter_mm / 2
    return table.lammers[item.kind].diameter_mm / 2


def _owner(item: Item) -> tuple[str, str]:
    return tuple(item.key.split(".")[:2])  # type: ignore[return-value]


def check_nothing_overlaps(plan: ShiftPlan, table: TableFile = TABLE) -> None:
    """Chips, lammers and cards lie clear of each other, but for the cards of one hand."""
    for change, state, _ in replay(plan):
        for item in change.put:
            for other in state.items.values():
                if other.key != item.key:
                    _check_pair(item, other, table)


def _check_pair(item: Item, other: Item, table: TableFile) -> None:
    if math.dist(item.center_mm, other.center_mm) > 120:
        return
    cards = [one for one in (item, other) if isinstance(one, CardItem)]
    round_ones = [one for one in (item, other) if isinstance(one, StackItem | LammerItem)]
    if len(cards) == 2:
        if _owner(item) != _owner(other):
            assert overlap(card_corners(cards[0]), card_corners(cards[1])) == 0, (item, other)
    elif cards:
        outline = card_corners(cards[0]).astype(np.float32)
        depth = cv2.pointPolygonTest(outline, round_ones[0].center_mm, True)
        assert -depth >= _radius(round_ones[0], table) - 0.01, (item, other)
    else:
        apart = math.dist(item.center_mm, other.center_mm)
        assert apart >= sum(_radius(one, table) for one in round_ones) - 0.01, (item, other)


def check_felt_is_empty_between_rounds(plan: ShiftPlan) -> None:
    """Everything of a round comes and goes between its start and its end."""
    spans = {
        f"r{number}": (float(record.start_s or 0), float(record.end_s or 0))
        for number, record in enumerate(plan.rounds, start=1)
    }
    seen: dict[str, list[float]] = defaultdict(list)
    for change, state, touched in replay(plan):
        for item in touched:
            if not item.key.startswith(KEPT):
                seen[item.key.split(".")[0]].append(change.t_s)
        own = {key.split(".")[0] for key in state.items if not key.startswith(KEPT)}
        assert len(own) <= 1, own
    for prefix, (start, end) in spans.items():
        assert (min(seen[prefix]), max(seen[prefix])) == (start, end)
    assert all(key.startswith("rack.") for key in state.items)
    ordered = list(spans.values())
    for (_, end), (start, _) in pairwise(ordered):
        assert start > end + 0.9


def check_felt_matches_truth(plan: ShiftPlan, table: TableFile = TABLE) -> None:
    """Cards, stakes, pays, lammers and actions on the felt are those of the records."""
    steps: dict[str, list[tuple[Change, tuple[Item, ...]]]] = defaultdict(list)
    for change, _, touched in replay(plan):
        steps[touched[0].key.split(".")[0]].append((change, touched))
    for number, record in enumerate(plan.rounds, start=1):
        assert record.round_id == f"{table.table}-{number:06d}"
        _Round(plan, record, table).check(steps[f"r{number}"])


class _Round:
    """One round's things on the felt, as they came and went."""

    def __init__(self, plan: ShiftPlan, record: RoundRecord, table: TableFile) -> None:
        self.plan, self.record, self.table = plan, record, table
        self.lying: dict[tuple[str, str, str], dict[str, StackItem]] = defaultdict(dict)
        self.most: dict[tuple[str, str, str], list[StackItem]] = {}
        self.lammers: Counter[tuple[int, str]] = Counter()
        self.faces: dict[str, set[str]] = defaultdict(set)
        self.by_dealer: set[tuple[str, str]] = set()
        self.down: dict[str, set[str]] = defaultdict(set)

    def check(self, steps: list[tuple[Change, tuple[Item, ...]]]) -> None:
        for change, touched in steps:
            gone = touched[: len(change.remove)]
            for item in gone:
                self._goes(change, item, touched)
            for item in change.put:
                self._comes(item)
        self._cards()
        wrong = {f.seat for f in self.record.faults or () if f.code == "LAMMER"}
        for seat in self.record.seats:
            if seat.seat not in wrong:
                assert self.lammers_of(seat.seat) == Counter(seat.lammers)
        self._money()

    def lammers_of(self, seat: int) -> Counter[str]:
        return Counter({kind: n for (own, kind), n in self.lammers.items() if own == seat})

    def _place(self, item: Item) -> tuple[str, str, str]:
        _, owner, spot, mark = item.key.split(".")
        kind = next(k for k in ("stake", "paid", "prize", "given", "lost") if mark.startswith(k))
        return owner, spot, kind

    def _goes(self, change: Change, item: Item, touched: tuple[Item, ...]) -> None:
        if isinstance(item, StackItem):
            place = self._place(item)
            del self.lying[place][item.key]
            same_again = any(put.key.startswith(item.key.rsplit(".", 1)[0]) for put in change.put)
            ends = place[2] == "stake" and not same_again
            if ends and reach_of(self.plan, change, touched).who == "dealer":
                self.by_dealer.add(place[:2])

    def _comes(self, item: Item) -> None:
        owner = item.key.split(".")[1]
        if isinstance(item, CardItem):
            (self.faces if item.face_up else self.down)[owner].add(item.label)
        elif isinstance(item, LammerItem):
            self.lammers[int(owner), item.kind] += 1
        elif isinstance(item, StackItem):
            place = self._place(item)
            if place[2] in ("stake", "paid", "prize"):
                values = [self.table.chips[colour].value_cents for colour in item.colours]
                assert values == sorted(values, reverse=True)
                assert len(values) <= 20
            self.lying[place][item.key] = item
            self.most[place] = list(self.lying[place].values())

    def _cards(self) -> None:
        record = self.record
        dealer = {*(record.dealer.low or ()), *(record.dealer.high or ())}
        if record.dealer.discard:
            dealer.add(record.dealer.discard)
        assert self.faces.pop("dealer") == dealer
        for seat in record.seats:
            assert self.faces.pop(str(seat.seat)) == {*(seat.low or ()), *(seat.high or ())}
            if seat.discard:
                assert seat.discard in self.down[str(seat.seat)]
        assert not self.faces

    def _money(self) -> None:
        record, table = self.record, self.table
        for seat in record.seats:
            for wager in seat.wagers:
                own = (str(seat.seat), wager.wager)
                if wager.wager == "envy":
                    laid = self.most.pop((*own, "prize"))
                    assert _worth(laid, table) == wager.paid_cents
                    assert max(len(s.colours) for s in laid) == wager.paid_chips
                    continue
                stake = self.most.pop((*own, "stake"))
                assert _worth(stake, table) == wager.stake_cents
                assert max(len(s.colours) for s in stake) == wager.stake_chips
                paid = self.most.pop((*own, "paid"), [])
                given = self.most.pop((*own, "given"), [])
                back = wager.returned_cents or 0
                on_felt = (wager.paid_cents or 0) - (0 if given else back)
                assert _worth(paid, table) == on_felt
                assert max((len(s.colours) for s in paid), default=None) == wager.paid_chips
                assert _worth(given, table) == (back if given else 0)
                assert (wager.action == "paid") == bool(paid)
                coin = wager.wager in JACKPOTS
                assert ((wager.action == "taken") or coin) == (own in self.by_dealer)
        for wager in record.dealer.wagers:
            assert _worth(self.most.pop(("house", "house", "stake")), table) == wager.stake_cents
            paid = self.most.pop(("house", "house", "paid"), [])
            assert _worth(paid, table) == wager.paid_cents
        left = {place for place in self.most if place[1] != "bank"}
        assert not left, left


def _worth(stacks: list[StackItem], table: TableFile) -> int:
    return sum(table.chips[c].value_cents for stack in stacks for c in stack.colours)


def findings(
    record: RoundRecord, table: TableFile = TABLE
) -> list[tuple[str, int | None, str | None]]:
    """What comparing a truth with what is due raises, but for what a twin card hides."""
    return sorted(raised(record, table).elements(), key=repr)


def faults(record: RoundRecord) -> list[tuple[str, int | None, str | None]]:
    """The mistakes that the truth lists and a record can show."""
    return sorted(
        ((f.code, f.seat, f.wager) for f in record.faults or () if f.code not in UNSEEN_BY_RULES),
        key=repr,
    )


def check_sound(plan: ShiftPlan, table: TableFile = TABLE) -> None:
    """All of the above, and the truth's faults are those a comparison finds."""
    check_hands_cover_changes(plan)
    check_nothing_overlaps(plan, table)
    check_felt_is_empty_between_rounds(plan)
    check_felt_matches_truth(plan, table)
    for record in plan.rounds:
        # Of what breaks the procedure a record without times shows the dice alone.
        undiced = record.model_copy(update={"dice": None})
        assert findings(undiced, table) == faults(record)
