"""The policies to choose from: a module lists its own in `POLICIES`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sidecar.core.plans.plan import Policy
from sidecar.core.policies import presets

DEFAULT = "economic"


@dataclass(frozen=True, slots=True, eq=False)
class _Policies(Mapping[str, Policy]):
    own: Mapping[str, Policy]
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> Policy:
        if name in self.own or name not in self.names:
            return self.own[name]
        module = import_module(f"{presets.__name__}.{name.replace('-', '_')}")
        preset: Policy = module.POLICY
        return preset

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@cache
def policies() -> Mapping[str, Policy]:
    """Every policy by name, the default first."""
    modules = (
        import_module(f"{__name__}.{found.name}")
        for found in iter_modules(__path__)
        if not found.ispkg
    )
    own: dict[str, Policy] = {p.name: p for m in modules for p in getattr(m, "POLICIES", ())}
    others = (found.name.replace("_", "-") for found in iter_modules(presets.__path__))
    names = sorted((*own, *others), key=lambda name: (name != DEFAULT, name))
    return _Policies(own, tuple(names))
