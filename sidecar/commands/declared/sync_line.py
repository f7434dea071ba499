"""Declares `sidecar sync`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sidecar.commands.declared.completion import session_ids
from sidecar.commands.declared.setup_commands import JSON


def declare_sync(app: typer.Typer) -> None:
    @app.command("sync")
    def bring_together(  # noqa: PLR0913, PLR0917 - one for each option
        remote: Annotated[
            str | None,
            typer.Argument(help="A git remote's name, address or path; else `sync.remote`."),
        ] = None,
        session: Annotated[
            list[str] | None,
            typer.Option(
                help="Only this session, by its id or its beginning; may be given again.",
                autocompletion=session_ids,
            ),
        ] = None,
        names: Annotated[
            list[str] | None,
            typer.Option(
                "--open",
                help="Open this session of the remote here, too, by its name or its beginning.",
            ),
        ] = None,
        listed: Annotated[
            bool, typer.Option("--list", help="List the sessions that lie there.")
        ] = False,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Only show what would be done.")
        ] = False,
        snapshots: Annotated[
            bool | None,
            typer.Option(
                help="With what checkpoints need of files, from now on; or without, as at first.",
                show_default=False,
            ),
        ] = None,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask the first time.")] = False,
        cwd: Annotated[
            Path | None, typer.Option(help="The folder whose sessions; else the current one.")
        ] = None,
        as_json: Annotated[bool, JSON] = False,
    ) -> None:
        """Bring this folder's sessions and those on a git remote together.

        They lie there on refs of their own, no branch and no file of the project is touched. Likely
        keys are removed; what would leave is shown, and asked about, before the first time.
        """
        from sidecar.commands.upkeep.sync_command import SyncChoices, list_there, sync

        folder = cwd or Path.cwd()
        if listed:
            sys.exit(list_there(remote, folder, as_json=as_json))
        chosen = SyncChoices(
            tuple(session or ()),
            tuple(names or ()),
            dry_run=dry_run,
            yes=yes,
            as_json=as_json,
            snapshots=snapshots,
        )
        sys.exit(sync(remote, folder, chosen))
