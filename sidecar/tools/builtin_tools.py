"""Defines the built-in tools, sorted by name."""

from types import MappingProxyType

from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.text.truncate import Keep

_STRING: JsonObject = {"type": "string"}


def _number(description: str, least: int) -> JsonObject:
    return {"type": "integer", "minimum": least, "description": description}


def _string(description: str) -> JsonObject:
    return {**_STRING, "description": description}


def _schema(properties: JsonObject, *required: str) -> JsonObject:
    needed: list[Json] = [*required]
    return {"type": "object", "properties": properties, "required": needed}


_PATH = _string("Absolute, or relative to the workspace.")

DELEGATE = "delegate"

BUILTIN: tuple[ToolSpec, ...] = (
    ToolSpec(
        name=DELEGATE,
        description=(
            "Have a child agent do a task of its own: search through much text, find something "
            "out, make a change that stands by itself. Only its report comes back, at most 2,000 "
            "tokens, so what it reads takes no room here. It knows nothing of this conversation: "
            "say all that it needs, and what to report. Several in one step run side by side."
        ),
        input_schema=_schema(
            {
                "task": _string("What to do, and what to report, complete in itself."),
                "context": _string("What it should know: paths, findings, constraints."),
                "tools": {
                    "type": "array",
                    "items": _STRING,
                    "description": "The only tools it may use, of yours. Default: all of them.",
                },
            },
            "task",
        ),
        kind="other",
    ),
    ToolSpec(
        name="edit_file",
        description=(
            "Replace text in a file. oldText must occur exactly once, with its indentation; "
            "give more of the lines around it until it does, or set replaceAll."
        ),
        input_schema=_schema(
            {
                "path": _PATH,
                "oldText": _string("The text to replace, exactly as it stands in the file."),
                "newText": _string("The text to put there."),
                "replaceAll": {
                    "type": "boolean",
                    "description": "Replace every occurrence. Default false.",
                },
            },
            "path",
            "oldText",
            "newText",
        ),
        kind="edit",
    ),
    ToolSpec(
        name="list_files",
        description=(
            "List a folder, or find files by name. With pattern: all matching files below path, "
            "without what .gitignore leaves out. Without: the folder's own entries."
        ),
        input_schema=_schema(
            {
                "path": _string("A folder. Default: the workspace."),
                "pattern": _string("A glob such as *.py, src/**/*.ts or **/test_*.{js,ts}."),
            }
        ),
        kind="search",
        read_only=True,
    ),
    ToolSpec(
        name="read_file",
        description=(
            "Read a text file, unsaved changes in the editor included. "
            "Give offset and limit to read some of its lines."
        ),
        input_schema=_schema(
            {
                "path": _PATH,
                "offset": _number("The first line to read. Lines count from 1.", 1),
                "limit": _number("How many lines to read. Default: all.", 1),
            },
            "path",
        ),
        kind="read",
        read_only=True,
    ),
    ToolSpec(
        name="recall",
        description=(
            "Read again what this session has logged, by its id: an output that was cut or is no "
            "longer shown, or an earlier message."
        ),
        input_schema=_schema(
            {
                "id": _string("The id, as it stands in the note."),
                "offset": _number("Where to begin, in bytes. Default 0.", 0),
                "limit": _number("How many bytes to read.", 1),
                "pattern": _string("Give only the lines that match this regular expression."),
            },
            "id",
        ),
        kind="other",
        read_only=True,
    ),
    ToolSpec(
        name="search",
        description=(
            "Search the text of files by regular expression. Gives path:line: text, "
            "without files that .gitignore leaves out. Escape brackets to find them literally."
        ),
        input_schema=_schema(
            {
                "pattern": _string("A regular expression, matched line by line."),
                "path": _string("A file or folder to search. Default: the workspace."),
                "glob": _string("Only files whose path matches, such as *.py."),
                "limit": _number("Most matching lines to give. Default 200.", 1),
            },
            "pattern",
        ),
        kind="search",
        read_only=True,
    ),
    ToolSpec(
        name="shell",
        description=(
            "Run a command in a shell and wait for it. Gives its output and exit code. There is "
            "no terminal and no input. Use the other tools to read, search and edit files."
        ),
        input_schema=_schema(
            {
                "command": _string("What to run."),
                "timeoutMs": _number(
                    "Milliseconds after which it is killed. Default 120000, at most 600000.", 1
                ),
                "cwd": _string("The folder to run it in. Default: the workspace."),
            },
            "command",
        ),
        kind="execute",
    ),
    ToolSpec(
        name="todo",
        description=(
            "Keep the list of what is to be done, for work of three steps or more. Give the whole "
            "list each time; keep exactly one item in_progress while you work."
        ),
        input_schema=_schema(
            {
                "items": {
                    "type": "array",
                    "items": _schema(
                        {
                            "content": _string("What is to be done, in a few words."),
                            "status": {
                                "type": "string",
                                "enum": ["pending", "in_progress", "completed"],
                            },
                        },
                        "content",
                        "status",
                    ),
                }
            },
            "items",
        ),
        kind="other",
        read_only=True,
        protected_from_pruning=True,
    ),
    ToolSpec(
        name="write_file",
        description=(
            "Create a file, or replace all of its text. Missing folders are made. "
            "To change a part of a file, use edit_file."
        ),
        input_schema=_schema(
            {"path": _PATH, "content": _string("The file's whole text.")}, "path", "content"
        ),
        kind="edit",
    ),
)

BY_NAME = MappingProxyType({spec.name: spec for spec in BUILTIN})


def kept_end(spec: ToolSpec) -> Keep:
    return "both" if spec.kind in ("execute", "other", "edit") else "head"


def signature(spec: ToolSpec) -> str:
    """As in `{path, offset?, limit?}`."""
    properties, required = spec.input_schema.get("properties"), spec.input_schema.get("required")
    names = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    return "{" + ", ".join(name if name in needed else f"{name}?" for name in names) + "}"
