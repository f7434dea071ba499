"""The policies: a module lists its own in `POLICIES`, plug-ins come after."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sidecar.core.plans.plan import Policy
from sidecar.core.policies import presets
from sidecar.core.policies.policy_plugins import load_plugin, plugins

DEFAULT = "economic"


@dataclass(frozen=True, slots=True, eq=False)
class _Policies(Mapping[str, Policy]):
    own: Mapping[str, Policy]
    presets: frozenset[str]

    def __getitem__(self, name: str) -> Policy:
        if name not in self.own and name not in self.presets and name in plugins():
            return load_plugin(name, self.own[DEFAULT])
        if name not in self.presets:
            return self.own[name]
        module = import_module(f"{presets.__name__}.{name.replace('-', '_')}")
        preset: Policy = module.POLICY
        return preset

    def __contains__(self, name: object) -> bool:
        # Plug-ins are looked for last, as that reads every installed package.
        return name in self.own or name in self.presets or name in plugins()

    def __iter__(self) -> Iterator[str]:
        names = {*self.own, *self.presets, *plugins()}
        return iter(sorted(names, key=lambda name: (name != DEFAULT, name)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def policies() -> Mapping[str, Policy]:
    modules = (
        import_module(f"{__name__}.{found.name}")
        for found in iter_modules(__path__)
        if not found.ispkg
    )
    own: dict[str, Policy] = {p.name: p for m in modules for p in getattr(m, "POLICIES", ())}
    others = (found.name.replace("_", "-") for found in iter_modules(presets.__path__))
    return _Policies(own, frozenset(others))
