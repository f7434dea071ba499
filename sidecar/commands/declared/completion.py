"""Completes the command line in bash, zsh and fish as typer does, and the ids of sessions."""

from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script


def know_shells() -> None:
    """Has commands answer shells, which set `_SIDECAR_COMPLETE`; typer does so for its own ones."""
    completion_init()


def script(shell: str) -> str:
    """Returns what a shell reads once; it calls `sidecar` for each word."""
    return get_completion_script(prog_name="sidecar", complete_var="_SIDECAR_COMPLETE", shell=shell)


def session_ids(incomplete: str) -> list[tuple[str, str]]:
    """Returns ids with titles."""
    from sidecar.commands.sessions_command import offered

    return offered(incomplete)
