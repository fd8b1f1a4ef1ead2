"""Which pages there are, for whom, and by which key one goes there."""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("viewer", "reviewer", "admin")
"""The roles, each with all that those before it may do."""


@dataclass(frozen=True, slots=True)
class NavItem:
    """One page of the frame's bar; `key` is pressed after G to go there."""

    title: str
    href: str
    key: str
    role: str = "viewer"
    needs_store: bool = True


@dataclass(frozen=True, slots=True)
class NavLink:
    """A page as the bar shows it."""

    title: str
    href: str
    key: str
    current: bool
    counts_alerts: bool


ITEMS = (
    NavItem("Wall", "/", "w"),
    NavItem("Alerts", "/alerts", "a"),
    NavItem("Rounds", "/rounds", "r"),
    NavItem("Reports", "/reports", "p"),
    NavItem("Reading", "/reading", "q"),
    NavItem("Recordings", "/recordings", "v"),
    NavItem("Calculator", "/calculator", "c", needs_store=False),
    NavItem("Tables", "/tables", "t", role="admin", needs_store=False),
    NavItem("Datasets", "/datasets", "d", needs_store=False),
    NavItem("People", "/people", "u", role="admin"),
    NavItem("Log", "/log", "l", role="admin"),
)


def nav_links(role: str, has_store: bool, path: str) -> tuple[NavLink, ...]:
    """The bar for a role at a path.

    >>> [link.title for link in nav_links("viewer", True, "/alerts") if link.current]
    ['Alerts']
    >>> [link.title for link in nav_links("admin", False, "/")]
    ['Calculator', 'Tables', 'Datasets']
    """
    rank = ROLES.index(role)
    return tuple(
        NavLink(item.title, item.href, item.key, _is_at(item.href, path), item.href == "/alerts")
        for item in ITEMS
        if ROLES.index(item.role) <= rank and (has_store or not item.needs_store)
    )


def _is_at(href: str, path: str) -> bool:
    if href == "/":
        return path == "/" or path.startswith("/tables/view/")
    return path == href or (path.startswith(f"{href}/") and not path.startswith("/tables/view/"))
