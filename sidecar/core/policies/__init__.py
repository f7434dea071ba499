"""The policies: a module lists its own in `POLICIES`, by whose first word it is called.

Plug-ins come after.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.plan import Policy
from sidecar.core.policies import presets
from sidecar.core.policies.policy_plugins import load_plugin, plugins

DEFAULT = "economic"


@dataclass(frozen=True, slots=True, eq=False)
class _Policies(Mapping[str, Policy]):
    modules: frozenset[str]
    presets: frozenset[str]

    def __getitem__(self, name: str) -> Policy:
        own = self._own(name)
        if name not in own and name not in self.presets and name in plugins():
            return load_plugin(name, self[DEFAULT])
        if name not in self.presets:
            return own[name]
        module = import_module(f"{presets.__name__}.{name.replace('-', '_')}")
        preset: Policy = module.POLICY
        return preset

    def __contains__(self, name: object) -> bool:
        # Plug-ins are looked for last, as that reads every installed package.
        own = isinstance(name, str) and name in self._own(name)
        return own or name in self.presets or name in plugins()

    def __iter__(self) -> Iterator[str]:
        own = (name for module in self.modules for name in self._own(module))
        names = {*own, *self.presets, *plugins()}
        return iter(sorted(names, key=lambda name: (name != DEFAULT, name)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _own(self, name: str) -> dict[str, Policy]:
        """Imports one module alone: all take a tenth of what a command may."""
        module = name.partition("-")[0]
        if module not in self.modules:
            return {}
        found = getattr(import_module(f"{__name__}.{module}"), "POLICIES", ())
        return {policy.name: policy for policy in found}


@cache
def policies() -> Mapping[str, Policy]:
    own = frozenset(found.name for found in iter_modules(__path__) if not found.ispkg)
    others = (found.name.replace("_", "-") for found in iter_modules(presets.__path__))
    return _Policies(own, frozenset(others))
