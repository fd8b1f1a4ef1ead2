"""Samples of a table's deck, taken in an image in which it lies spread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from surveillance.web.schemas.cards import DeckSample
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.samples.laid_pictures import LaidPicture, sound_table
from surveillance.web.services.shared_networks import SharedNetworks
from vision.cards.deck_enrolment import deck_on_felt
from vision.cards.laid_rows import DeckNotEnrolledError
from vision.cards.table_deck import NO_COMPARER


def deck_sample(
    data: Mapping[str, JsonValue], picture: Path, rows: str | None, networks: SharedNetworks
) -> DeckSample:
    """The samples of the deck that an image shows, for a table file's `data` as it stands in the
    page; `rows` say how it lies, where a person named them.

    Raises RefusedError where the data, the image or the deck does not do.
    """
    table = sound_table(data)
    laid = LaidPicture.of(table, picture)
    try:
        with networks.use() as own:
            if own.comparer is None:
                raise RefusedError(NO_COMPARER)
            taken = deck_on_felt(
                laid.frame, laid.calibration, table, own.detector, own.reader, rows
            )
    except DeckNotEnrolledError as error:
        raise RefusedError(str(error)) from error
    return DeckSample.model_validate({
        **taken.samples.as_table_data(),
        "cards": [
            {"label": label, "outline_px": (outline / laid.scale).tolist()}
            for label, outline in taken.outlines_px(laid.calibration).items()
        ],
        "warnings": list(taken.warnings),
    })  # fmt: skip
