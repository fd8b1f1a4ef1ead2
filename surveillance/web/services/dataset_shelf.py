"""The datasets that a server shows, each with what works on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from datasets.labelled.manifest import Dataset
from settlement.errors import FeltwatchError
from surveillance.web.repositories.labelled import LabelledPictures
from surveillance.web.services.review import ReviewService
from surveillance.web.services.thumbnails import Thumbnails


@dataclass(frozen=True, slots=True)
class ReviewedDataset:
    """Services of one dataset; `slug` names it in URLs."""

    slug: str
    review: ReviewService
    thumbnails: Thumbnails


class Shelf(Mapping[str, ReviewedDataset]):
    """The datasets by their slug, open until `close`."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Open the datasets. Raises FeltwatchError naming the folder that is none."""
        self._datasets: list[Dataset] = []
        self._reviewed: dict[str, ReviewedDataset] = {}
        try:
            for folder in folders:
                self._add(folder)
        except BaseException:
            self.close()
            raise

    def _add(self, folder: Path) -> None:
        slug = folder.resolve().name or "dataset"
        if slug in self._reviewed:
            raise FeltwatchError(f"{folder}: another dataset here is called {slug}; rename one")
        dataset = Dataset.open(folder)
        self._datasets.append(dataset)
        pictures = LabelledPictures(dataset)
        url = f"/api/datasets/{quote(slug, safe='')}"
        self._reviewed[slug] = ReviewedDataset(
            slug=slug, review=ReviewService(pictures, url), thumbnails=Thumbnails(folder)
        )

    def close(self) -> None:
        """Close the datasets."""
        for dataset in self._datasets:
            dataset.close()

    def __getitem__(self, slug: str) -> ReviewedDataset:
        """The dataset of that slug; raises KeyError."""
        return self._reviewed[slug]

    def __iter__(self) -> Iterator[str]:
        """The slugs, in the order in which the datasets were given."""
        return iter(self._reviewed)

    def __len__(self) -> int:
        return len(self._reviewed)
