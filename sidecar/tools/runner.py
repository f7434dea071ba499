"""Run a built-in tool; every failure is an answer."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from sidecar.config.loading import user_file
from sidecar.core.errors import BadRequest, Cancelled, SidecarError
from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools import inputs
from sidecar.tools.builtin_tools import BY_NAME, DELEGATE, signature
from sidecar.tools.delegate import delegate, read_subtask, title_of
from sidecar.tools.files.edit import edit_file, write_file
from sidecar.tools.files.find import list_files, search
from sidecar.tools.files.reach import refuse_git
from sidecar.tools.files.read import read_file
from sidecar.tools.recall import recall
from sidecar.tools.rules.coverage import walks, written
from sidecar.tools.rules.leading_out import leading_out
from sidecar.tools.rules.runs_later import held_above, holds_later
from sidecar.tools.rules.shell_words import plain_words
from sidecar.tools.shell import shell
from sidecar.tools.todo import todo
from sidecar.tools.tool_contract import Access, Changes, Tool, ToolAnswer, ToolContext
from sidecar.workspace.paths import (
    MAX_FOLDERS,
    Place,
    display,
    in_git,
    linked_names,
    locate,
    own_names,
    printable,
    roots_above,
    spelt_names,
)
from sidecar.workspace.variables import naming

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

_VERBS = {
    "edit_file": "Edit",
    "list_files": "List",
    "read_file": "Read",
    "search": "Search",
    "write_file": "Write",
}


_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""Files by which Python and conda know an environment, from which programs start."""
_PACKAGE = re.compile(r"(?:(.*?)/)?node_modules/(?:@[^/]+/)?[^/.][^/]*/.", re.DOTALL)
"""What lies in a package: by a link, in one of the workspace's own, as npm and yarn make them."""
_OF_ENVIRONMENT = ("bin", "Scripts", "lib", "lib64", "Lib")
"""Folders of one that is the workspace itself."""
_ACTING = ("edit", "execute")
"""Kinds of tools that change files, as `_Rechecked`."""
_MOVED = "What this call would touch changed since it was decided on. Send it again."


@dataclass(frozen=True, slots=True)
class _Rechecked:
    """Changes, followed while the call's access is as decided.

    Before a change comes a snapshot; meanwhile another command may move a link.
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
            raise BadRequest(_MOVED)


def access(spec: ToolSpec, given: Json, context: ToolContext) -> Access:
    """With a `problem` for malformed input; a few calls of lstat."""
    if spec.origin != "builtin":
        return Access(spec.kind, _client_title(spec, given))
    try:
        checked = inputs.as_object(given)
        inputs.check(spec.input_schema, checked)
    except BadRequest as error:
        usage = f"{error.message} The input of {spec.name} is {signature(spec)}."
        return Access(spec.kind, spec.name, problem=usage)
    try:
        return _touched(spec, checked, context)
    except BadRequest as error:
        return Access(spec.kind, spec.name, problem=error.message)


def look_around(root: Path, variables: Mapping[str, str]) -> None:
    """Read ahead what each look at an edited file reads anew only after a change. Blocks.

    These are names in the folders above and in the home folder, and words of variables.
    """
    real = Path(os.path.realpath(root))
    linked_names((".",), real, real, holds_later, variables)
    naming(real, real, variables)


async def run_builtin(
    name: str, given: Json, context: ToolContext, decided: Access | None = None
) -> ToolAnswer:
    """Failures become error answers.

    A call with other access than `decided`, through a moved link, does not run; a change is looked
    at right before alone, as nothing is acted on earlier. Raises Cancelled once the client is gone.
    """
    spec, tool = BY_NAME.get(name), TOOLS.get(name)
    if spec is None or tool is None:
        return _error(f"There is no tool {name}. There are {', '.join(BY_NAME)}.")
    found = decided if spec.kind in _ACTING else None
    if found is None:
        found = await asyncio.to_thread(access, spec, given, context)
    if decided is not None and found != decided:
        return _error(_MOVED)
    if found.problem:
        return _error(found.problem)
    if not context.trusted and spec.kind in _ACTING:
        return _error("This workspace is not trusted, so nothing is run or changed in it.")
    changes = _Rechecked(context.changes, spec, given, context, found)
    try:
        return await tool(inputs.as_object(given), replace(context, changes=changes))
    except Cancelled:
        raise
    except SidecarError as error:
        return _error(error.message)
    except OSError as error:
        return _error(_say(error, context.cwd))
    except UnicodeError:
        return _error("The text has half of a surrogate pair in it, which no file can hold.")


def _touched(spec: ToolSpec, given: JsonObject, context: ToolContext) -> Access:
    command = inputs.optional_text(given, "command") or "" if spec.name == "shell" else ""
    if spec.name == "shell" and not command.strip():
        raise BadRequest("`command` is empty.", "input.command")
    if spec.name == DELEGATE:
        return Access(spec.kind, title_of(read_subtask(given)))
    if spec.name not in _VERBS and not command:
        return Access(spec.kind, spec.name)
    path = inputs.optional_text(given, "cwd" if command else "path")
    path = "." if path is None else path
    place = locate(path, context.cwd)
    outside = () if place.inside else (str(place.real),)
    found = Access(spec.kind, "", (str(place.real),), outside, shown=(place.shown,))
    if command:
        return _by_command(found, command, place, context)
    if spec.kind == "edit":
        refuse_git(place)
        found = _writing(found, (path,), [place.real], context.cwd, context)
    spelt = tuple(name for name in spelt_names(path, context.cwd) if name != place.shown)
    return replace(found, title=f"{_VERBS[spec.name]} {place.shown}", spelt=spelt)


def _by_command(found: Access, command: str, place: Place, context: ToolContext) -> Access:
    words = plain_words(command)
    if any(word.count("/") > MAX_FOLDERS for word in words):
        words = ()
    # The names of all words count that may be written to.
    named = written(words)
    reals = [Path(os.path.realpath(place.real / name)) for name in named]
    found = _writing(found, named, reals, place.real, context)
    elsewhere = "" if place.shown == "." else f"in {place.shown}: "
    return replace(
        found,
        title=f"Run {elsewhere}{command}",
        command=command,
        words=words,
        strays=leading_out(words, place.real, context.cwd, walks=walks(words)),
    )


def _writing(
    found: Access, names: tuple[str, ...], reals: list[Path], folder: Path, context: ToolContext
) -> Access:
    """With other names of the files that a call may write, and why these are no ordinary ones.

    `names`: as given, relative to `folder`; `reals`: the same, resolved.
    """
    root = Path(os.path.realpath(context.cwd))
    linked = {*linked_names(names, folder, root, holds_later, context.environment)}
    if not any("node_modules" in real.parts for real in reals):
        found_in = ((name, _PACKAGE.match(name)) for name in linked)
        # Where other programs put packages, as editors do, they are run.
        linked = {name for name, at in found_in if not at or held_above((at[1] or "").split("/"))}
    inside = [real for real in reals if real.is_relative_to(root)]
    shown = [printable(display(real, root)) for real in inside]
    linked |= set(shown if folder != root else ())
    above = own_names(root)
    held = [held_above(above, name) for name in shown or ([] if reals else [""])]
    parents = dict.fromkeys(real.parent for real in reals)
    # By a link a file may lie in an environment, too, and a folder be one.
    ways = {*parents, *((root / name).parent for name in linked), *filter(os.path.isdir, reals)}
    environments = {one for way in ways for one in _marked_above(way, root, _ENVIRONMENT)[:1]}
    held += sorted(printable(display(one, root)) for one in environments)
    for parent in parents:
        # Programs look for their settings in the root of any other repository, too.
        for repository in _marked_above(parent, root, (".git", ".jj", ".hg")):
            of_it = (real for real in reals if real.parent == parent)
            linked |= {printable(display(real, repository)) for real in of_it}
    if any(os.path.lexists(root / mark) for mark in _ENVIRONMENT):
        held += [first for name in shown if (first := name.partition("/")[0]) in _OF_ENVIRONMENT]
    why = [f"lies in {one}, which is hidden or has files that run later" for one in held if one]
    if os.path.realpath(user_file()) in map(str, reals):
        why.append("has your own settings")
    if found.kind != "edit":
        # An edit there is refused.
        why += ["belongs to git" for real in inside if in_git(real)]
    return replace(
        found,
        linked=tuple(sorted(linked - set(found.shown))),
        held=why[0] if why else _named_by_variable(reals, context),
    )


def _marked_above(folder: Path, root: Path, marks: tuple[str, ...]) -> tuple[Path, ...]:
    """Below the workspace's root, or outside below the disk's."""
    base = root if folder.is_relative_to(root) else Path(folder.anchor)
    return roots_above(folder, base, marks)


def _named_by_variable(reals: list[Path], context: ToolContext) -> str:
    found = (naming(real, context.cwd, context.environment) for real in reals)
    variable = next(filter(None, found), "")
    return f"is named by the variable {variable}" if variable else ""


def _client_title(spec: ToolSpec, given: Json) -> str:
    values = given.values() if isinstance(given, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return f"{spec.name} {first[:200]}".strip().split("\n")[0]


def _error(message: str) -> ToolAnswer:
    return ToolAnswer(message, is_error=True)


def _say(error: OSError, cwd: Path) -> str:
    reason = error.strerror or str(error)
    if not isinstance(error.filename, str):
        return f"That failed: {reason}."
    path = display(Path(error.filename), Path(os.path.realpath(cwd)))
    return f"{printable(path)}: {reason}."
