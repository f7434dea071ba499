"""Checks parameters."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sidecar.core.conversation.sendable import MOST_NAME, is_id
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, Part
from sidecar.core.policies import policies
from sidecar.core.prompt.budget import LEAST_RESERVE, budget
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.interface import NewSession
from sidecar.session.meter.gauge import Gauge
from sidecar.session.session_settings import SessionSettings, answer_tokens
from sidecar.tools.builtin_tools import BUILTIN
from sidecar.tools.mcp.mcp_bounds import (
    MOST_DESCRIPTION,
    MOST_OF_ALL,
    MOST_SCHEMA,
    MOST_TOOLS,
    schema_size,
)
from sidecar.workspace.paths import led_elsewhere

SHOWN = 200
"""Characters of a path repeated in an error."""


def checked_folder(cwd: str) -> str:
    """Resolves links of an existing folder. Raises BadRequest."""
    path = Path(cwd)
    with suppress(OSError, ValueError):
        if path.is_absolute() and path.is_dir():
            return resolved(cwd)
    text = f"{cwd!r:.{SHOWN}} is not an existing folder: give an absolute path"
    raise BadRequest(text, "params.cwd")


def check_within(given: str, cwd: str, root: Path | None) -> None:
    """Raises BadRequest where a folder inside a window's leads out of that by a link."""
    if root is None or Path(cwd).is_relative_to(root):
        return
    if Path(os.path.normpath(given)).is_relative_to(root):
        text = f"{given} is a link and leads to {cwd}, out of the window's folder: open that itself"
        raise BadRequest(text, "params.cwd")


async def check_stays(cwd: str) -> None:
    """Raises BadRequest where a session's folder leads elsewhere by now."""
    if moved := await asyncio.to_thread(led_elsewhere, Path(cwd)):
        raise BadRequest(moved, "params.sessionId")


def resolved(cwd: str) -> str:
    """Resolves links of a folder that may be gone. Raises BadRequest."""
    try:
        return str(Path(cwd).resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise BadRequest(f"{cwd!r:.{SHOWN}} can be no folder: {error}", "params.cwd") from error


def named(model: str, path: str) -> str:
    """Raises BadRequest if empty or unprintable."""
    if is_model_name(model):
        return model
    raise BadRequest(f"{model!r} can be no model's name; give the name that its API knows", path)


def is_model_name(model: str) -> bool:
    return bool(model.strip()) and model.isprintable()


def amiss(settings: Mapping[str, Json], info: ModelInfo) -> tuple[str, str] | None:
    """Names an invalid `window` or `maxTokens`, with the reason."""
    window, most = settings.get("window"), settings.get("maxTokens")
    for name, value in (("window", window), ("maxTokens", most)):
        if isinstance(value, int) and value <= 0:
            return name, f"{name} must be a positive number of tokens"
    room = min(window, info.window) if isinstance(window, int) else info.window
    if isinstance(most, int) and most >= room:
        return "maxTokens", (
            f"maxTokens ({most}) must be smaller than the window ({room}): "
            "it is the answer's share of it"
        )
    answer = answer_tokens(most if isinstance(most, int) else None, info)
    if answer >= room:
        return "window", (
            f"the window ({room}) must be larger than {answer} tokens, which is what an answer "
            "may take unless maxTokens says otherwise: set maxTokens too, or a larger window"
        )
    if budget(room, answer).limit == 0:
        return "window", (
            f"the window ({room}) is too small: at least {LEAST_RESERVE} tokens are kept for the "
            "answer; set a larger window"
        )
    return None


def checked_policy(name: str) -> str:
    """Raises BadRequest."""
    if name not in policies():
        raise BadRequest(
            f"there is no policy {name!r}; there are {', '.join(policies())}", "params.policy"
        )
    return name


def offered_tools(request: NewSession) -> tuple[ToolSpec, ...]:
    """Includes built-in tools. Raises BadRequest for clashing names."""
    builtin = BUILTIN if request.builtin_tools else ()
    names = {tool.name for tool in builtin}
    _check_sizes(request.tools)
    for index, tool in enumerate(request.tools):
        if tool.name in names:
            raise BadRequest(
                f"there is a tool named {tool.name!r} already: give yours another name, "
                "or set builtinTools to false",
                f"params.tools[{index}].name",
            )
        names.add(tool.name)
    return (*builtin, *request.tools)


def _check_sizes(tools: Sequence[ToolSpec]) -> None:
    """Raises BadRequest for tools that providers refuse or that fill the window."""
    if len(tools) > MOST_TOOLS:
        raise BadRequest(f"there are {len(tools)} tools: give {MOST_TOOLS} at most", "params.tools")
    room = MOST_OF_ALL
    for index, tool in enumerate(tools):
        path = f"params.tools[{index}]"
        if not is_id(tool.name):
            why = (
                f"{tool.name!r:.80} can be no tool's name: it has 1 to {MOST_NAME} letters a to z "
                "or A to Z, digits, _ and -"
            )
            raise BadRequest(why, f"{path}.name")
        if len(tool.description) > MOST_DESCRIPTION:
            why = f"a tool's description may have {MOST_DESCRIPTION} characters: shorten it"
            raise BadRequest(why, f"{path}.description")
        size = schema_size(tool.input_schema)
        room -= size + len(tool.description)
        if size > MOST_SCHEMA or room < 0:
            why = (
                f"a tool's schema may have {MOST_SCHEMA} characters as JSON, and all that is told "
                f"of tools {MOST_OF_ALL}: it is sent with every request"
            )
            raise BadRequest(why, f"{path}.inputSchema")


async def check_fits(gauge: Gauge, settings: SessionSettings, parts: tuple[Part, ...]) -> None:
    """Raises BadRequest, with numbers, for a message beyond the window's room."""
    tokens, room = await gauge.user_message_limit(parts)
    if room <= 0:
        split = settings.room()
        raise BadRequest(
            f"the window of {split.window} tokens has no room for a message: "
            f"{split.reserved_output} are kept for the answer and {split.limit - room} are tools "
            "and system text; set a larger window or a smaller maxTokens",
            "params.prompt",
        )
    if tokens > room:
        raise BadRequest(
            f"this message alone is about {tokens} tokens and the window has room for {room}: "
            "shorten it, or name the files instead of pasting them",
            "params.prompt",
        )
