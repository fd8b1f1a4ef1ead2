"""The dice of a shift: what is drawn of them, who gets hands in which order, and their truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from datasets.render.banker_markers import MarkerLook
from datasets.render.dice import DiceLook, thrown
from datasets.render.scene import DiceItem, MarkerItem
from datasets.simulate.script import RoundScript
from settlement.dice import counted_on, first_that_plays
from settlement.errors import FeltwatchError
from settlement.record import Dice, DiePlace
from vision.geometry.dice import DicePlace, dice_faults
from vision.geometry.table import Point, TableFile

DICE_KEY, CUP_KEY = "dice", "dice.cup"
USUAL_PLACE: Point = (780.0, 215.0)
"""Where the dice lie on the standard felt: at the dealer's right, between boxes and rack."""

TRAY_MM = 112.0
CUP_SHARE = 0.84
"""The cup's lid, in diameters of the tray."""


def with_dice(table: TableFile) -> TableFile:
    """A table with dice in their usual place. Raises FeltwatchError where it can have none."""
    out = table.model_copy(update={"dice": DicePlace(center_mm=USUAL_PLACE)})
    for _, why in dice_faults(out):
        raise FeltwatchError(f"--dice: {why}")
    return out


@dataclass(frozen=True)
class DiceSet:
    """A table's dice, their tray and the cup over them."""

    place: DicePlace
    look: DiceLook
    cup: MarkerLook

    @classmethod
    def draw(cls, place: DicePlace, seed: int) -> DiceSet:
        """The set of a shift, which its seed draws."""
        rng = np.random.default_rng([seed, 80])
        tray_mm = min(TRAY_MM, 2 * place.radius_mm - 4)
        look = DiceLook.draw(rng, place.die_mm, tray_mm, place.height_mm)
        cup = replace(MarkerLook.draw("cup", rng), diameter_mm=CUP_SHARE * tray_mm)
        return cls(place, look, cup)

    def covered(self) -> MarkerItem:
        """The cup over the tray."""
        return self.cup.item(CUP_KEY, self.place.center_mm, 0.0)

    def opened(self, values: tuple[int, ...], seed: int) -> DiceItem:
        """The dice with these upper faces, thrown as `seed` draws it."""
        rng = np.random.default_rng(seed)
        dice = thrown(rng, values, self.look, self.place.center_mm)
        return self.look.item(DICE_KEY, self.place.center_mm, dice)


def dealing_order(
    table: TableFile, values: Sequence[int], seats: Sequence[int], banker: int | None
) -> tuple[int, ...]:
    """The places that play, 0 the dealer's, in the order in which the dice give them packets."""
    assert table.dice is not None
    start: DiePlace = "dealer"
    if table.dice.counted_from == "banker" and banker is not None:
        start = banker
    order = counted_on(sum(values), table.dice.positions_of(table), start)
    owners = (0 if place == "dealer" else place for place in order)
    return tuple(owner for owner in owners if owner == 0 or owner in seats)


def dice_truth(table: TableFile, script: RoundScript, opened_s: float | None) -> Dice | None:
    """What the dice of a round showed, and to whom the first hand went; None without dice."""
    if not script.dice:
        return None
    seats = [seat.seat for seat in script.seats]
    right = dealing_order(table, script.dice, seats, script.banker)
    due = first_that_plays([_place(owner) for owner in right], ["dealer", *seats])
    first = _place(script.dealing[0])
    return Dice(
        values=script.dice, total=sum(script.dice), due=due, first=first,
        before_due=None if first == due else first,
        seen_s=None if opened_s is None else f"{opened_s:.3f}",
    )  # fmt: skip


def _place(owner: int) -> DiePlace:
    return owner or "dealer"
