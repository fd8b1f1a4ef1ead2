"""Splitting a dataset by whole shifts, decks, cameras or spans of time, by class."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from datasets.labelled.manifest import Dataset
from datasets.labelled.queries import GROUP_KEYS
from datasets.labelled.stats import near_pictures
from datasets.labelled.times import SPAN_S, time_groups
from settlement.errors import FeltwatchError

SPLITTER = "import:split"
"""Who is noted to have put images into splits."""

PICTURES_WEIGHT = 0.1
"""Weight of the share of the images, where that of a class weighs 1.

With more the many images that are still to come draw the few of a rare class to `train`.
"""

TIME = "time"
SPLIT_KEYS = (*GROUP_KEYS, TIME)
"""What can hold images together in a split."""

Values = tuple[str | None, ...]


@dataclass
class SplitSummary:
    """What a split reached; shares are of all images.

    `near` counts the images that were held together because they are almost the same.
    `classes` gives each label its boxes by split.
    """

    by: tuple[str, ...]
    wanted: dict[str, float]
    reached: dict[str, float]
    pictures: dict[str, int]
    groups: int
    largest_group: int
    fixed: int = 0
    near: int = 0
    classes: dict[str, dict[str, int]] = field(default_factory=dict)
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
            "near": self.near,
            "classes": self.classes,
            "warnings": self.warnings,
        }


def parse_shares(text: str) -> dict[str, float]:
    """Shares written as `train=0.8,val=0.1,test=0.1`; raises FeltwatchError.

    They need not add up to 1: `split_dataset` takes others as weights and says so.

    >>> parse_shares("train=3,val=1")
    {'train': 3.0, 'val': 1.0}
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
    return shares


def _as_parts(shares: Mapping[str, float]) -> tuple[dict[str, float], list[str]]:
    """Shares that add up to 1, and a warning where they did not."""
    whole = sum(shares.values())
    parts = {name: share / whole for name, share in shares.items()}
    if math.isclose(whole, 1.0, abs_tol=1e-6):
        return parts, []
    listed = ", ".join(f"{name} {part:.1%}" for name, part in parts.items())
    return parts, [f"--shares add up to {whole:g}, not 1, and are taken as weights: {listed}"]


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

    def __contains__(self, node: tuple[int, str]) -> bool:
        return node in self._up


_PICTURE = len(SPLIT_KEYS)
"""Place of an image's own number among the nodes, behind those of all keys."""


def split_dataset(
    dataset: Dataset,
    by: Sequence[str] = ("shift",),
    shares: Mapping[str, float] | None = None,
    seed: int = 0,
    anew: bool = False,
    near: bool = True,
    span_s: float = SPAN_S,
) -> SplitSummary:
    """Put every image into a split; images that share a value of `by` stay together.

    By `time` images stay together that were taken less than `span_s` one after another. An
    image with none of these values is a group of its own. Unless `near` is false
    images that are almost the same stay together too. Groups are shared out so that each
    split gets its share of the images and of every class. Images that are in a split
    stay there, and their group with them, unless `anew`. The same dataset, seed and shares
    give the same splits. Raises FeltwatchError when it cannot be done, saying what would help.
    """
    keys = tuple(dict.fromkeys(by))
    wrong = next((k for k in keys if k not in SPLIT_KEYS), None)
    if wrong is not None or not keys:
        raise FeltwatchError(f"--by {wrong or ''}: can be {', '.join(SPLIT_KEYS)}")
    shares, weighted = _as_parts(shares or {"train": 0.8, "val": 0.1, "test": 0.1})
    if not len(dataset):
        raise FeltwatchError(f"{dataset.folder}: holds no images to split")
    members = _Members(dataset, keys, time_groups(dataset, span_s) if TIME in keys else {})
    union = _Union()
    for _, values, _ in members:
        nodes = [(at, value) for at, value in enumerate(values) if value is not None]
        for node in nodes[1:]:
            union.join(nodes[0], node)
    alike = _join_near(dataset, members, union) if near else 0
    sizes: dict[str, int] = {}
    fixed: dict[str, set[str]] = {}
    kept = 0
    names: dict[int, str] = {}
    for id, name, split in _named(members, union):
        names[id] = name
        sizes[name] = sizes.get(name, 0) + 1
        if split is not None and not anew:
            fixed.setdefault(name, set()).add(split)
            kept += 1
    _refuse(dataset, keys, shares, sizes, fixed, alike)
    counts: dict[str, Counter[str]] = {name: Counter() for name in sizes}
    for id, label, count in dataset.picture_classes():
        counts[names[id]][label] += count
    home = share_out(sizes, counts, {n: next(iter(s)) for n, s in fixed.items()}, shares, seed)
    dataset.set_splits(_moves(members, names, home, anew), by=SPLITTER)
    summary = _summary(dataset, keys, shares, sizes, kept)
    summary.near = alike
    summary.warnings[:0] = weighted
    return summary


@dataclass(frozen=True)
class _Members:
    """Number, values of the keys and split of every image, in order."""

    dataset: Dataset
    keys: tuple[str, ...]
    times: Mapping[int, str]

    def __iter__(self) -> Iterator[tuple[int, Values, str | None]]:
        stored = tuple(key for key in self.keys if key != TIME)
        for id, values, split in self.dataset.members(stored):
            own = dict(zip(stored, values, strict=True)) | {TIME: self.times.get(id)}
            yield id, tuple(own[key] for key in self.keys), split


def _join_near(dataset: Dataset, members: _Members, union: _Union) -> int:
    """Join the groups of images that are almost the same; how many such images there are."""
    links = near_pictures(dataset)
    alike = {id for link in links for id in link}
    nodes: dict[int, tuple[int, str]] = {}
    for id, values, _ in members if links else ():
        if id in alike:
            nodes[id] = _node(id, values)
            union.top(nodes[id])
    for first, second in links:
        union.join(nodes[first], nodes[second])
    return len(alike)


def _node(id: int, values: Values) -> tuple[int, str]:
    """What holds an image to its group: its first value, else its own number."""
    for at, value in enumerate(values):
        if value is not None:
            return at, value
    return _PICTURE, str(id)


def _group(id: int, values: Values, union: _Union) -> str:
    """The name of an image's group."""
    place, top = union.top(_node(id, values))
    return f"#{top}" if place == _PICTURE else f"{place}:{top}"


def _named(members: _Members, union: _Union) -> Iterator[tuple[int, str, str | None]]:
    for id, values, split in members:
        yield id, _group(id, values, union), split


def _moves(
    members: _Members,
    names: Mapping[int, str],
    home: Mapping[str, str],
    anew: bool,
) -> Iterator[tuple[int, str]]:
    for id, _, split in list(members):
        if anew or split is None:
            yield id, home[names[id]]


def _refuse(
    dataset: Dataset,
    keys: tuple[str, ...],
    shares: Mapping[str, float],
    sizes: Mapping[str, int],
    fixed: Mapping[str, set[str]],
    alike: int,
) -> None:
    names = ", ".join(keys) + (" or by being almost the same" if alike else "")
    torn = next(((n, s) for n, s in fixed.items() if len(s) > 1), None)
    if torn is not None:
        value = torn[0].partition(":")[2] or torn[0]
        instead = ", or leave alike images apart with --near-apart" if alike else ""
        raise FeltwatchError(
            f"{dataset.folder}: images that belong together by {names} ({value}) are in "
            f"{' and '.join(sorted(torn[1]))} already; split with --anew{instead}"
        )
    if len(sizes) >= len(shares) or fixed:
        return
    only = ", ".join(keys)
    fewer = f"split by less than {only}" if len(keys) > 1 else "split by another value"
    fewer += ", give a shorter --span" if TIME in keys else ""
    fewer += ", leave alike images apart with --near-apart" if alike else ""
    raise FeltwatchError(
        f"{dataset.folder}: by {names} all images are connected in {len(sizes)} group"
        f"{'s' if len(sizes) > 1 else ''}, too few for {len(shares)} splits; {fewer}, ask for "
        "fewer splits with --shares, or add images of other shifts, decks and cameras"
    )


def share_out(
    sizes: Mapping[str, int],
    counts: Mapping[str, Mapping[str, int]],
    fixed: Mapping[str, str],
    shares: Mapping[str, float],
    seed: int,
) -> dict[str, str]:
    """The split of every group: the largest first, each where the whole then deviates least.

    What deviates is, of each class in `counts`, the share of its boxes, and with less weight
    the share of the images. So classes are stratified as far as whole groups allow.

    >>> counts = {"a": {"AS": 2}, "b": {"AS": 2}, "c": {"KD": 2}, "d": {"KD": 2}}
    >>> home = share_out(dict.fromkeys("abcd", 1), counts, {}, {"train": 0.5, "val": 0.5}, 0)
    >>> home["a"] != home["b"], home["c"] != home["d"]
    (True, True)
    """
    whole = sum(sizes.values())
    totals: Counter[str] = Counter()
    for own in counts.values():
        totals.update(own)
    got: dict[str, Counter[str]] = {name: Counter() for name in shares}
    held = dict.fromkeys(shares, 0)

    def cost(name: str, split: str) -> float:
        """How much the squared deviation grows with a group in a split."""
        size, share = sizes[name] / whole, shares[split]
        grown = size * (size + 2 * (held[split] / whole - share))
        own = counts.get(name, {})
        by_class = 0.0
        for label, count in own.items():
            part = count / totals[label]
            by_class += part * (part + 2 * (got[split][label] / totals[label] - share))
        return by_class + PICTURES_WEIGHT * grown

    def put(name: str, split: str) -> None:
        held[split] += sizes[name]
        got[split].update(counts.get(name, {}))

    for name, split in fixed.items():
        if split in shares:
            put(name, split)
    home = dict(fixed)
    free = [name for name in sizes if name not in fixed]
    rare = {
        name: max((n / totals[label] for label, n in counts.get(name, {}).items()), default=0.0)
        for name in free
    }
    free.sort(key=lambda name: (-sizes[name], -rare[name], _mix(name, seed)))
    empty = [s for s in shares if s not in fixed.values()]
    for at, name in enumerate(free):
        # Towards the end every split that has nothing gets a group.
        choice = empty if empty and len(free) - at <= len(empty) else list(shares)
        split = min(choice, key=partial(cost, name))
        if split in empty:
            empty.remove(split)
        home[name] = split
        put(name, split)
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
                f"{name}: {got:.1%} of the images instead of {share:.1%}; "
                f"the largest group has {max(sizes.values())} of {whole}"
                + ("; a shorter --span gives smaller groups" if TIME in keys else "")
            )
    for label, own in sorted(dataset.class_counts().items()):
        summary.classes[label] = {name: own.get(name, 0) for name in shares}
        lacking = [name for name in shares if not own.get(name)]
        if lacking:
            verb = "hold" if len(lacking) > 1 else "holds"
            count = sum(own.values())
            boxes = f"of its {count} boxes" if count > 1 else "(it has 1 box)"
            summary.warnings.append(f"{label}: {_listed(lacking)} {verb} none {boxes}")
    return summary


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
