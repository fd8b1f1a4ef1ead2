"""Samples of a table's chips, taken where a person points at a laid-out stack in an image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from surveillance.web.schemas.chips import ChipPair, ChipSample
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.samples.laid_pictures import LaidPicture, sound_table
from surveillance.web.services.shared_networks import SharedNetworks
from vision.chips.enrolment import Enrolled, enrol, laid_stack, read_back
from vision.chips.likeness import Pair, felt_difference, pairs
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack
from vision.chips.sample_check import alike_words, sample_warnings
from vision.chips.side_palette import Palette
from vision.chips.silhouette import silhouette
from vision.geometry.table import ChipKind, Place


@dataclass(frozen=True, slots=True)
class Pointed:
    """A point of an image that shows a laid-out stack: `chip` is its kind, `laid` its chips."""

    picture: Path
    at_px: tuple[float, float]
    chip: str
    laid: int


def chip_sample(
    data: Mapping[str, JsonValue], pointed: Pointed, shared: SharedNetworks
) -> ChipSample:
    """The sample of the stack at a point, for a table file's `data` as it stands in the page.

    Raises RefusedError where the data, the image or the stack does not do.
    """
    table = sound_table(data)
    if pointed.chip not in table.chips:
        known = ", ".join(table.chips)
        raise RefusedError(f"the table file has no chip {pointed.chip!r}; it has {known}")
    laid = LaidPicture.of(table, pointed.picture)
    frame, calibration = laid.frame, laid.calibration
    size = ChipSize(table.chip_diameter_mm, table.chip_thickness_mm)
    at_mm = laid.felt_mm(pointed.at_px)
    around = Place(center_mm=at_mm, angle_deg=0.0)
    with shared.use() as networks:
        stack = laid_stack(
            frame, calibration, around, at_mm, networks.detector, networks.strips, size,
            pointed.laid,
        )  # fmt: skip
        if stack is None:
            raise RefusedError(
                "no stack was found there: point at the foot of a stack that stands clear of "
                "all else on the felt"
            )
        sample = enrol(frame, calibration, stack, size, networks.strips, pointed.laid)
        kind = table.chips[pointed.chip].model_dump() | sample.as_table_data()
        chips = {**table.chips, pointed.chip: ChipKind.model_validate(kind)}
        read = read_back(
            frame, calibration, around, stack, Palette.of(chips), size, networks.strips
        )
    outline = calibration.felt_to_image(
        silhouette(calibration, np.asarray(stack.center_mm), len(stack.colours), size)
    )
    return _answer(pointed, sample, read, chips, outline / laid.scale)


def chip_pairs(data: Mapping[str, JsonValue]) -> list[ChipPair]:
    """The pairs of a table file's chips, those that look most alike first; none of unsound data."""
    try:
        return _pair_forms(pairs(sound_table(data).chips))
    except RefusedError:
        return []


def _answer(
    pointed: Pointed, sample: Enrolled, read: ReadStack | None, chips: Mapping[str, ChipKind],
    outline_px: np.ndarray,
) -> ChipSample:  # fmt: skip
    found = pairs(chips)
    return ChipSample.model_validate({
        **sample.as_table_data(),
        "chip": pointed.chip,
        "felt_rgb": sample.felt_rgb,
        "felt_difference": felt_difference(sample.side, sample.felt_rgb),
        "counted": sample.counted,
        "outline_px": [(float(x), float(y)) for x, y in outline_px],
        "read_cents": None if read is None else read.value_cents,
        "read_probability": None if read is None else read.probability,
        "warnings": sample_warnings(
            pointed.chip, sample, pointed.laid, read, chips, ()
        ),
        "pairs": _pair_forms(found),
    })  # fmt: skip


def _pair_forms(found: list[Pair]) -> list[ChipPair]:
    return [
        ChipPair(
            one=pair.one, other=pair.other, difference=pair.difference,
            warning=alike_words(pair) if pair.alike else None,
        )
        for pair in found
    ]  # fmt: skip
