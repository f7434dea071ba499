"""What a simulation holds of its cache: where it keeps a thing is said here alone."""

from typing import Any, TypeAlias

from sidecar.core.prompt.prompt import Ttl
from sidecar.replay.simulate import _Simulation
from sidecar.replay.simulated_cache import StaticLifetime

Simulation: TypeAlias = _Simulation


def simulation(kept: StaticLifetime, *given: Any) -> Simulation:
    """One that is played request by request, with the static part kept so."""
    made = _Simulation(*given)
    made._kept = kept
    return made


def places(state: Simulation) -> list[int]:
    """The position of each item's first block, and of the end."""
    return state._places


def marks(state: Simulation) -> list[tuple[int, Ttl]]:
    """The items behind which breakpoints stand, with their lifetimes."""
    return state._marks()


def shared(state: Simulation) -> int:
    """How many items the last request had too."""
    return state._extends


def anchored(state: Simulation) -> int:
    """The item before which a rewritten stretch ends."""
    return state._anchored
