"""The wall and a table's page: states of the event bus, and what the store keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from settlement.declared import Declared, declared_faults
from settlement.games import JACKPOTS, players_bank, terms_for
from surveillance.live.record_status import RecordStatus
from surveillance.store import (
    AlertFilter,
    AlertRow,
    CameraRow,
    RoundFilter,
    RoundRow,
    Store,
    StoreDownError,
)
from surveillance.store.last_known import LastKnown
from surveillance.web.schemas.room import (
    DeclaredForm,
    DeclaredLine,
    FurtherLine,
    TableForm,
    TableLine,
)
from surveillance.web.services.alert_queue import alert_line
from surveillance.web.services.due_now import RulesOfTables, seats_now
from surveillance.web.services.errors import ContradictedError, NotThereError
from surveillance.web.services.round_forms import round_line

if TYPE_CHECKING:
    from surveillance.config.site_file import SiteConfig
    from surveillance.live.event_bus import EventBus
    from surveillance.live.states import TableState
    from vision.geometry.table import TableFile

STATE_WORDS = {
    "connecting": "Connecting",
    "running": "Watching",
    "stalled": "No frames arrive",
    "frozen": "Frozen image",
    "reconnecting": "Reconnecting",
    "ended": "Ended",
    "failed": "Failed",
    "too_slow": "Machine too slow",
    "stale": "No sign of its process",
    "overload": "Left out: overload",
    "off": "Not watched",
}
_LATEST = 12
_Last = tuple[tuple[RoundRow | None, AlertRow | None, int], str | None]
"""A camera's last round and alert, how many alerts are open, and who deals."""
_NOTHING: _Last = ((None, None, 0), None)


_open = LastKnown(most=8)


def open_alerts(store: Store) -> int:
    """Count the alerts that wait for a verdict; while the store is down, the last count."""
    key = store.database.name
    return _open.ask(key, lambda: store.alerts.counts(AlertFilter(state="open"))["open"], 0)


class Room:
    """The tables of the room, by the names of their cameras."""

    def __init__(
        self,
        store: Store | None,
        bus: EventBus | None,
        site: SiteConfig | None,
        rules: RulesOfTables,
    ) -> None:
        """Any of them may be missing: less is shown then."""
        self._store, self._bus = store, bus
        self._rules = rules
        self._known = LastKnown()
        self._files = {c.name: c.table_file for c in site.cameras} if site is not None else {}

    def tables(self) -> list[TableLine]:
        """Every camera that is watched or was, by name."""
        states = {s.camera: s for s in self._bus.states()} if self._bus is not None else {}
        known = self._cameras()
        names = sorted({*states, *known, *self._files})
        return [self._line(name, states.get(name), known.get(name)) for name in names]

    def line(self, camera: str) -> TableLine:
        """One camera's table. Raises NotThereError."""
        state = self._bus.state(camera) if self._bus is not None else None
        known = self._cameras().get(camera)
        if state is None and known is None and camera not in self._files:
            raise NotThereError(f"there is no camera {camera!r} here")
        return self._line(camera, state, known)

    def table(self, camera: str) -> TableForm:
        """A table's page. Raises NotThereError."""
        line = self.line(camera)
        if self._store is None:
            return TableForm(line=line, rounds=[], alerts=[], dealers=[])
        store = self._store

        def latest() -> tuple[Sequence[RoundRow], Sequence[AlertRow], Sequence[str]]:
            rounds = store.rounds.page(RoundFilter(camera=camera), limit=_LATEST, whole=False)
            alerts = store.alerts.page(AlertFilter(camera=camera), limit=_LATEST)
            return rounds.rows, alerts.rows, store.dealers.names()

        is_known = True
        try:
            rounds, alerts, dealers = self._known.ask(("table", camera), latest)
        except StoreDownError:
            # That there are none may not be said: nobody had opened the page before.
            rounds, alerts, dealers, is_known = (), (), (), False
        return TableForm(
            line=line,
            rounds=[round_line(row) for row in rounds],
            alerts=[alert_line(row) for row in alerts],
            dealers=list(dealers),
            is_known=is_known,
        )

    def picture(self, camera: str, overlay: bool, further: str = "") -> bytes:
        """The last image as JPEG, or that of a further camera. Raises NotThereError."""
        data = self._bus.picture(camera, overlay, further) if self._bus is not None else None
        if data is None:
            of = f" of the table of {camera!r}" if further else ""
            raise NotThereError(f"there is no image of {further or camera!r}{of} now")
        return data

    def set_dealer(self, camera: str, name: str | None, by: str) -> TableLine:
        """Name the dealer at a camera's table from now on. Raises NotThereError."""
        line = self.line(camera)
        if self._store is None:
            raise NotThereError("nothing is kept here: the server was started without a store")
        self._store.dealers.set(line.table, name or None, datetime.now(UTC), by)
        return self.line(camera)

    def declared(self, camera: str) -> DeclaredForm:
        """Return what is declared of a camera's table. Raises NotThereError."""
        line, now = self.line(camera), datetime.now(UTC)
        rows = () if self._store is None else self._store.declarations.in_force(line.table, now)
        table = self._table_file(camera)
        facts = (table.declared if table is not None else None) or Declared()
        for row in rows:
            facts = facts.then(row.facts).model_copy(
                update={"dynamic_pays": row.facts.dynamic_pays}
            )
        jackpots = () if table is None else terms_for(table.rules).tables
        return DeclaredForm(
            facts=facts,
            seats=() if table is None else tuple(seat.seat for seat in table.seats),
            jackpots=tuple(name for name in jackpots if name in JACKPOTS),
            players_bank=players_bank(line.game if table is None else table.rules.game),
            lines=[DeclaredLine(at=row.at, by=row.by, facts=row.facts) for row in rows[::-1]],
        )

    def declare(self, camera: str, facts: Declared, by: str) -> str:
        """Keep facts of a camera's table; returns the table's name.

        Nothing is kept where no fact is given. Raises NotThereError, and ContradictedError for
        facts that cannot be true of the table.
        """
        table_name, table = self.line(camera).table, self._table_file(camera)
        if self._store is None:
            raise NotThereError("nothing is kept here: the server was started without a store")
        if table is None:
            raise NotThereError(f"the table file of camera {camera!r} is not known here")
        numbers = [seat.seat for seat in table.seats]
        for key, message in declared_faults(facts, numbers, table.rules):
            raise ContradictedError(f"{key}: {message}")
        if facts != Declared():
            self._store.declarations.add(table_name, facts, datetime.now(UTC), by)
        return table_name

    def _table_file(self, camera: str) -> TableFile | None:
        path = self._files.get(camera)
        return None if path is None else self._rules.table(path)

    def record(self) -> RecordStatus:
        """Return the status of the record."""
        return self._bus.record if self._bus is not None else RecordStatus()

    def _cameras(self) -> dict[str, CameraRow]:
        store = self._store
        if store is None:
            return {}
        none: tuple[CameraRow, ...] = ()
        return {c.name: c for c in self._known.ask("cameras", store.cameras.all, none)}

    def _line(self, camera: str, state: TableState | None, known: CameraRow | None) -> TableLine:
        table = state.table if state is not None else known.table if known else camera
        (latest, alert, waiting), dealer = self._last(camera, table)
        live: Mapping[str, Any] = state.model_dump(mode="json") if state is not None else {}
        path = self._files.get(camera)
        rules = self._rules.get(path) if path is not None else None
        seats, way = seats_now(_in_order(live.get("seats", ())), rules, table)
        name = live.get("state", "off")
        return TableLine(
            camera=camera,
            table=table,
            game=live.get("game") or (rules.game if rules else ""),
            state=name,
            words=_words(name),
            message=live.get("message") or "",
            phase=live.get("phase") or "",
            round_id=live.get("round_id"),
            stream_s=_number(live.get("stream_s")),
            lag_s=_number(live.get("lag_s")),
            fps=_number(live.get("fps")),
            dropped=live.get("dropped") or 0,
            restarts=live.get("restarts") or 0,
            coverage=None if state is None else state.coverage,
            frame_shown_at=live.get("frame_shown_at"),
            picture_age_s=self._bus.picture_age_s(camera) if self._bus is not None else None,
            has_picture=self._bus is not None and self._bus.picture(camera, False) is not None,
            dealer=dealer,
            further=tuple(self._further(camera, one) for one in live.get("further", ())),
            seats=seats,
            house_way=way,
            last_round=round_line(latest) if latest else None,
            last_alert=alert_line(alert) if alert else None,
            open_alerts=waiting,
        )

    def _further(self, camera: str, one: Mapping[str, Any]) -> FurtherLine:
        age_s = self._bus.picture_age_s(camera, one["name"]) if self._bus is not None else None
        return FurtherLine(**{**one, "words": _words(one["state"]), "picture_age_s": age_s})

    def _last(self, camera: str, table: str) -> _Last:
        store = self._store
        if store is None:
            return _NOTHING
        return self._known.ask(
            ("last", camera),
            lambda: (_last(store, camera), store.dealers.current(table)),
            _NOTHING,
        )


def _last(store: Store, camera: str) -> tuple[RoundRow | None, AlertRow | None, int]:
    """A camera's last round, its last alert, and how many alerts wait for a verdict."""
    rounds = store.rounds.page(RoundFilter(camera=camera), limit=1, whole=False).rows
    alerts = store.alerts.page(AlertFilter(camera=camera), limit=1).rows
    waiting = store.alerts.counts(AlertFilter(camera=camera, state="open"))["open"]
    return rounds[0] if rounds else None, alerts[0] if alerts else None, waiting


def _words(state: str) -> str:
    return STATE_WORDS.get(state, state.replace("_", " ").capitalize())


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))


def _in_order(seats: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The dealer first, then the seats by number."""
    return sorted(seats, key=lambda seat: seat["seat"] or 0)
