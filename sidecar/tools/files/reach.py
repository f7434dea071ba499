"""Resolves paths, and refuses those outside the workspace unless the user allowed them."""

from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.tools.tool_contract import ToolContext
from sidecar.workspace.paths import Place, in_git, locate

MOVED = "What this call would touch changed since it was decided on. Send it again."


def reach(given: str, context: ToolContext) -> Place:
    """Resolves a path just before use. Blocks.

    Raises BadRequest outside the workspace, unless allowed, and where a link has moved since the
    call was decided on.
    """
    place = locate(given, context.cwd)
    if not place.inside and str(place.real) not in context.granted:
        raise BadRequest(
            f"{given} leads outside of the workspace, to {place.shown}, and that was not allowed.",
            "input.path",
        )
    if context.decided is not None and str(place.real) not in context.decided:
        raise BadRequest(MOVED)
    return place


def refuse_git(place: Place) -> None:
    """Raises BadRequest for a path in a repository's own folder."""
    if in_git(place.real):
        raise BadRequest(
            f"{place.shown} belongs to git and is not written by hand. Use git in the shell.",
            "input.path",
        )


def folder(place: Place, context: ToolContext) -> Path:
    """Raises NotADirectoryError."""
    if not place.real.is_dir():
        raise NotADirectoryError(20, "is no folder", place.shown or str(context.cwd))
    return place.real
