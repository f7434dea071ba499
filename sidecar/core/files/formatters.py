"""Recognises formatters that a shell command runs."""

import re
from collections.abc import Iterator, Sequence

from sidecar.core.files.shell_writes import simple, split

ANY = ""
"""Ends every path."""
_PYTHON = (".py", ".pyi", ".ipynb")
_GO, _RUST = (".go",), (".rs",)
_WEB = (
    ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".css",
    ".scss", ".less", ".html", ".json", ".jsonc", ".md", ".mdx", ".yaml", ".yml", ".graphql",
)  # fmt: skip
_RUNNERS = frozenset({"mise", "npm", "pnpm", "yarn", "bun", "make", "task", "just", "hatch", "tox"})
_BEFORE = frozenset(
    {"npx", "bunx", "uvx", "uv", "poetry", "exec", "run", "-m", "python", "python3"}
)
_TASKS = ("fmt", "format", "lint:fix", "lint-fix", "fix")
_LEAVE = frozenset({"--check", "--diff", "--list-different", "--dry-run"})
"""Options with which they only look."""
_WRITE = frozenset({"-w", "--write", "--fix", "-fix", "--apply"})
_MAY = re.compile(
    r"fmt|format|fix|ruff|black|isort|yapf|goimports|gofumpt|modernize|fieldalign|prettier|biome"
)


def formatted(command: str) -> frozenset[str]:
    """Returns endings of paths that a command may format; `ANY` for all."""
    if not _MAY.search(command):
        return frozenset()
    text, _ = split(command)
    return frozenset(end for words, _ in simple(text) for end in _ends(words))


def _ends(words: Sequence[str]) -> Iterator[str]:
    runs = words[:1] and words[0] in _RUNNERS
    while words and (words[0] in _BEFORE or words[0] in _RUNNERS or "=" in words[0]):
        words = words[1:]
    if not words or not _LEAVE.isdisjoint(words):
        return
    writes = not _WRITE.isdisjoint(words)
    match [words[0].rpartition("/")[2], *words[1:]]:
        case [task, *_] if runs and task.startswith(_TASKS):
            yield ANY
        case ["gofmt" | "gofumpt" | "goimports" | "modernize" | "fieldalignment", *_] if writes:
            yield from _GO
        case ["go", "fmt" | "fix", *_] | ["golangci-lint", "fmt", *_]:
            yield from _GO
        case ["golangci-lint", "run", *_] if writes:
            yield from _GO
        case ["ruff", "format", *_] | ["black" | "isort" | "yapf", *_]:
            yield from _PYTHON
        case ["ruff", "check", *_] if writes:
            yield from _PYTHON
        case ["cargo", "fmt", *_] | ["rustfmt", *_]:
            yield from _RUST
        case ["prettier" | "eslint" | "biome" | "stylelint" | "dprint", *_] if writes:
            yield from _WEB
        case _:
            return
