"""Sensors of jackpots at which coin, lamp and the sensors' own system do not agree."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from datasets.simulate.mistakes.money import Mistake, touched
from datasets.simulate.script import PlannedFault, RoundScript, SeatScript
from settlement.games import GAMES, terms_for
from settlement.procedures import BreachKind, procedure_of
from settlement.record import Sensor
from settlement.result import Settlement
from vision.geometry.table import TableFile


def _sensor(kind: BreachKind, note: str, *, coin: bool, lit: bool) -> Mistake:
    """A sensor in this state where the game's document has the house account for every coin.

    `kind` says what the procedure calls it: where the lamp is lit the system has no coin
    registered, where it is not the system has one.
    """

    def mistake(
        script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        game = table.rules.game
        procedure = procedure_of(game)
        if procedure is None or procedure.breach(kind, GAMES[game].document) is None:
            return None
        jackpots = [
            name for name, own in terms_for(table.rules).progressives.items()
            if own.kind == "progressive"
        ]  # fmt: skip
        places = [
            (seat, name)
            for seat in script.seats
            for name in jackpots
            if name in table.seat(seat.seat).spots and _may(script, seat, name, coin=coin)
        ]
        if not places or table.sensor_lamp is None:
            return None
        seat, name = rng.choice(places)
        sensor = Sensor(wager=name, coin=coin, lamp="lit" if lit else "unlit", registered=not lit)
        fault = PlannedFault("PROCEDURE", seat.seat, name, note, ("closed", None, None))
        return script.with_seat(replace(seat, sensors=(*seat.sensors, sensor)), fault)

    return mistake


def _may(script: RoundScript, seat: SeatScript, name: str, *, coin: bool) -> bool:
    """Whether a seat has the coin, or none, and no mistake with it yet."""
    has = seat.wager(name) is not None
    return has == coin and (seat.seat, name) not in touched(script)


SENSOR_WAYS: Mapping[tuple[str, str], Mistake] = {
    ("PROCEDURE", "coin_unregistered"): _sensor(
        "coin_unregistered", "lamp lit, coin not registered", coin=True, lit=True
    ),
    ("PROCEDURE", "lit_alone"): _sensor(
        "coin_unregistered", "lamp lit without a coin, none registered", coin=False, lit=True
    ),
    ("PROCEDURE", "coin_unseen"): _sensor(
        "coin_unseen", "coin registered, lamp unlit", coin=True, lit=False
    ),
}
"""The ways of mistakes with sensors."""
