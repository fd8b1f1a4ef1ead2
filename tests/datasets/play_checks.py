"""What must hold for every planned shift; used by the tests of the play side."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import cv2
import numpy as np

from datasets.layouts import card_corners, overlap
from datasets.motion import hand_at
from datasets.scene import (
    CardItem,
    Change,
    FeltState,
    Item,
    LammerItem,
    Reach,
    ShiftPlan,
    StackItem,
)
from settlement.compare import compare
from settlement.record import RoundRecord
from settlement.rules import TableRules, WagerLimit
from settlement.settle import settle
from vision.layout import standard_table
from vision.table import CHIP_DIAMETER_MM, TableFile

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


def replay(plan: ShiftPlan) -> Iterator[tuple[Change, FeltState, tuple[Item, ...]]]:
    """Every change in order with the felt after it and the items that went or came."""
    state = FeltState()
    for change in plan.changes:
        yield change, state, state.apply(change)


def reach_of(plan: ShiftPlan, change: Change) -> Reach:
    """The reach whose hand is nearest to what the change touches."""
    centers = [item.center_mm for item in change.put]
    if not centers:
        state = FeltState()
        for earlier in plan.changes:
            if earlier is change:
                break
            state.apply(earlier)
        centers = [state.items[key].center_mm for key in change.remove]
    middle = tuple(np.mean(centers, axis=0))
    hands = [(hand_at(reach, change.t_s), reach) for reach in plan.reaches]
    return min(
        ((math.dist(hand, middle), n, reach) for n, (hand, reach) in enumerate(hands) if hand),
    )[2]


def check_hands_cover_changes(plan: ShiftPlan) -> None:
    """Some hand is at every change, near everything that comes or goes."""
    for change, _, touched in replay(plan):
        hands = [h for h in (hand_at(r, change.t_s) for r in plan.reaches) if h]
        assert any(
            all(
                math.dist(hand, item.center_mm) <= (130.0 if isinstance(item, CardItem) else 60.0)
                for item in touched
            )
            for hand in hands
        ), change


def _radius(item: StackItem | LammerItem, table: TableFile) -> float:
    if isinstance(item, StackItem):
        return CHIP_DIAMETER_MM / 2
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
    round_ones = [one for one in (item, other) if not isinstance(one, CardItem)]
    if len(cards) == 2:
        if _owner(item) != _owner(other):
            assert overlap(card_corners(cards[0]), card_corners(cards[1])) == 0, (item, other)
    elif cards:
        outline = card_corners(cards[0]).astype(np.float32)
        depth = cv2.pointPolygonTest(outline, round_ones[0].center_mm, True)
        assert -depth >= _radius(round_ones[0], table), (item, other)
    else:
        apart = math.dist(item.center_mm, other.center_mm)
        assert apart >= sum(_radius(one, table) for one in round_ones), (item, other)


def check_felt_is_empty_between_rounds(plan: ShiftPlan) -> None:
    """Everything of a round comes and goes between its start and its end."""
    ends = [float(record.end_s or 0) for record in plan.rounds]
    starts = [float(record.start_s or 0) for record in plan.rounds]
    empty_at = [change.t_s for change, state, _ in replay(plan) if not state.items]
    assert empty_at == ends
    assert starts[0] == plan.changes[0].t_s
    for end, start in zip(ends, starts[1:], strict=False):
        assert start in {change.t_s for change in plan.changes}
        quiet = [r for r in plan.reaches if r.t1_s > end + 1.0 and r.t0_s < start]
        off = max(r.t1_s for r in plan.reaches if r.t0_s <= end)
        assert min(r.t0_s for r in quiet) >= off + 1.0 - EPS_S


def check_felt_matches_truth(plan: ShiftPlan, table: TableFile = TABLE) -> None:
    """Cards, stakes, pays, lammers and actions on the felt are those of the records."""
    for number, record in enumerate(plan.rounds, start=1):
        assert record.round_id == f"{table.table}-{number:06d}"
        _check_round(plan, f"r{number}", record, table)


def _check_round(plan: ShiftPlan, prefix: str, record: RoundRecord, table: TableFile) -> None:
    laid: dict[tuple[int, str, str], list[StackItem]] = defaultdict(list)
    lammers: Counter[tuple[int, str]] = Counter()
    faces: dict[str, set[str]] = defaultdict(set)
    by_dealer: set[tuple[int, str]] = set()
    for change, _, touched in replay(plan):
        for item in touched:
            if not item.key.startswith(prefix + "."):
                continue
            _, owner, *rest = item.key.split(".")
            coming = any(item is put for put in change.put)
            if isinstance(item, CardItem) and item.face_up and coming:
                faces[owner].add(item.label)
            elif isinstance(item, LammerItem) and coming:
                lammers[int(owner), item.kind] += 1
            elif isinstance(item, StackItem):
                spot, kind = rest[0], rest[1][:-1]
                if coming:
                    laid[int(owner), spot, kind].append(item)
                elif kind == "stake" and reach_of(plan, change).who == "dealer":
                    by_dealer.add((int(owner), spot))
    assert faces.pop("dealer") == {*(record.dealer.low or ()), *(record.dealer.high or ())}
    for seat in record.seats:
        assert faces.pop(str(seat.seat)) == {*(seat.low or ()), *(seat.high or ())}
        for kind in seat.lammers:
            assert lammers.pop((seat.seat, kind)) == 1
        for wager in seat.wagers:
            if wager.wager == "envy":
                prizes = {k: v for k, v in laid.items() if k[:2] == (seat.seat, "envy")}
                last = prizes[max(prizes)]
                assert _worth(last, table) == wager.paid_cents
                assert max(len(s.colours) for s in last) == wager.paid_chips
                for key in prizes:
                    del laid[key]
                continue
            stake = laid.pop((seat.seat, wager.wager, "stake"))
            paid = laid.pop((seat.seat, wager.wager, "paid"), [])
            assert len(stake) == 1
            assert _worth(stake, table) == wager.stake_cents
            assert len(stake[0].colours) == wager.stake_chips
            assert _worth(paid, table) == wager.paid_cents
            assert max((len(s.colours) for s in paid), default=None) == wager.paid_chips
            assert (wager.action == "paid") == bool(paid)
            assert (wager.action == "taken") == ((seat.seat, wager.wager) in by_dealer)
    assert not faces
    assert not lammers
    assert not laid


def _worth(stacks: list[StackItem], table: TableFile) -> int:
    for stack in stacks:
        values = [table.chips[colour].value_cents for colour in stack.colours]
        assert values == sorted(values, reverse=True)
        assert len(values) <= 12
    return sum(table.chips[c].value_cents for stack in stacks for c in stack.colours)


def findings(
    record: RoundRecord, rules: TableRules = RULES
) -> list[tuple[str, int | None, str | None]]:
    """What comparing a truth with what is due raises, but for what a twin card hides."""
    codes = [fault.code for fault in record.faults or ()]
    found = compare(record, settle(record, rules), rules)
    return sorted(
        (
            (str(f.code), f.seat, f.wager)
            for f in found
            if not ("DECK" in codes and f.code == "UNDECIDED")
        ),
        key=repr,
    )


def faults(record: RoundRecord) -> list[tuple[str, int | None, str | None]]:
    """The mistakes that the truth lists."""
    return sorted(((f.code, f.seat, f.wager) for f in record.faults or ()), key=repr)
