"""Review of a labelled dataset: images in pages, boxes saved by revision, confirmations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from datasets.labelled.checks.deck_check import View, cards_twice
from datasets.labelled.manifest import Box, Change, Conflict, Picture
from datasets.labelled.suggestions import differing
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from surveillance.web.repositories.labelled import Filter, LabelledPictures
from surveillance.web.schemas.review import (
    BoxForm,
    CardSeen,
    ChangeLine,
    DatasetForm,
    DealForm,
    PictureCount,
    PictureForm,
    PictureLine,
    PicturePage,
    SplitLine,
    SuggestionForm,
    SuggestionsForm,
    TwiceLine,
)
from surveillance.web.services.errors import NotThereError, RefusedError

DEAL_LIMIT = 200
"""Most images of one deal that a check reads."""

MAX_LABELS = 2_000
_SLACK_PX = 0.5
_CARDS = frozenset(DECK_LABELS)


class ChangedMeanwhile(Exception):  # noqa: N818 - the answer to a step, not a failure
    """Somebody else's change came first; `picture` is its present state."""

    def __init__(self, message: str, picture: PictureForm) -> None:
        """Carry `message`, and the image in its present state."""
        super().__init__(message)
        self.picture = picture


class ReviewService:
    """Service of the review page for one dataset."""

    def __init__(self, pictures: LabelledPictures, url: str) -> None:
        """Work on `pictures`; `url` is the path under which its API is served."""
        self.pictures = pictures
        self.url = url

    def dataset(self) -> DatasetForm:
        """The dataset as a whole."""
        splits = self.pictures.splits()
        return DatasetForm(
            name=self.pictures.name,
            key=self.pictures.key,
            labels=list(self.pictures.labels()),
            splits=[SplitLine(name=name, pictures=count) for name, count in splits],
            pictures=sum(count for _, count in splits),
            suggested=len(self.pictures.suggestions),
        )

    def add_label(self, name: str) -> list[str]:
        """All labels, with `name` at the end when it was not there."""
        labels = list(self.pictures.labels())
        if name not in labels:
            if len(labels) >= MAX_LABELS:
                raise RefusedError(f"there are {len(labels):,} labels already; no more are taken")
            self.pictures.add_label(name)
        return list(self.pictures.labels())

    def page(
        self, wanted: Filter, *, after: int, before: int | None, limit: int, at: int | None = None
    ) -> PicturePage:
        """At most `limit` images after one, before one, or from image `at` on."""
        if at is not None and before is None:
            found = self.pictures.page_after(at, limit + 1, wanted)
            if self.pictures.matches(at, wanted):
                found = [self.find(at), *found][: limit + 1]
            shown = found[:limit]
        elif before is None:
            found = self.pictures.page_after(after, limit + 1, wanted)
            shown = found[:limit]
        else:
            found = self.pictures.page_before(before, limit + 1, wanted)
            shown = found[-limit:]
        return PicturePage(pictures=[self._line(p) for p in shown], more=len(found) > limit)

    def count(self, wanted: Filter, at: int | None) -> PictureCount:
        """Count the images that match the filter, and find the position of image `at`."""
        matching = self.pictures.count(wanted)
        place = None if at is None else matching - self.pictures.count(wanted, after_id=at)
        if wanted.confirmed is None:
            confirmed = self.pictures.count(replace(wanted, confirmed=True))
        else:
            confirmed = matching if wanted.confirmed else 0
        return PictureCount(matching=matching, confirmed=confirmed, place=place)

    def picture(self, id: int) -> PictureForm:
        """An image with its boxes. Raises NotThereError."""
        picture = self.find(id)
        while True:
            form = self._form(picture)
            again = self.find(id)
            # Boxes and revision are read one after the other; somebody may save between.
            if again.revision == picture.revision:
                return form
            picture = again

    def find(self, id: int) -> Picture:
        """An image as the manifest has it. Raises NotThereError."""
        picture = self.pictures.find(id)
        if picture is None:
            raise NotThereError(f"there is no image {id} in this dataset")
        return picture

    def path(self, id: int) -> Path:
        """The image's file. Raises NotThereError, also when it lies outside the dataset."""
        try:
            return self.pictures.path(self.find(id))
        except FeltwatchError as error:
            raise NotThereError(str(error)) from error

    def set_boxes(
        self, id: int, forms: Sequence[BoxForm], *, by: str, revision: int
    ) -> PictureForm:
        """Save the boxes; return the image as it is then.

        Raises NotThereError, RefusedError for a box or label that can't be, and ChangedMeanwhile.
        """
        boxes = [_box(form) for form in forms]
        return self._change(
            id, boxes, lambda: self.pictures.set_boxes(id, boxes, by=by, revision=revision)
        )

    def confirm(self, id: int, confirmed: bool, *, by: str, revision: int) -> PictureForm:
        """Confirm the boxes, or take that back. Raises NotThereError and ChangedMeanwhile."""
        return self._change(
            id, None, lambda: self.pictures.confirm(id, confirmed, by=by, revision=revision)
        )

    def _change(
        self, id: int, boxes: Sequence[Box] | None, change: Callable[[], int]
    ) -> PictureForm:
        # One step: the revision given back must belong to this change, not to a later one.
        try:
            with self.pictures.step():
                picture = self.find(id)
                if boxes is not None:
                    self._check(picture, boxes)
                change()
                return self._form(self.find(id))
        except Conflict as conflict:
            raise ChangedMeanwhile(str(conflict), self.picture(id)) from conflict

    def history(self, id: int) -> list[ChangeLine]:
        """Every change of an image, the first one first. Raises NotThereError."""
        self.find(id)
        return [
            ChangeLine(
                revision=change.revision,
                by=change.by,
                at=change.at,
                what=change.what,
                note=change.note,
                boxes=len(boxes),
            )
            for change, boxes in self._versions(id)
        ]

    def boxes_at(self, id: int, revision: int) -> list[BoxForm]:
        """The boxes as they were at a revision. Raises NotThereError."""
        self.find(id)
        for change, boxes in self._versions(id):
            if change.revision == revision:
                return [_form(box) for box in boxes]
        raise NotThereError(f"image {id} has no revision {revision}")

    def suggestions(self, id: int, forms: Sequence[BoxForm] | None = None) -> SuggestionsForm:
        """Return the suggestions for an image; with `forms` in place of its boxes.

        Raises NotThereError.
        """
        self.find(id)
        suggested = self.pictures.suggestions.of(id)
        if suggested is None:
            return SuggestionsForm(by=None, rejected=[], suggestions=[])
        boxes = self.pictures.boxes(id) if forms is None else tuple(_box(f) for f in forms)
        return SuggestionsForm(
            by=suggested.by,
            rejected=sorted(suggested.rejected),
            suggestions=[
                SuggestionForm(
                    key=one.key,
                    kind=one.kind.value,
                    own=one.own,
                    result=None if one.result is None else _form(one.result),
                    score=one.score,
                )
                for one in differing(suggested.boxes, boxes)
            ],
        )

    def reject(self, id: int, keys: Sequence[str]) -> SuggestionsForm:
        """Keep these suggestions as the rejected ones of an image. Raises NotThereError."""
        self.find(id)
        self.pictures.suggestions.reject(id, keys)
        return self.suggestions(id)

    def deal(self, id: int, forms: Sequence[BoxForm] | None = None) -> DealForm:
        """The 53-card check of an image's deal; with `forms` in place of its boxes.

        Raises NotThereError.
        """
        picture = self.find(id)
        if picture.deal is None:
            return DealForm(deal=None, pictures=1, left_out=0, elsewhere={}, twice=[])
        of_deal = Filter(deal=picture.deal)
        others = [p for p in self.pictures.page_after(0, DEAL_LIMIT, of_deal) if p.id != id]
        boxes = self.pictures.boxes(id) if forms is None else tuple(_box(f) for f in forms)
        elsewhere: dict[str, list[CardSeen]] = {}
        views = [_view(picture, boxes)]
        for other in others:
            views.append(_view(other, self.pictures.boxes(other.id)))
            cards = Counter(box.label for box in views[-1].boxes if box.label in _CARDS)
            for card, count in cards.items():
                seen = CardSeen(picture=other.id, file=other.file, boxes=count)
                elsewhere.setdefault(card, []).append(seen)
        count = self.pictures.count(of_deal)
        return DealForm(
            deal=picture.deal,
            pictures=count,
            left_out=count - len(others) - 1,
            elsewhere=elsewhere,
            twice=[TwiceLine(card=t.card, where=list(t.where)) for t in cards_twice(views)],
        )

    def _versions(self, id: int) -> list[tuple[Change, tuple[Box, ...]]]:
        """Each change with the boxes after it, the first one first.

        The manifest keeps the boxes before each change of boxes: those after a change
        are those before the next one, or the present ones.
        """
        found = []
        boxes = self.pictures.boxes(id)
        for change in reversed(self.pictures.history(id)):
            found.append((change, boxes))
            if change.before is not None:
                boxes = change.before
        return found[::-1]

    def _check(self, picture: Picture, boxes: Sequence[Box]) -> None:
        """Raise RefusedError for a new box that can't be; boxes that were there may stay.

        An import may have brought a box outside the image or a label that the dataset does
        not list: that must not keep a person from correcting the image's other boxes.
        """
        known = set(self.pictures.labels())
        there: dict[tuple[object, ...], list[Box]] = {}
        for box in self.pictures.boxes(picture.id):
            known.add(box.label)
            there.setdefault((box.label, *box.xyxy), []).append(box)
        for place, box in enumerate(boxes, 1):
            name = f"box {place} ({box.label})"
            if box.label not in known:
                raise RefusedError(
                    f"{name}: the dataset has no label {box.label!r}; choose another or add it"
                )
            if box in there.get((box.label, *box.xyxy), ()):
                continue
            if not (box.x0 < box.x1 and box.y0 < box.y1):
                raise RefusedError(
                    f"{name}: is empty; left must be before right and top above bottom"
                )
            centre_x, centre_y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
            inside = bool(box.angle_deg) or (
                box.x0 >= -_SLACK_PX
                and box.y0 >= -_SLACK_PX
                and box.x1 <= picture.width + _SLACK_PX
                and box.y1 <= picture.height + _SLACK_PX
            )
            if not (inside and 0 <= centre_x <= picture.width and 0 <= centre_y <= picture.height):
                raise RefusedError(
                    f"{name}: does not lie within the image of "
                    f"{picture.width} x {picture.height} px"
                )

    def _line(self, picture: Picture) -> PictureLine:
        return PictureLine(
            id=picture.id,
            file=picture.file,
            revision=picture.revision,
            split=picture.split,
            deal=picture.deal,
            boxes=len(self.pictures.boxes(picture.id)),
            labelled_by=picture.labelled_by,
            confirmed_by=picture.confirmed_by,
        )

    def _form(self, picture: Picture) -> PictureForm:
        url = f"{self.url}/pictures/{picture.id}"
        return PictureForm(
            id=picture.id,
            file=picture.file,
            width=picture.width,
            height=picture.height,
            sha256=picture.sha256,
            source=picture.source,
            time_s=picture.time_s,
            deck=picture.deck,
            camera=picture.camera,
            shift=picture.shift,
            deal=picture.deal,
            split=picture.split,
            labelled_by=picture.labelled_by,
            confirmed_by=picture.confirmed_by,
            confirmed_at=picture.confirmed_at,
            revision=picture.revision,
            boxes=[_form(box) for box in self.pictures.boxes(picture.id)],
            image_url=f"{url}/image",
            thumbnail_url=f"{url}/thumbnail",
        )


def _view(picture: Picture, boxes: tuple[Box, ...]) -> View:
    seat = dict(picture.attributes).get("seat")
    return View(picture.file, boxes, None if seat is None else str(seat))


def _box(form: BoxForm) -> Box:
    try:
        json.dumps(form.attributes, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"box {form.label}: its attributes cannot be kept ({error})") from error
    values = form.model_dump(exclude={"attributes"})
    return Box(**values, attributes=tuple(form.attributes.items()))


def _form(box: Box) -> BoxForm:
    # Boxes of an import may go beyond what the API takes from others: they are shown as they are.
    return BoxForm.model_construct(
        label=box.label,
        x0=box.x0,
        y0=box.y0,
        x1=box.x1,
        y1=box.y1,
        angle_deg=box.angle_deg,
        visible=box.visible,
        score=box.score,
        attributes=dict(box.attributes),
    )
