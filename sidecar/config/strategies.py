"""The `agents` setting gives an agent another policy, by name."""

from collections.abc import Mapping
from dataclasses import field

from sidecar.config.readers import FLAG, POLICY
from sidecar.config.setting import Reader
from sidecar.core.dataclass import dataclass

KEYS = ("policy", "weights", "auto_compact")


@dataclass(frozen=True, slots=True)
class Strategy:
    """One agent's overrides; `None` or empty changes nothing."""

    policy: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    auto_compact: bool | None = None


NOTHING = Strategy()


def read_strategies(value: object) -> Mapping[str, Strategy]:
    if not isinstance(value, Mapping):
        raise ValueError('must be a table, such as {plan = {policy = "manual"}}.')  # noqa: TRY004 - as readers do
    return {str(agent): _strategy(str(agent), table) for agent, table in value.items()}


def _strategy(agent: str, table: object) -> Strategy:
    if not isinstance(table, Mapping):
        raise ValueError(f"{agent} must be a table with {', '.join(KEYS)}.")  # noqa: TRY004 - same
    given = {"auto_compact" if key == "autoCompact" else key: each for key, each in table.items()}
    unknown = sorted(set(given) - set(KEYS))
    if unknown:
        raise ValueError(f"{agent} has {', '.join(KEYS)}, not {', '.join(unknown)}.")
    read = {"policy": POLICY.read, "weights": _weights, "auto_compact": FLAG.read}
    found: dict[str, object] = {}
    for key, each in given.items():
        try:
            found[key] = read[key](each)
        except ValueError as error:
            raise ValueError(f"{agent}.{key} {error}") from error
    strategy = Strategy(**found)  # type: ignore[arg-type] # each is read by its reader
    from sidecar.core.policies.evict import HYBRID  # noqa: PLC0415 - only here, and dear

    if strategy.weights and strategy.policy != HYBRID:
        raise ValueError(
            f'{agent}.weights are for policy = "{HYBRID}", which must stand there too.'
        )
    return strategy


def _weights(value: object) -> Mapping[str, float]:
    if not isinstance(value, Mapping) or not all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in value.values()
    ):
        raise ValueError("must be a table of numbers, such as {lru = 2, semantic = 1}.")
    from sidecar.core.policies.scorers import check_weights  # noqa: PLC0415 - as above

    weights = {str(name): float(each) for name, each in value.items()}
    check_weights(weights)
    return weights


STRATEGIES = Reader("tables by agent", read_strategies)
