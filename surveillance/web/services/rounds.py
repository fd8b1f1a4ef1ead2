"""Rounds: the list, and one round with all that was seen and due."""

from __future__ import annotations

from surveillance.alerts.catalogue import alert_code
from surveillance.reports.round_view import kind_of
from surveillance.store import NotStoredError, RoundFilter, Store
from surveillance.web.schemas.rounds import (
    HandsForm,
    RoundAlert,
    RoundForm,
    RoundPage,
    SuspicionForm,
)
from surveillance.web.services.errors import NotThereError
from surveillance.web.services.round_forms import hands_form, round_line


class UnreadableError(NotThereError):
    """The stored round is of a form that this program does not know."""


class Rounds:
    """The rounds of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(self, wanted: RoundFilter, cursor: str | None, limit: int) -> RoundPage:
        """Rounds, newest first. Raises CursorError."""
        page = self._store.rounds.page(wanted, cursor, limit, whole=False)
        return RoundPage(rounds=[round_line(row) for row in page.rows], next=page.next)

    def dealers(self) -> list[str]:
        """The names of dealers that were ever set."""
        return list(self._store.dealers.names())

    def round(self, id: int) -> RoundForm:
        """One round. Raises NotThereError."""
        try:
            row = self._store.rounds.get(id)
        except NotStoredError as error:
            raise NotThereError(str(error)) from error
        alerts = self._store.alerts.of_round(id)
        hands: HandsForm | None = hands_form(row, alerts)
        if hands is None:
            raise UnreadableError(f"round {id} is kept in a form that this program cannot read")
        return RoundForm(
            line=round_line(row),
            hands=hands,
            alerts=[
                RoundAlert(
                    id=a.id,
                    code=a.alert.code,
                    kind=kind_of(a.alert),
                    title=alert_code(a.alert.code).title,
                    seat=a.alert.seat,
                    message=a.alert.message,
                    state=a.state,
                )
                for a in alerts
            ],
            suspicions=[
                SuspicionForm(title=alert_code(one["code"]).title, **one) for one in row.suspicions
            ],
            record=row.record,
            settlement=row.settlement,
            timeline=list(self._store.rounds.timeline(id)),
        )
