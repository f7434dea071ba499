"""Imports each of a package's names when first asked for.

The SDK's own `__init__` files import 2,900 modules, of which a client needs a third: 29 MiB and
half a second of CPU.
"""

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_IMPORTED = re.compile(r"^from (\.[\w.]*) import (?:\(([^)]*)\)|([^(\n]*))", re.MULTILINE)


@contextmanager
def late_names(package: str, within: str) -> Iterator[None]:
    """Makes the block's imports of `package` and of packages in its `within` late.

    Such a package runs whole once asked for a name that its `__init__` does not import by name.
    """
    finder = _Finder(package, f"{package}.{within}")
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    def __init__(self, package: str, within: str) -> None:
        self._package, self._within = package, within

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in (self._package, self._within) and not fullname.startswith(
            f"{self._within}."
        ):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec and spec.submodule_search_locations and isinstance(spec.loader, InspectLoader):
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, usual: InspectLoader) -> None:
        self.usual = usual

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LatePackage(spec, self.usual)

    def exec_module(self, module: ModuleType) -> None:
        """Runs nothing yet: names are imported later."""


class _LatePackage(ModuleType):
    def __init__(self, spec: ModuleSpec, usual: InspectLoader) -> None:
        super().__init__(spec.name)
        self._late_usual = usual
        source = usual.get_source(spec.name) or ""
        self._late_homes = dict(_homes(source))
        self._late_run = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the package has
        if home := self._late_homes.get(name):
            found = _of(self.__name__, *home)
        elif self._late_run or (name.startswith("__") and name != "__all__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        elif PathFinder.find_spec(f"{self.__name__}.{name}", self.__path__):
            found = importlib.import_module(f"{self.__name__}.{name}")
        else:
            self._late_run = True
            self._late_usual.exec_module(self)
            return getattr(self, name)
        setattr(self, name, found)
        return found


def _homes(source: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for module, lines, line in _IMPORTED.findall(source):
        for item in (lines or line).split(","):
            match item.split():
                case [name] | [name, "as", _] if name != "*":
                    yield item.split()[-1], (module, name)


def _of(package: str, module: str, name: str) -> Any:  # noqa: ANN401 - as above
    if module == ".":
        return importlib.import_module(f".{name}", package)
    return getattr(importlib.import_module(module, package), name)
