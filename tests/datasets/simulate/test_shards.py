from __future__ import annotations

import pytest

from datasets.render.scene import FeltState
from datasets.simulate.house_tables import NEVADA, table_for
from datasets.simulate.play.motion import hand_at
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shards import Shard, from_zero, part_of
from settlement.errors import FeltwatchError

FPS = 15
PLAN = plan_shift(
    table_for(NEVADA), seed=5, rounds=7, events=EventPlan.parse("fill@3,dealer_change@5")
)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_parts_make_up_the_whole(count: int) -> None:
    parts = [part_of(PLAN, Shard(k, count), FPS) for k in range(1, count + 1)]
    assert tuple(r for part, _, _ in parts for r in part.rounds) == PLAN.rounds
    assert tuple(e for part, _, _ in parts for e in part.events) == PLAN.events
    assert parts[0][1] == 0.0
    assert parts[-1][2] == PLAN.duration_s
    state = FeltState()
    seen = []
    for (part, t0, t1), after in zip(parts, [*parts[1:], None], strict=True):
        assert after is None or after[1] == t1
        assert (t0 * FPS) == pytest.approx(round(t0 * FPS))
        own = FeltState()
        for change in part.changes:
            own.apply(change)
            if change.t_s > t0 or not t0:
                seen.append(change)
        for change in PLAN.changes:
            if t0 <= change.t_s < t1:
                state.apply(change)
        assert own.items == state.items
        for cut in (t0, t1 if after else None):
            assert cut is None or not any(hand_at(r, cut) for r in PLAN.reaches)
    assert len(seen) >= len(PLAN.changes) - count


def test_a_part_counts_from_zero_for_the_film() -> None:
    part, t0, t1 = part_of(PLAN, Shard(2, 3), FPS)
    own = from_zero(part, t0)
    assert own.duration_s == pytest.approx(t1 - t0)
    assert own.changes[0].t_s == pytest.approx(0.0)
    assert own.rounds == part.rounds


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/2/3", "-1/2"])
def test_other_words_are_no_part(text: str) -> None:
    with pytest.raises(FeltwatchError, match="--shard"):
        Shard.parse(text)


def test_more_parts_than_rounds_are_refused() -> None:
    with pytest.raises(FeltwatchError, match="at most 7 shards"):
        part_of(PLAN, Shard(1, 8), FPS)
