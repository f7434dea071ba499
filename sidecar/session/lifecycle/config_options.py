"""Config options in ACP's shape."""

from sidecar.config.readers import HARDER
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject
from sidecar.core.policies import policies
from sidecar.session.epochs.session_params import amiss, named
from sidecar.session.lifecycle.assembly import caveats_of
from sidecar.session.state import State

EFFORTS = ("default", *HARDER)
SWITCHES = ("on", "off")


def describe(state: State) -> tuple[JsonObject, ...]:
    """With current and possible values."""
    chosen = state.settings
    models = dict.fromkeys((chosen.model_id, *state.environment.models.known))
    return (
        _select("model", "Model", "model", chosen.model_id, tuple(models)),
        _select(
            "policy",
            "Compaction policy",
            "_policy",
            chosen.text("policy"),
            tuple(policies()),
        ),
        _select("effort", "Effort", "thought_level", chosen.effort or "default", EFFORTS),
        _select(
            "autoCompact", "Compact automatically", "_switch", _on(state, "autoCompact"), SWITCHES
        ),
        _select(
            "autoContinue",
            "Continue after compaction",
            "_switch",
            _on(state, "autoContinue"),
            SWITCHES,
        ),
    )


def change(state: State, config_id: str, value: object) -> None:
    """Raises BadRequest for an unknown option or value."""
    match config_id, value:
        case "model", str(model):
            info = state.environment.models.info(named(model, "params.value"))
            wrong = amiss(state.log.row.settings, info)
            if wrong is not None:
                raise BadRequest(f"{model} cannot be used here: {wrong[1]}", "params.value")
            state.settings.change("model", model)
            caveats_of(state).tell_limits()
        case "policy", str(policy):
            state.settings.change("policy", _one_of(policy, tuple(policies())))
        case "effort", str(effort):
            chosen = _one_of(effort, EFFORTS)
            state.settings.change("effort", "" if chosen == "default" else chosen)
        case (("autoCompact" | "autoContinue"), bool(switch)):
            state.settings.change(config_id, switch)
        case (("autoCompact" | "autoContinue"), str(switch)):
            state.settings.change(config_id, _one_of(switch, SWITCHES) == "on")
        case (("model" | "policy" | "effort" | "autoCompact" | "autoContinue"), _):
            raise BadRequest(f"{config_id} cannot be {value!r}", "params.value")
        case _:
            raise BadRequest(
                f"there is no option {config_id!r}; there are model, policy, effort, "
                "autoCompact and autoContinue",
                "params.configId",
            )


def _one_of(value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise BadRequest(f"{value!r} is none of {', '.join(allowed)}", "params.value")
    return value


def _on(state: State, name: str) -> str:
    return "on" if state.settings.is_on(name) else "off"


def _select(
    config_id: str, name: str, category: str, current: str, values: tuple[str, ...]
) -> JsonObject:
    choices: list[Json] = [{"value": value, "name": value} for value in values]
    return {
        "id": config_id,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": choices,
    }
