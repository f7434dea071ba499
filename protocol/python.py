"""The Python form: all types and tables in one module that imports nothing of ours."""

import ast
from pathlib import Path

FIRST_LINE = "# GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT"

SOURCES = (
    "source/meter.py",
    "source/session.py",
    "source/updates.py",
    "source/daemon.py",
    "source/client.py",
    "source/context.py",
    "source/history.py",
    "source/sync.py",
    "errors.py",
    "methods.py",
)
"""In the order of their dependencies."""

_HEADER = f'''{FIRST_LINE}
"""The protocol's messages, methods and errors, version 1."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
'''


def messages() -> str:
    """Join the source modules into one; imports and module docstrings are left out."""
    here = Path(__file__).resolve().parent
    bodies = [_body((here / name).read_text(encoding="utf-8")) for name in SOURCES]
    return "\n\n".join([_HEADER, *bodies])


def without_docstrings(text: str) -> str:
    """For the daemon, whose readers have the source beside; a module's docstring stays."""
    lines = text.splitlines(keepends=True)
    documented = (ast.ClassDef, ast.FunctionDef)
    for node in sorted(
        (node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)),
        key=lambda node: -node.lineno,
    ):
        first = node.body[0]
        if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None:
            start, end = first.lineno - 1, first.end_lineno or first.lineno
            if len(node.body) > 1:
                lines[start : end + (lines[end] == "\n")] = []
            else:
                lines[start:end] = [" " * first.col_offset + "pass\n"]
    return "".join(lines)


def _body(text: str) -> str:
    first = next(
        node
        for node in ast.parse(text).body[1:]
        if not isinstance(node, ast.Import | ast.ImportFrom)
    )
    decorators = first.decorator_list if isinstance(first, ast.ClassDef) else []
    start = min([first.lineno, *(node.lineno for node in decorators)])
    return "".join(text.splitlines(keepends=True)[start - 1 :])
