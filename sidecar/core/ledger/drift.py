"""Tells the model where the workspace differs from a ledger."""

from collections.abc import Iterable, Iterator, Mapping

from sidecar.core.ledger.ledger import File

MOST_LINES = 40


def to_check(files: Iterable[File]) -> tuple[str, ...]:
    newest = list(files)[::-1]
    return tuple(f.path for f in sorted(newest, key=lambda file: not file.changed))


def drift(
    files: Iterable[File],
    branch: str,
    found: Mapping[str, str | None],
    branch_now: str,
    most: int = MOST_LINES,
) -> tuple[str, ...]:
    """Tells differences in at most `most` lines, and counts the rest.

    `found`: hash by checked path; `None` if missing, `""` if unreadable. Branches: `""` if unknown.
    """
    lines = tuple(_lines(files, branch, found, branch_now))
    left = len(lines) - most
    if left <= 0:
        return lines
    return (*lines[:most], f"… and {left} more files are not as they were.")


def _lines(
    files: Iterable[File], branch: str, found: Mapping[str, str | None], branch_now: str
) -> Iterator[str]:
    if branch and branch_now and branch != branch_now:
        yield f"The git branch was {branch} and is {branch_now} now."
    for file in files:
        if file.path not in found:
            continue
        now = found[file.path]
        if file.state == "deleted":
            if now is not None:
                yield f"{file.path} was deleted and is there again."
        elif now is None:
            yield f"{file.path} is gone; it was {file.state} before."
        elif file.hash and now and file.hash != now:
            last = "you changed it" if file.changed else "you read it"
            yield f"{file.path} is not as it was when {last}: read it again before relying on it."
