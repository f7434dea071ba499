"""Reads what calls did, ours or an imported agent's."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import (
    argument,
    failed,
    interrupted,
    one_line,
    result_text,
)
from sidecar.core.dataclass import dataclass
from sidecar.core.files.shell_writes import patched, writes
from sidecar.core.parts import Json, JsonObject, ToolCompleted, ToolError, ToolPart
from sidecar.core.text.digest import content_hash
from sidecar.core.text.line_diff import CONTROL
from sidecar.core.text.sentences import gist

Operation: TypeAlias = Literal["read", "created", "edited", "deleted"]
LineSpans: TypeAlias = tuple[tuple[int, int], ...]
"""(first, last) ranges of lines, counted from 1."""
TodoProgress: TypeAlias = Literal["planned", "in_progress", "done"]
Means: TypeAlias = Literal["read", "edit", "shell", "tool", "prose"]
"""What a call was made with; any other tool is just that. What is no call is prose."""

READERS = frozenset({"read", "read_file", "read_files", "view", "view_file", "open_file", "open"})
LISTERS = frozenset({"list_files", "ls", "list_dir", "list_directory", "glob", "tree"})
SEARCHERS = frozenset({"search", "grep", "rg", "search_file_content", "codebase_search", "find"})
WEB = frozenset({"webfetch", "websearch", "web_fetch", "web_search", "fetch"})
WRITERS = frozenset({"write", "write_file", "create", "create_file", "write_to_file"})
EDITS = WRITERS | {
    "edit", "multiedit", "multi_edit", "apply_patch", "edit_file", "patch", "notebookedit",
    "edit_notebook", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "editor",
    "replace", "replace_in_file", "search_replace", "apply_diff", "insert", "delete_file",
}  # fmt: skip
"""Tools that change files; by `own_name`."""
SHELLS = frozenset({
    "bash", "shell", "exec_command", "local_shell", "run_shell_command", "run_command",
    "run_commands", "run_terminal_cmd", "execute_command", "container.exec", "action",
    "powershell", "terminal",
})  # fmt: skip
TODOS = frozenset({"todo", "todowrite", "todo_write", "update_plan"})
TASKS = frozenset({"taskcreate", "taskupdate"})
DELEGATES = frozenset({"delegate", "task", "agent", "subagent", "dispatch_agent"})

_PATHS = (
    "file_path", "path", "filePath", "notebook_path", "filename", "file", "target_file",
    "absolute_path", "TargetFile",
)  # fmt: skip
_FIRST, _LAST = ("offset", "start_line", "startLine"), ("end_line", "endLine")
NUMBERED = re.compile(r"^ *(\d+)(?:→|\t|: ?)", re.M)
"""The number that a tool writes before a line."""
PATCHES = ("input", "patch", "patchText", "diff")
"""Inputs that hold a patch."""
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.M)
_SHOWN_FILE = re.compile(r"\[File: (\S+) \(\d+ lines total\)\]")
_REFUSED = re.compile(
    r"\s*(?:<tool_use_error>|error\b|failed\b|exit code:? [1-9]|apply_patch verification failed)",
    re.I,
)
_REPORT_HEADING = re.compile(r"^#{1,4} .+$", re.M)
FINDING, LONGEST_PREFACE = 240, 4_000
"""Characters of a report that are told, and that are looked at."""
IN_BACKGROUND = "started in the background"
_TASK_ID = re.compile(r"#(\w+)")
_STATUS: dict[str, TodoProgress] = {
    "pending": "planned", "planned": "planned", "todo": "planned", "not_started": "planned",
    "in_progress": "in_progress", "in-progress": "in_progress", "active": "in_progress",
    "completed": "done", "complete": "done", "done": "done",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """A file read or changed; `hash` of the content afterwards, if known."""

    path: str
    operation: Operation
    lines: LineSpans = ()
    hash: str = ""

    def __post_init__(self) -> None:
        # A name of several lines would begin sections of a note.
        object.__setattr__(self, "path", CONTROL.sub("?", self.path))


@dataclass(frozen=True, slots=True)
class RanCommand:
    """A shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class ListedTodo:
    """The whole to-do list: (content, progress)."""

    items: tuple[tuple[str, TodoProgress], ...]


@dataclass(frozen=True, slots=True)
class Entered:
    """A new to-do; later calls use its `key`."""

    key: str
    content: str


@dataclass(frozen=True, slots=True)
class MovedTodo:
    """A to-do's new progress; `None`: off the list."""

    key: str
    progress: TodoProgress | None


@dataclass(frozen=True, slots=True)
class Delegated:
    """A delegated task and its state."""

    task: str
    status: Literal["running", "done", "failed"]
    result: str = ""


Deed: TypeAlias = TouchedFile | RanCommand | ListedTodo | Entered | MovedTodo | Delegated


@lru_cache(maxsize=1_024)
def own_name(tool: str) -> str:
    """Gives a tool's name in lower case, without MCP's leading server."""
    return tool.rpartition("__")[2].lower()


@lru_cache(maxsize=1_024)
def means_of(tool: str) -> Means:
    name = own_name(tool)
    if name in READERS:
        return "read"
    return "edit" if name in EDITS else "shell" if name in SHELLS else "tool"


def deeds_of(part: ToolPart) -> tuple[Deed, ...]:
    """Empty if the call did not run."""
    name = own_name(part.name)
    given = part.input
    if name == "batch" and isinstance(given, dict):
        return tuple(deed for inner in _inner(part, given) for deed in deeds_of(inner))
    if name in SHELLS:
        return _in_shell(part)
    if name in READERS or name in EDITS:
        return tuple(_files(part, name))
    if not isinstance(given, dict):
        return ()
    if name in TODOS:
        return _listed(given) if isinstance(part.state, ToolCompleted) else ()
    if name in TASKS:
        return _task(part, name, given)
    return (_delegated(part, given),) if name in DELEGATES else ()


def may_move_todos(part: ToolPart) -> bool:
    name = own_name(part.name)
    return name in TODOS or name in TASKS or name == "batch"


def changed(deeds: tuple[Deed, ...]) -> Iterator[TouchedFile]:
    return (deed for deed in deeds if isinstance(deed, TouchedFile) and deed.operation != "read")


def list_after(
    listed: Mapping[str, tuple[str, TodoProgress]], deed: Deed
) -> Mapping[str, tuple[str, TodoProgress]] | None:
    """Returns `None` for unrelated deeds."""
    match deed:
        case ListedTodo(items=items):
            return {str(number): item for number, item in enumerate(items)}
        case Entered(key=key, content=content):
            return {**listed, key: (content, "planned")}
        case MovedTodo(key=key, progress=progress):
            kept = {name: item for name, item in listed.items() if name != key or progress}
            if progress and key in kept:
                kept[key] = (kept[key][0], progress)
            return kept
        case _:
            return None


def _ran(part: ToolPart) -> bool:
    match part.state:
        case ToolCompleted():
            return True
        case ToolError(failure=failure):
            return failure in ("interrupted", "cancelled")
        case _:
            return False


def _refused(part: ToolPart, text: str) -> bool:
    """Whether a tool reports nothing done; errors quoted in a file do not count."""
    metadata: JsonObject = getattr(part.state, "metadata", {})
    return metadata.get("isError") is True or bool(_REFUSED.match(text[:200]))


def commands_of(part: ToolPart) -> Iterator[tuple[str, str]]:
    """Gives commands, each with its starting folder."""
    given = part.input
    said = given.get("command", given.get("cmd", "")) if isinstance(given, dict) else given
    commands = given.get("commands") if isinstance(given, dict) else None
    folder = given.get("workdir", "") if isinstance(given, dict) else ""
    for one in commands if isinstance(commands, list) else [said]:
        command = " ".join(map(str, one)) if isinstance(one, list) else one
        if isinstance(command, str):
            yield command, folder if isinstance(folder, str) else ""


def _in_shell(part: ToolPart) -> tuple[Deed, ...]:
    deeds: list[Deed] = [RanCommand(argument(part.input))]
    if not (_ran(part) or (isinstance(part.state, ToolError) and part.state.failure == "error")):
        return ()
    for command, folder in commands_of(part):
        # A command that failed or was broken off may not have deleted anything.
        doubtful = failed(part) or interrupted(part)
        sure = (w for w in writes(command, folder) if w[1] != "deleted" or not doubtful)
        deeds += [TouchedFile(path, how) for path, how in sure]
    return tuple(deeds)


def _files(part: ToolPart, name: str) -> Iterator[TouchedFile]:
    given, text = part.input, result_text(part)
    if not _ran(part) or _refused(part, text):
        return
    if isinstance(given, str):
        yield from (TouchedFile(path, how) for path, how in patched(given))
        return
    if not isinstance(given, dict):
        return
    for key in PATCHES:
        patch = given.get(key)
        found = patched(patch) if isinstance(patch, str) else ()
        if found:
            yield from (TouchedFile(path, how) for path, how in found)
            return
    metadata: JsonObject = getattr(part.state, "metadata", {})
    command = given.get("command")
    reads = name in READERS or command == "view"
    paths = _paths(given, metadata)
    if not paths and (shown := _SHOWN_FILE.search(text[-100_000:])):
        paths = [shown[1]]
    for path in paths:
        if reads:
            yield TouchedFile(path, "read", _lines_read(given, part), _hash(metadata))
        elif name == "delete_file":
            yield TouchedFile(path, "deleted")
        else:
            new = metadata.get("created") is True or (
                "created" not in metadata and _created(name, command, given, text)
            )
            how: Operation = "created" if new else "edited"
            hashed = _hash(metadata) or _hash_of_input(name, command, given)
            yield TouchedFile(path, how, () if new else _lines_edited(metadata, text), hashed)


def _paths(given: JsonObject, metadata: JsonObject) -> list[str]:
    shown = metadata.get("path")
    if isinstance(shown, str) and shown:
        return [shown]
    files = given.get("files") or given.get("paths")
    if isinstance(files, list):
        entries = [_paths(one, {}) if isinstance(one, dict) else [one] for one in files]
        return [path for entry in entries for path in entry if isinstance(path, str) and path]
    found = (given.get(key) for key in _PATHS)
    return [path for path in found if isinstance(path, str) and path.strip()][:1]


def _created(name: str, command: Json, given: JsonObject, text: str) -> bool:
    if command == "create" or name in ("create", "create_file"):
        return True
    return (name in WRITERS and "created" in text[:200].lower()) or given.get("old_string") == ""


def _hash(metadata: JsonObject) -> str:
    found = metadata.get("hash")
    return found if isinstance(found, str) else ""


def _hash_of_input(name: str, command: Json, given: JsonObject) -> str:
    content = given.get("content", given.get("file_text"))
    whole = name in WRITERS or command == "create"
    return content_hash(content) if whole and isinstance(content, str) else ""


def _lines_read(given: JsonObject, part: ToolPart) -> LineSpans:
    view = given.get("view_range")
    if isinstance(view, list) and len(view) == 2:
        first, last = view
        if isinstance(first, int) and isinstance(last, int) and 0 < first <= last:
            return ((first, last),)
    text = result_text(part)
    numbers = [int(number) for number in NUMBERED.findall(text)]
    if len(numbers) > 1 and len(numbers) >= text.count("\n") // 2:
        return ((numbers[0], max(numbers)),)
    start = _number(given, _FIRST) or 1
    end = _number(given, _LAST)
    limit = _number(given, ("limit",))
    if end is None and limit is not None:
        end = start + limit - 1
    if end is None and isinstance(part.state, ToolCompleted):
        output = part.state.output
        end = start - 1 + (output.total_lines or text.count("\n") + (not text.endswith("\n")))
    return ((start, end),) if end is not None and end >= start else ()


def _number(given: JsonObject, keys: tuple[str, ...]) -> int | None:
    found = (given.get(key) for key in keys)
    return next(
        (n for n in found if isinstance(n, int) and not isinstance(n, bool) and n > 0), None
    )


def _lines_edited(metadata: JsonObject, text: str) -> LineSpans:
    diff = metadata.get("diff")
    if isinstance(diff, str):
        spans = ((int(first), int(count or 1)) for first, count in _HUNK.findall(diff))
        return tuple((max(1, first), max(1, first, first + count - 1)) for first, count in spans)
    numbers = [int(number) for number in NUMBERED.findall(text)]
    return ((min(numbers), max(numbers)),) if len(numbers) > 1 else ()


def _listed(given: JsonObject) -> tuple[Deed, ...]:
    for key in ("items", "todos", "plan"):
        items = given.get(key)
        if isinstance(items, list):
            read = (_item(item) for item in items if isinstance(item, dict))
            return (ListedTodo(tuple(item for item in read if item is not None)),)
    return ()


def _item(item: JsonObject) -> tuple[str, TodoProgress] | None:
    content = next((c for key in ("content", "step", "text") if (c := item.get(key))), None)
    progress = _STATUS.get(str(item.get("status")))
    return (content, progress) if isinstance(content, str) and progress else None


def _task(part: ToolPart, name: str, given: JsonObject) -> tuple[Deed, ...]:
    if not isinstance(part.state, ToolCompleted):
        return ()
    if name == "taskcreate":
        key, subject = _TASK_ID.search(result_text(part)), given.get("subject")
        return (Entered(key[1], subject),) if key and isinstance(subject, str) else ()
    status = given.get("status")
    progress = _STATUS.get(str(status))
    if progress is None and status != "deleted":
        return ()
    return (MovedTodo(str(given.get("taskId")), progress),)


def _delegated(part: ToolPart, given: JsonObject) -> Delegated:
    asked = (given.get(key) for key in ("task", "description", "prompt"))
    task = next((one_line(words) for words in asked if isinstance(words, str) and words), "")
    text = result_text(part)
    line = next((one_line(line) for line in text.splitlines() if line.strip()), "")
    if not isinstance(part.state, ToolCompleted | ToolError):
        return Delegated(task, "running")
    if line.startswith("Async agent launched"):
        return Delegated(task, "done", IN_BACKGROUND)
    waits = given.get("run_in_background") is True or given.get("background") is True
    if isinstance(part.state, ToolError) or part.state.metadata.get("isError") is True:
        return Delegated(task, "failed", line)
    return Delegated(task, "running" if waits else "done", finding(text) or line)


def finding(report: str) -> str:
    """Gives a report's first words below heading and announcement."""
    heading = _REPORT_HEADING.search(report[:LONGEST_PREFACE])
    said = report[heading.end() if heading else 0 :][:LONGEST_PREFACE]
    return gist(said.replace("**", ""), FINDING)


def _inner(part: ToolPart, given: JsonObject) -> Iterator[ToolPart]:
    calls = given.get("calls") or given.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            name = call.get("tool") or call.get("name")
            inner = call.get("parameters") or call.get("input") or call.get("arguments")
            if isinstance(name, str) and name != "batch":
                yield ToolPart(part.id, part.call_id, name, inner, part.state)
