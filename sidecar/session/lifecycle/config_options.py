"""Config options in ACP's shape."""

from sidecar.config.readers import HARDER
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject
from sidecar.core.policies import policies
from sidecar.core.prompt.pricing import in_words
from sidecar.session.epochs.caveats import Caveats
from sidecar.session.epochs.session_params import amiss, named
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.model_access import ModelAccess

EFFORTS = ("default", *HARDER)
SWITCHES = ("on", "off")


class ConfigOptions:
    """Reads and changes options."""

    def __init__(
        self, log: SessionLog, settings: SessionSettings, models: ModelAccess, caveats: Caveats
    ) -> None:
        self._log = log
        self._settings = settings
        self._models = models
        self._caveats = caveats

    def described(self) -> tuple[JsonObject, ...]:
        chosen = self._settings
        models = {chosen.model_id: "", **self._models.known}
        policy, effort = chosen.text("policy"), chosen.effort or "default"
        return (
            {
                **_select("model", "Model", "model", chosen.model_id, ()),
                "options": [self._model(name, missing) for name, missing in models.items()],
            },
            _select("policy", "Compaction policy", "_policy", policy, tuple(policies())),
            _select("effort", "Effort", "thought_level", effort, EFFORTS),
            self._switch("autoCompact", "Compact automatically"),
            self._switch("autoContinue", "Continue after compaction"),
        )

    def _model(self, name: str, missing: str) -> JsonObject:
        told = in_words(self._models.info(name))
        description = f"{missing} · {told}" if missing else told
        return {"value": name, "name": name, "description": description}

    def _switch(self, config_id: str, name: str) -> JsonObject:
        current = "on" if self._settings.is_on(config_id) else "off"
        return _select(config_id, name, "_switch", current, SWITCHES)

    def change(self, config_id: str, value: object) -> None:
        """Raises BadRequest for an unknown option or value."""
        settings = self._settings
        match config_id, value:
            case "model", str(model):
                info = self._models.info(named(model, "params.value"))
                wrong = amiss(self._log.row.settings, info)
                if wrong is not None:
                    raise BadRequest(f"{model} cannot be used here: {wrong[1]}", "params.value")
                settings.change("model", model)
                self._caveats.tell_limits()
            case "policy", str(policy):
                settings.change("policy", _one_of(policy, tuple(policies())))
            case "effort", str(effort):
                chosen = _one_of(effort, EFFORTS)
                settings.change("effort", "" if chosen == "default" else chosen)
            case (("autoCompact" | "autoContinue"), bool(switch)):
                settings.change(config_id, switch)
            case (("autoCompact" | "autoContinue"), str(switch)):
                settings.change(config_id, _one_of(switch, SWITCHES) == "on")
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
