"""Runs a built-in tool; every failure is an answer."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, Cancelled, SidecarError
from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Json
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools import inputs
from sidecar.tools.access import access
from sidecar.tools.builtin_tools import BY_NAME, DELEGATE
from sidecar.tools.delegate import delegate
from sidecar.tools.files.edit import edit_file, write_file
from sidecar.tools.files.find import list_files, search
from sidecar.tools.files.reach import MOVED
from sidecar.tools.files.read import read_file
from sidecar.tools.recall import recall
from sidecar.tools.shell import shell
from sidecar.tools.todo import todo
from sidecar.tools.tool_contract import Access, Changes, Tool, ToolAnswer, ToolContext
from sidecar.workspace.paths import (
    display,
    printable,
)

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        DELEGATE: delegate,
        "edit_file": edit_file,
        "list_files": list_files,
        "read_file": read_file,
        "recall": recall,
        "search": search,
        "shell": shell,
        "todo": todo,
        "write_file": write_file,
    }
)

_ACTING = ("edit", "execute")
"""Kinds of tools that change files, as `_Rechecked`."""


@dataclass(frozen=True, slots=True)
class _Rechecked:
    """Follows changes while the call's access is still as decided.

    During the snapshot before, another command may move a link.
    """

    changes: Changes
    spec: ToolSpec
    given: Json
    context: ToolContext
    decided: Access

    @asynccontextmanager
    async def editing(self, real: Path, text: str) -> AsyncIterator[None]:
        async with self.changes.editing(real, text):
            await self._check()
            yield

    @asynccontextmanager
    async def running(self, call: Intent) -> AsyncIterator[None]:
        async with self.changes.running(call):
            await self._check()
            yield

    async def _check(self) -> None:
        if await asyncio.to_thread(access, self.spec, self.given, self.context) != self.decided:
            raise BadRequest(MOVED)


async def run_builtin(
    name: str, given: Json, context: ToolContext, decided: Access | None = None
) -> ToolAnswer:
    """Failures become error answers.

    A call whose access differs from `decided`, through a moved link, does not run; changes are
    checked right before. Raises Cancelled once the client is gone.
    """
    spec, tool = BY_NAME.get(name), TOOLS.get(name)
    if spec is None or tool is None:
        return _error(f"There is no tool {name}. There are {', '.join(BY_NAME)}.")
    found = decided if spec.kind in _ACTING else None
    if found is None:
        found = await asyncio.to_thread(access, spec, given, context)
    if decided is not None and found != decided:
        return _error(MOVED)
    if found.problem:
        return _error(found.problem)
    if not context.trusted and spec.kind in _ACTING:
        return _error("This workspace is not trusted, so nothing is run or changed in it.")
    changes = _Rechecked(context.changes, spec, given, context, found)
    try:
        placed = replace(context, changes=changes, decided=found.paths)
        return await tool(inputs.as_object(given), placed)
    except Cancelled:
        raise
    except SidecarError as error:
        return _error(error.message)
    except OSError as error:
        return _error(_say(error, context.cwd))
    except MemoryError:
        return _error("This takes more memory than there is.")
    except UnicodeError:
        return _error("The text has half of a surrogate pair in it, which no file can hold.")


def _error(message: str) -> ToolAnswer:
    return ToolAnswer(message, is_error=True)


def _say(error: OSError, cwd: Path) -> str:
    reason = error.strerror or str(error)
    if not isinstance(error.filename, str):
        return f"That failed: {reason}."
    path = display(Path(error.filename), Path(os.path.realpath(cwd)))
    return f"{printable(path)}: {reason}."
