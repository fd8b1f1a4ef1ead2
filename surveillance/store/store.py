"""The store: one database with a repository for each subject."""

from __future__ import annotations

from typing import Self

from surveillance.store.alerts import Alerts
from surveillance.store.audit import AuditLog
from surveillance.store.cameras import Cameras, Health
from surveillance.store.database import Database
from surveillance.store.dealers import Dealers
from surveillance.store.declarations import Declarations
from surveillance.store.jobs.jobs import Jobs
from surveillance.store.migrate import migrate
from surveillance.store.pending import PendingEvidence
from surveillance.store.people import People
from surveillance.store.queries.tallies import Tallies
from surveillance.store.record import Record
from surveillance.store.recordings import Recordings
from surveillance.store.retention import Retention
from surveillance.store.rounds import Rounds
from surveillance.store.sharing.assignments import Assignments
from surveillance.store.sharing.live_tables import LiveTables
from surveillance.store.versions import Versions


class Store:
    """The store: rounds, alerts, verdicts and acts in SQLite or PostgreSQL; for many threads.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store.open(f"sqlite:///{folder.name}/feltwatch.sqlite") as store:
    ...     store.kind, store.rounds.page().rows, store.people.count()
    ('sqlite', (), 0)
    >>> folder.cleanup()
    >>> Store.open("mysql://me:secret@host/x")
    Traceback (most recent call last):
    ...
    surveillance.store.errors.StoreError: mysql://me:***@host/x: feltwatch keeps its record in ...
    """

    def __init__(self, database: Database) -> None:
        """Over a database whose tables stand; `open` makes them."""
        self.database = database
        self.rounds = Rounds(database)
        self.alerts = Alerts(database)
        self.tallies = Tallies(database)
        self.record = Record(database)
        self.pending = PendingEvidence(database)
        self.dealers = Dealers(database)
        self.declarations = Declarations(database)
        self.people = People(database)
        self.audit = AuditLog(database)
        self.versions = Versions(database)
        self.cameras = Cameras(database)
        self.health = Health(database)
        self.recordings = Recordings(database)
        self.jobs = Jobs(database)
        self.retention = Retention(database, self.people)
        self.assignments = Assignments(database)
        self.live_tables = LiveTables(database)

    def work_as(self, server: str) -> None:
        """Keep pending evidence apart from that of other servers that share the cameras."""
        self.record.server = self.pending.server = server

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a database and bring its tables up to this program's.

        `url`: `sqlite:///feltwatch.sqlite`, `sqlite:////absolute/path.sqlite` or
        `postgresql+psycopg://user:password@host/name`. Raises StoreError, the password
        blanked, when it cannot be opened or was written by a newer feltwatch.
        """
        database = Database(url)
        try:
            migrate(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def kind(self) -> str:
        """'sqlite' or 'postgresql'."""
        return self.database.kind

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
