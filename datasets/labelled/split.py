"""Splitting a dataset by whole shifts, decks and cameras."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from datasets.labelled.manifest import Dataset
from datasets.labelled.queries import GROUP_KEYS
from settlement.errors import FeltwatchError

SPLITTER = "import:split"
"""Who is noted to have put pictures into splits."""

Values = tuple[str | None, ...]


@dataclass
class SplitSummary:
    """What a split reached; shares are of all pictures."""

    by: tuple[str, ...]
    wanted: dict[str, float]
    reached: dict[str, float]
    pictures: dict[str, int]
    groups: int
    largest_group: int
    fixed: int = 0
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset split --json`."""
        return {
            "by": list(self.by),
            "wanted": self.wanted,
            "reached": self.reached,
            "pictures": self.pictures,
            "groups": self.groups,
            "largest_group": self.largest_group,
            "fixed": self.fixed,
            "warnings": self.warnings,
        }


def parse_shares(text: str) -> dict[str, float]:
    """Shares written as `train=0.8,val=0.1,test=0.1`; raises FeltwatchError.

    >>> parse_shares("train=3,val=1")
    {'train': 0.75, 'val': 0.25}
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, equal, number = part.partition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not equal or not name.strip().isidentifier() or not 0 < share < float("inf"):
            raise FeltwatchError(f"--shares {text}: write them as train=0.8,val=0.1,test=0.1")
        if name.strip() in shares:
            raise FeltwatchError(f"--shares {text}: {name.strip()} is there twice")
        shares[name.strip()] = share
    whole = sum(shares.values())
    return {name: share / whole for name, share in shares.items()}


class _Union:
    """Sets that are joined, each known by one of its members (union-find)."""

    def __init__(self) -> None:
        self._up: dict[tuple[int, str], tuple[int, str]] = {}

    def top(self, node: tuple[int, str]) -> tuple[int, str]:
        up = self._up.setdefault(node, node)
        while up != node:
            self._up[node] = self._up.setdefault(up, up)
            node, up = up, self._up[up]
        return node

    def join(self, a: tuple[int, str], b: tuple[int, str]) -> None:
        low, high = sorted((self.top(a), self.top(b)))
        self._up[high] = low


def split_dataset(
    dataset: Dataset,
    by: Sequence[str] = ("shift",),
    shares: Mapping[str, float] | None = None,
    seed: int = 0,
    anew: bool = False,
) -> SplitSummary:
    """Put every picture into a split; pictures that share a value of `by` stay together.

    A picture that tells none of these values is a group of its own. Pictures that are in a
    split stay there, and their group with them, unless `anew`. The same dataset, seed and
    shares give the same splits. Raises FeltwatchError when it cannot be done, saying what
    would help.
    """
    keys = tuple(dict.fromkeys(by))
    wrong = next((k for k in keys if k not in GROUP_KEYS), None)
    if wrong is not None or not keys:
        raise FeltwatchError(f"--by {wrong or ''}: can be {', '.join(GROUP_KEYS)}")
    shares = dict(shares or {"train": 0.8, "val": 0.1, "test": 0.1})
    if not len(dataset):
        raise FeltwatchError(f"{dataset.folder}: holds no pictures to split")
    union = _Union()
    for values, _ in dataset.groups(keys):
        nodes = [(at, value) for at, value in enumerate(values) if value is not None]
        for node in nodes[1:]:
            union.join(nodes[0], node)
    sizes: dict[str, int] = {}
    fixed: dict[str, set[str]] = {}
    kept = 0
    for name, split in _named(dataset, keys, union):
        sizes[name] = sizes.get(name, 0) + 1
        if split is not None and not anew:
            fixed.setdefault(name, set()).add(split)
            kept += 1
    _refuse(dataset, keys, shares, sizes, fixed)
    home = _share_out(sizes, {n: next(iter(s)) for n, s in fixed.items()}, shares, seed)
    dataset.set_splits(_moves(dataset, keys, union, home, anew), by=SPLITTER)
    return _summary(dataset, keys, shares, sizes, kept)


def _group(id: int, values: Values, union: _Union) -> str:
    """The name of a picture's group."""
    for at, value in enumerate(values):
        if value is not None:
            place, top = union.top((at, value))
            return f"{place}:{top}"
    return f"#{id}"


def _named(
    dataset: Dataset, keys: tuple[str, ...], union: _Union
) -> Iterator[tuple[str, str | None]]:
    for id, values, split in dataset.members(keys):
        yield _group(id, values, union), split


def _moves(
    dataset: Dataset, keys: tuple[str, ...], union: _Union, home: Mapping[str, str], anew: bool
) -> Iterator[tuple[int, str]]:
    for id, values, split in list(dataset.members(keys)):
        if anew or split is None:
            yield id, home[_group(id, values, union)]


def _refuse(
    dataset: Dataset,
    keys: tuple[str, ...],
    shares: Mapping[str, float],
    sizes: Mapping[str, int],
    fixed: Mapping[str, set[str]],
) -> None:
    names = ", ".join(keys)
    torn = next(((n, s) for n, s in fixed.items() if len(s) > 1), None)
    if torn is not None:
        value = torn[0].partition(":")[2] or torn[0]
        raise FeltwatchError(
            f"{dataset.folder}: pictures that belong together by {names} ({value}) are in "
            f"{' and '.join(sorted(torn[1]))} already; split with --anew"
        )
    if len(sizes) >= len(shares) or fixed:
        return
    fewer = f"split by less than {names}" if len(keys) > 1 else "split by another value"
    raise FeltwatchError(
        f"{dataset.folder}: by {names} all pictures hang together in {len(sizes)} group"
        f"{'s' if len(sizes) > 1 else ''}, too few for {len(shares)} splits; {fewer}, ask for "
        "fewer splits with --shares, or add pictures of other shifts, decks and cameras"
    )


def _share_out(
    sizes: Mapping[str, int], fixed: Mapping[str, str], shares: Mapping[str, float], seed: int
) -> dict[str, str]:
    """The split of every group: the largest first, each to the split that lacks most."""
    whole = sum(sizes.values())
    lack = {name: share * whole for name, share in shares.items()}
    for name, split in fixed.items():
        if split in lack:
            lack[split] -= sizes[name]
    home = dict(fixed)
    free = [name for name in sizes if name not in fixed]
    free.sort(key=lambda name: (-sizes[name], _mix(name, seed)))
    empty = [s for s in shares if s not in fixed.values()]
    for at, name in enumerate(free):
        split = max(lack, key=lambda s: lack[s])
        # Towards the end every split that has nothing gets a group.
        if empty and len(free) - at <= len(empty):
            split = max(empty, key=lambda s: lack[s])
        if split in empty:
            empty.remove(split)
        home[name] = split
        lack[split] -= sizes[name]
    return home


def _mix(name: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()


def _summary(
    dataset: Dataset,
    keys: tuple[str, ...],
    shares: Mapping[str, float],
    sizes: Mapping[str, int],
    kept: int,
) -> SplitSummary:
    whole = sum(sizes.values())
    pictures = {name or "none": count for name, count in dataset.splits().items()}
    reached = {name: round(count / whole, 4) for name, count in pictures.items()}
    summary = SplitSummary(
        keys, dict(shares), reached, pictures, len(sizes), max(sizes.values()), kept
    )
    for name, share in shares.items():
        got = reached.get(name, 0.0)
        if abs(got - share) > max(0.02, 0.25 * share):
            summary.warnings.append(
                f"{name}: {got:.1%} of the pictures instead of {share:.1%}; "
                f"the largest group has {max(sizes.values())} of {whole}"
            )
    return summary
