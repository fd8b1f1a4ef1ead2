"""Every doctest of the room runs, and every public class has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from enum import Enum
from types import ModuleType

import pytest

import settlement

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(settlement.__path__, "settlement.")
)


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0


def public_classes(module: ModuleType) -> list[type]:
    return [
        value
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and name[0] != "_"
    ]


@pytest.mark.parametrize("name", [n for n in MODULES if n != "settlement.record"])
def test_public_classes_show_their_use(name: str) -> None:
    for cls in public_classes(importlib.import_module(name)):
        if not issubclass(cls, (Enum, Exception)):
            assert ">>>" in (cls.__doc__ or ""), f"{name}.{cls.__name__}"
