"""A sample of a table's joker, taken where a person points at it in an image."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from surveillance.web.schemas.cards import JokerSample
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.samples.laid_pictures import LaidPicture, sound_table
from surveillance.web.services.shared_networks import SharedNetworks
from vision.cards.joker_enrolment import NotEnrolledError, joker_at, upright_card
from vision.geometry.table import encode_png

ONE_END = (
    "only one end of the card shows a mark: where a hand is fanned so that the other end shows, "
    "the joker is not found"
)


def joker_sample(
    data: Mapping[str, JsonValue], picture: Path, at_px: tuple[float, float],
    networks: SharedNetworks,
) -> JokerSample:  # fmt: skip
    """The sample of the joker at a point, for a table file's `data` as it stands in the page.

    Raises RefusedError where the data, the image or the card does not do.
    """
    laid = LaidPicture.of(sound_table(data), picture)
    try:
        with networks.use() as own:
            taken = joker_at(
                laid.frame, laid.calibration, laid.felt_mm(at_px), own.detector, own.reader
            )
    except NotEnrolledError as error:
        raise RefusedError(str(error)) from error
    card = taken.card
    return JokerSample.model_validate({
        **taken.as_table_data(),
        "ends": taken.ends,
        "card_png": encode_png(upright_card(laid.frame, card)),
        "card_mm": card.size_mm,
        "outline_px": [(float(x), float(y)) for x, y in card.corners / laid.scale],
        "warnings": [ONE_END] if taken.ends == 1 else [],
    })  # fmt: skip
