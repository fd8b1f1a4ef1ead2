"""Permissions of an account: three roles, each with all permissions of those before it."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Role of an account.

    A viewer only reads, a reviewer judges alerts and labels images, an admin sets up tables,
    recordings and people.

    >>> Role.ADMIN.covers(Role.REVIEWER), Role.VIEWER.covers(Role.REVIEWER)
    (True, False)
    >>> Role.ADMIN.at_most(Role.VIEWER)
    <Role.VIEWER: 'viewer'>
    """

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        """Its place among the roles, the least first."""
        return tuple(Role).index(self)

    def covers(self, needed: Role) -> bool:
        """Whether this role may do what `needed` may."""
        return self.rank >= needed.rank

    def at_most(self, limit: Role) -> Role:
        """The lesser of the two."""
        return min(self, limit, key=lambda role: role.rank)
