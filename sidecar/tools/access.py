"""Finds what a call would touch, and by which names, before anyone decides. Reads files."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sidecar.config.loading import user_file
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.text.visible import plain_path
from sidecar.tools import inputs
from sidecar.tools.builtin_tools import DELEGATE, signature
from sidecar.tools.delegate import read_subtask, title_of
from sidecar.tools.files.reach import refuse_git
from sidecar.tools.rules.coverage import changes, walks, written
from sidecar.tools.rules.leading_out import leading_out
from sidecar.tools.rules.ordinary_files import ODD, are_settings, is_ordinary
from sidecar.tools.rules.runs_later import held_above, holds_later, runs_later_as
from sidecar.tools.rules.shell_words import plain_words
from sidecar.tools.tool_contract import Access, ToolContext
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
    ways_to,
)
from sidecar.workspace.variables import naming

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
_OF_ENVIRONMENT = ("bin", "scripts", "lib", "lib64")
"""Folders of one that is the workspace itself."""


def access(spec: ToolSpec, given: Json, context: ToolContext) -> Access:
    """Finds a call's access with a few calls of lstat; `problem`: malformed input."""
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
    """Fills caches for checks of edited files, before the first edit. Blocks."""
    real = Path(os.path.realpath(root))
    linked_names((".",), real, real, holds_later, variables)
    naming(real, real, variables)


def edit_of(path: str, root: Path, variables: Mapping[str, str]) -> Access:
    """Finds the access of an edit in `root`; `problem`: one that is refused. Blocks."""
    try:
        place = locate(path, root)
        refuse_git(place)
    except BadRequest as error:
        return Access("edit", path, problem=error.message)
    found = Access("edit", path, (str(place.real),), shown=(place.shown,))
    if not place.inside:
        return replace(found, problem="It leads out of the folder.")
    found = _writing(found, (path,), [place.real], root, root, variables)
    return replace(found, spelt=_spelt(path, place, root))


def read_of(path: str, root: Path) -> Access:
    """Finds the access of reading a file; `problem`: one that cannot be. Blocks."""
    try:
        place = locate(path, root)
    except BadRequest as error:
        return Access("read", path, problem=error.message)
    spelt = _spelt(path, place, root)
    return Access("read", path, (str(place.real),), shown=(place.shown,), spelt=spelt)


def asked_each_time(found: Access) -> str:
    """Says why an edit is refused, or asked about whatever is allowed; "" for others."""
    names = (*found.shown, *found.linked)
    if found.problem or found.held:
        return found.problem or f"It {found.held}."
    if later := runs_later_as(found.shown, found.linked):
        return f"{later[0].upper()}{later[1:]}."
    return "" if all(is_ordinary(n) or are_settings(n) for n in names) else f"It is {ODD}."


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
        root, variables = context.cwd, context.environment
        found = _writing(found, (path,), [place.real], root, root, variables)
    spelt = _spelt(path, place, context.cwd)
    return replace(found, title=f"{_VERBS[spec.name]} {place.shown}", spelt=spelt)


def _spelt(path: str, place: Place, root: Path) -> tuple[str, ...]:
    # What is called as it is found has no other name.
    if place.real == root / path and ".." not in path.split("/"):
        return ()
    known = {place.shown, str(place.real)}
    return tuple(name for name in spelt_names(path, root) if name not in known)


def _by_command(found: Access, command: str, place: Place, context: ToolContext) -> Access:
    words = plain_words(command)
    if any(word.count("/") > MAX_FOLDERS for word in words):
        words = ()
    # The names of all words count that may be written to, or the folder's, as by `git stash`.
    named = written(words) or ((".",) if words and changes(words) else ())
    reals = [Path(os.path.realpath(place.real / name)) for name in named]
    found = _writing(found, named, reals, place.real, context.cwd, context.environment)
    elsewhere = "" if place.shown == "." else f"in {place.shown}: "
    return replace(
        found,
        title=f"Run {elsewhere}{command}",
        command=command,
        words=words,
        strays=leading_out(words, place.real, context.cwd, walks=walks(words)),
    )


def _writing(
    found: Access,
    names: tuple[str, ...],
    reals: list[Path],
    folder: Path,
    cwd: Path,
    variables: Mapping[str, str],
) -> Access:
    """Adds other names of files to write, and why these are not ordinary.

    `names`: as given, relative to `folder`; `reals`: the same, resolved; `cwd`: the workspace.
    """
    root = Path(os.path.realpath(cwd))
    linked = {*linked_names(names, folder, root, holds_later, variables)}
    if not any("node_modules" in real.parts for real in reals):
        found_in = ((name, _PACKAGE.match(name)) for name in linked)
        # Where other programs put packages, as editors do, they are run.
        linked = {name for name, at in found_in if not at or held_above((at[1] or "").split("/"))}
    inside = [real for real in reals if real.is_relative_to(root)]
    shown = [printable(display(real, root)) for real in inside]
    linked |= set(shown if folder != root else ())
    if one := next(_special_folders(reals, shown, linked, root), ""):
        why = f"lies in {one}, which is hidden or has files that run later"
    elif found.kind == "edit" and _has_settings(reals):
        why = "has your own settings"
    elif found.kind != "edit" and _has_settings([*reals, _reached(root), _reached(folder)]):
        why = "lies among your own settings"
    elif found.kind != "edit" and any(map(in_git, inside)):
        # An edit there is refused.
        why = "belongs to git"
    else:
        why = _named_by_variable(reals, cwd, variables)
    for parent in {real.parent for real in reals}:
        # Programs look for their settings in the root of any other repository, too.
        for repository in _marked_above(parent, root, (".git", ".jj", ".hg")):
            of_it = (real for real in reals if real.parent == parent)
            linked |= {printable(display(real, repository)) for real in of_it}
    return replace(found, linked=tuple(sorted(linked - set(found.shown))), held=why)


def _special_folders(
    reals: list[Path], shown: list[str], linked: set[str], root: Path
) -> Iterator[str]:
    above = own_names(root)
    yield from filter(None, (held_above(above, name) for name in shown or ([] if reals else [""])))
    # By a link a file may lie in an environment, too, and a folder be one.
    parents = (real.parent for real in reals)
    ways = {*parents, *((root / name).parent for name in linked), *filter(os.path.isdir, reals)}
    environments = {one for way in ways for one in _marked_above(way, root, _ENVIRONMENT)[:1]}
    yield from sorted(printable(display(one, root)) for one in environments)
    if any(os.path.lexists(root / mark) for mark in _ENVIRONMENT):
        firsts = (name.partition("/")[0] for name in shown)
        yield from (first for first in firsts if plain_path(first) in _OF_ENVIRONMENT)


def _marked_above(folder: Path, root: Path, marks: tuple[str, ...]) -> tuple[Path, ...]:
    base = root if folder.is_relative_to(root) else Path(folder.anchor)
    return roots_above(folder, base, marks)


def _has_settings(reals: list[Path]) -> bool:
    ways = [Path(way) for way in (*ways_to(user_file()), os.path.realpath(user_file()))]
    return any(way.is_relative_to(real) for way in ways for real in reals)


def _reached(folder: Path) -> Path:
    """The repository that git changes as a whole, or the folder."""
    real = Path(os.path.realpath(folder))
    return next((up for up in (real, *real.parents) if os.path.lexists(up / ".git")), real)


def _named_by_variable(reals: list[Path], cwd: Path, variables: Mapping[str, str]) -> str:
    found = (naming(real, cwd, variables) for real in reals)
    variable = next(filter(None, found), "")
    return f"is named by the variable {variable}" if variable else ""


def _client_title(spec: ToolSpec, given: Json) -> str:
    values = given.values() if isinstance(given, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return f"{spec.name} {first[:200]}".strip().split("\n")[0]
