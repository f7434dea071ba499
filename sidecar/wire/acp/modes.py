"""Offers the compaction policy as a session mode, to clients that know no config options."""

from collections.abc import Iterable

from sidecar.core.parts import Json, JsonObject

MODE = "policy"
"""The config option that is the mode."""


def modes(options: Iterable[Json]) -> JsonObject:
    """Returns ACP's `SessionModeState`."""
    chosen = _option(options)
    choices = chosen["options"]
    assert isinstance(choices, list)
    listed: list[Json] = [
        {"id": one["value"], "name": one["name"], "description": "Compaction policy"}
        for one in choices
        if isinstance(one, dict)
    ]
    return {"currentModeId": chosen["currentValue"], "availableModes": listed}


def mode_update(options: Iterable[Json]) -> JsonObject:
    current = _option(options)["currentValue"]
    return {"sessionUpdate": "current_mode_update", "currentModeId": current}


def _option(options: Iterable[Json]) -> JsonObject:
    return next(one for one in options if isinstance(one, dict) and one["id"] == MODE)
