"""Other names for labels: renamed, merged or dropped, at import or in a dataset that is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from datasets.labelled.card_names import card_named
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box, checked_label
from datasets.labelled.source_files import read_yaml
from settlement.errors import FeltwatchError


@dataclass(frozen=True)
class LabelMap:
    """New names by old ones; None drops the boxes. `cards` also renames what names a card.

    >>> names = LabelMap({"10C": "TC", "person": None}, cards=True)
    >>> [names.name(n) for n in ("10C", "person", "ace of spades", "chip")]
    ['TC', None, 'AS', 'chip']
    """

    names: dict[str, str | None] = field(default_factory=dict)
    cards: bool = False
    _met: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def unused(self) -> list[str]:
        """Old names that no label had of those asked for so far."""
        return sorted(set(self.names) - self._met)

    def name(self, label: str) -> str | None:
        """The new name of a label, None where its boxes are dropped."""
        if label in self.names:
            self._met.add(label)
            return self.names[label]
        return (card_named(label) if self.cards else None) or label

    def labels(self, labels: Iterable[str]) -> tuple[str, ...]:
        """The labels under their new names, each once, in order."""
        return tuple(dict.fromkeys(n for label in labels if (n := self.name(label)) is not None))

    def boxes(self, boxes: Sequence[Box]) -> tuple[Box, ...]:
        """The boxes under their new names, without the dropped ones."""
        return tuple(
            box if name == box.label else replace(box, label=name)
            for box in boxes
            if (name := self.name(box.label)) is not None
        )

    def categories(self, note: Any) -> Any:
        """COCO's categories, as a dataset keeps them, under their new names."""
        if not isinstance(note, dict) or not isinstance(note.get("categories"), list):
            return note
        kept: dict[str, Any] = {}
        for one in note["categories"]:
            name = self.name(str(one.get("name"))) if isinstance(one, dict) else None
            if name is not None:
                kept.setdefault(name, one | {"name": name})
        return note | {"categories": list(kept.values())}


def parse_map(pairs: Iterable[str], file: Path | None = None, cards: bool = False) -> LabelMap:
    """A map from `OLD=NEW` (`OLD=` drops) and a YAML file of `OLD: NEW` (null drops).

    Raises FeltwatchError for what is no such pair, or for one name given twice.

    >>> parse_map(["10C=TC", "person="]).names
    {'10C': 'TC', 'person': None}
    """
    names: dict[str, str | None] = {}
    entries = read_yaml(file) if file is not None else {}
    if not isinstance(entries, dict):
        raise FeltwatchError(f"{file}: lines of OLD: NEW are due")
    for old, new in entries.items():
        names[str(old)] = None if new is None else checked_label(str(new))
    for pair in pairs:
        old, equal, new = pair.rpartition("=")
        if not equal or not old.strip():
            raise FeltwatchError(f"--map {pair}: write it as OLD=NEW, or OLD= to drop its boxes")
        if old.strip() in names:
            raise FeltwatchError(f"--map {pair}: {old.strip()} is mapped already")
        names[old.strip()] = checked_label(new.strip()) if new.strip() else None
    return LabelMap(names, cards)


@dataclass
class RelabelSummary:
    """What was renamed: boxes by old and new name (None: dropped), and images touched."""

    pictures: int = 0
    boxes: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    unused: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset relabel --json`."""
        return {
            "pictures": self.pictures,
            "boxes": [{"from": a, "to": b, "count": n} for (a, b), n in sorted(
                self.boxes.items(), key=lambda one: (-one[1], one[0][0]))],
            "unused": self.unused,
        }  # fmt: skip


def relabel(dataset: Dataset, names: LabelMap, *, by: str, dry_run: bool = False) -> RelabelSummary:
    """Rename, merge and drop labels of a dataset, in one step that is all done or not at all.

    Confirmed images stay confirmed: a name changes, not what was labelled; dropping boxes
    takes the confirmation back. Each image's history keeps the boxes before. Raises
    FeltwatchError where nothing is to be renamed, naming labels that are not there.
    """
    counts = dataset.class_counts()
    there = dict.fromkeys((*dataset.labels, *sorted(counts)))
    moved = {old: names.name(old) for old in there if names.name(old) != old}
    summary = RelabelSummary(unused=sorted(set(names.names) - set(there)))
    if not moved:
        missing = f"; there is no {', '.join(summary.unused)}" if summary.unused else ""
        raise FeltwatchError(f"{dataset.folder}: no label is to be renamed{missing}")
    for old, new in moved.items():
        if own := sum(counts.get(old, {}).values()):
            summary.boxes[old, new] = own
    summary.pictures = dataset.count_with_labels(list(moved))
    if dry_run:
        return summary
    with dataset.batch():
        dataset.rename_labels(moved, by=by)
        note = dataset.note("coco")
        if note is not None:
            dataset.set_note("coco", names.categories(note))
    return summary
