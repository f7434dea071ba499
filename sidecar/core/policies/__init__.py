"""The policies to choose from. A module lists its own in `POLICIES`: a new file, a new policy."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sidecar.core.plans.plan import Policy

DEFAULT = "economic"


@cache
def policies() -> dict[str, Policy]:
    """Find every policy by its name, the default first, then by name."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    found: list[Policy] = [policy for m in modules for policy in getattr(m, "POLICIES", ())]
    found.sort(key=lambda policy: (policy.name != DEFAULT, policy.name))
    return {policy.name: policy for policy in found}
