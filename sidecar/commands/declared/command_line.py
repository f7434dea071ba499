"""Declares the commands; each imports its own parts when called."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from sidecar.commands.declared.completion import know_shells, session_ids
from sidecar.commands.declared.setup_commands import JSON, WholeHelp, declare_setup
from sidecar.commands.declared.sync_line import declare_sync

_SESSION_HELP = "Its id or the beginning of it, or a folder for its newest session."
_SESSION = typer.Argument(help=_SESSION_HELP, autocompletion=session_ids)
_FOUND = typer.Argument(
    help=f"{_SESSION_HELP[:-1]}; else the newest of the current folder.",
    autocompletion=session_ids,
)
_LAST_HELP = "The newest session of all."
_FILES_GO = "With what its checkpoints need of files, but none with a likely key."
_FILES_COME = "Go back in files, too, by what the file says of them: if you trust who wrote it."
_OVERWRITE_HELP = "Replace a file that is there."


def commands() -> typer.Typer:
    """Declares all commands; `docs/reference/commands` is made from these."""
    know_shells()
    app = typer.Typer(
        cls=WholeHelp,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="A daemon beside your editor that owns an AI coding agent's sessions.",
    )

    _starting(app)

    @app.command()
    def sessions(
        here: Annotated[bool, typer.Option(help="Only those of the current folder.")] = False,
        limit: Annotated[int, typer.Option(help="At most this many.")] = 50,
        search: Annotated[str, typer.Option(help="Only those with these words in a text.")] = "",
    ) -> None:
        """List recorded sessions, newest first."""
        from sidecar.commands.sessions_command import show

        sys.exit(show(Path.cwd() if here else None, limit, search))

    _looking(app)
    _going_back(app)
    _moving(app)
    declare_sync(app)
    _leaving(app)
    declare_setup(app)

    @app.command()
    def replay(  # noqa: PLR0913, PLR0917 - one for each option
        paths: Annotated[
            list[Path] | None,
            typer.Argument(help="Recordings, folders, ids of ours; else agents' own folders."),
        ] = None,
        policy: Annotated[str, typer.Option(help="The policy to play.")] = "economic",
        window: Annotated[int, typer.Option(help="The model's window in tokens.")] = 200_000,
        compare: Annotated[bool, typer.Option("--compare", help="All policies.")] = False,
        prices: Annotated[
            str, typer.Option(help="recorded (each model's), classic, opus, nocache, a JSON file.")
        ] = "recorded",
        vendor: Annotated[list[str] | None, typer.Option(help="By vendor: openai/gpt-5.5.")] = None,
        as_json: Annotated[bool, JSON] = False,
        html: Annotated[Path | None, typer.Option(help="Write a page with charts.")] = None,
        jobs: Annotated[int, typer.Option(help="Processes; 0: one a core.")] = 0,
        judge: Annotated[
            bool, typer.Option("--judge", help="Have a model judge what is still known; costs.")
        ] = False,
        judge_model: Annotated[str, typer.Option(help="Who judges; else the set model.")] = "",
        limit: Annotated[int, typer.Option(help="Judge at most this many sessions.")] = 3,
        sent: Annotated[bool, typer.Option("--sent", help="What is sent last, as text.")] = False,
    ) -> None:
        """Show the cost of recorded sessions, then and with Sidecar."""
        from sidecar.commands.replay.replay_command import Options
        from sidecar.commands.replay.replay_command import replay as play_again

        vendors = tuple(vendor or ())
        chosen = Options(
            tuple(paths or ()), policy, window, compare, prices, as_json, html, jobs, sent, vendors
        )
        if judge or judge_model:
            from sidecar.commands.replay.judge_command import judge as have_judged

            sys.exit(have_judged(chosen, judge_model, limit))
        sys.exit(play_again(chosen))

    @app.command()
    def doctor(
        ask: Annotated[str | None, typer.Option(help="Ask this model for a word, too.")] = None,
    ) -> None:
        """Check the daemon's requirements, with advice."""
        from sidecar.commands.upkeep.doctor import check

        sys.exit(check(ask))

    @app.command()
    def verify(
        mend: Annotated[
            bool, typer.Option("--repair", help="If damaged, put it aside; save what is readable.")
        ] = False,
    ) -> None:
        """Read the whole store and check every hash."""
        from sidecar.commands.upkeep.verify_command import check

        sys.exit(check(mend=mend))

    return app


def _starting(app: typer.Typer) -> None:
    @app.command()
    def serve(
        stdio: Annotated[bool, typer.Option("--stdio", help="Speak on stdin and stdout.")] = True,
        shared: Annotated[
            bool, typer.Option("--shared", help="One daemon for all windows, which outlives them.")
        ] = False,
        alone: Annotated[
            bool, typer.Option("--alone", help="A daemon of this window's own.")
        ] = False,
    ) -> None:
        """Run the daemon for an editor.

        Windows share one, unless an option or the setting `shared` says otherwise, or none can be.
        """
        # `cli` has told this command apart unless it is asked for help.

    @app.command()
    def wrap(
        command: Annotated[
            list[str], typer.Argument(help="The agent's command and its arguments, behind `--`.")
        ],
        print_config: Annotated[
            Literal["zed", "jetbrains", "codecompanion", "avante", "agent-shell", "vscode"] | None,
            typer.Option(help="Print this editor's settings for it instead."),
        ] = None,
        alone: Annotated[
            bool,
            typer.Option("--alone", help="Record in a process of its own, in no shared daemon."),
        ] = False,
    ) -> None:
        """Stand between an editor and any agent that speaks ACP.

        Records its sessions and adds checkpoints, going back and a meter. What the two say to each
        other passes unchanged.
        """
        from sidecar.commands.wrap_command import print_settings, run_wrapped

        if print_config is not None:
            sys.exit(print_settings(print_config, command))
        sys.exit(run_wrapped(command, alone=alone))

    @app.command()
    def status(
        as_json: Annotated[bool, JSON] = False,
    ) -> None:
        """Show the daemon that windows share: its sessions, turns and windows."""
        from sidecar.commands.resident_command import status as show

        sys.exit(show(as_json=as_json))

    @app.command()
    def stop(
        now: Annotated[
            bool, typer.Option("--now", help="Do not wait a minute for turns that run.")
        ] = False,
    ) -> None:
        """End the daemon that windows share; their editors may start another."""
        from sidecar.commands.resident_command import stop as end

        sys.exit(end(now=now))

    @app.command()
    def demo(
        workspace: Annotated[
            Path | None, typer.Option(help="Play in this folder instead of a sample one.")
        ] = None,
        fast: Annotated[bool, typer.Option(help="Do not pace the output for reading.")] = False,
    ) -> None:
        """Play a session with the offline model, as an editor would; needs no key."""
        from sidecar.commands.demo.demo import play

        sys.exit(play(workspace, fast=fast))


def _looking(app: typer.Typer) -> None:
    @app.command()
    def inspect(
        session: Annotated[str | None, _FOUND] = None,
        last: Annotated[bool, typer.Option("--last", help=_LAST_HELP)] = False,
        as_json: Annotated[bool, JSON] = False,
        sent: Annotated[bool, typer.Option("--sent", help="What is sent now, as text.")] = False,
    ) -> None:
        """Show a session's contents, its context, and each turn."""
        from sidecar.commands.inspect.inspect_command import inspect, show_sent

        if sent:
            sys.exit(show_sent(session, last=last))
        sys.exit(inspect(session, last=last, json_wanted=as_json))

    @app.command()
    def report(
        session: Annotated[str | None, _FOUND] = None,
        path: Annotated[
            Path | None, typer.Argument(help="A file, or a folder; else the data folder's reports.")
        ] = None,
        last: Annotated[bool, typer.Option("--last", help=_LAST_HELP)] = False,
        overwrite: Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE_HELP)] = False,
    ) -> None:
        """Write a session as one page that needs no network: context, cache, cost, tools."""
        from sidecar.commands.inspect.report_command import write_report

        sys.exit(write_report(session, path, last=last, overwrite=overwrite))

    @app.command()
    def audit(
        session: Annotated[str | None, _FOUND] = None,
        last: Annotated[bool, typer.Option("--last", help=_LAST_HELP)] = False,
    ) -> None:
        """Print every decision about a session's context as JSON lines.

        Requests, with predicted and missed cache; compactions, with cause, price, duration and
        fidelity; refused plans; retries, cut outputs, pins, restores.
        """
        from sidecar.commands.inspect.audit_command import show

        sys.exit(show(session, last=last))


def _going_back(app: typer.Typer) -> None:
    path_help = "Only this file or folder, relative to the session's folder."

    @app.command()
    def checkpoints(
        session: Annotated[str | None, _FOUND] = None,
        last: Annotated[bool, typer.Option("--last", help=_LAST_HELP)] = False,
        as_json: Annotated[bool, JSON] = False,
    ) -> None:
        """List a session's checkpoints: turns, changed files, authors."""
        from sidecar.commands.checkpoints import show

        sys.exit(show(session, last=last, as_json=as_json))

    @app.command()
    def diff(
        session: Annotated[str, _SESSION],
        start: Annotated[
            str | None, typer.Argument(metavar="FROM", help="A checkpoint; else the first one.")
        ] = None,
        end: Annotated[
            str | None, typer.Argument(metavar="TO", help="A checkpoint; else how it is now.")
        ] = None,
        path: Annotated[str | None, typer.Option(help=path_help)] = None,
    ) -> None:
        """Show changes between checkpoints, by number or id, or until now."""
        from sidecar.commands.checkpoints import diff as compare

        sys.exit(compare(session, start, end, path))

    @app.command()
    def restore(  # noqa: PLR0913, PLR0917 - one for each option
        session: Annotated[str, _SESSION],
        checkpoint: Annotated[
            str | None, typer.Option(help="Go back to this checkpoint: its number, or its id.")
        ] = None,
        before: Annotated[
            str | None, typer.Option(help="Go back to before a turn's number, or a message's id.")
        ] = None,
        last: Annotated[bool, typer.Option("--last", help="Go back before the last turn.")] = False,
        redo: Annotated[
            bool, typer.Option("--redo", help="Take back a restore: the newest, or --checkpoint.")
        ] = False,
        scope: Annotated[
            Literal["conversation", "files", "both"], typer.Option(help="What goes back.")
        ] = "both",
        on_conflict: Annotated[
            Literal["refuse", "keep", "overwrite", "merge"],
            typer.Option(help="What becomes of files that were changed since."),
        ] = "refuse",
        markers: Annotated[
            bool, typer.Option("--markers", help="With merge: write clashes between markers.")
        ] = False,
        path: Annotated[list[str] | None, typer.Option(help=path_help)] = None,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Only show what would be done.")
        ] = False,
    ) -> None:
        """Go back to a state of a session: its conversation, the agent's changes to files, or both.

        Changes by others stay.
        """
        chosen = sum((checkpoint is not None and not redo, before is not None, last, redo))
        if chosen != 1:
            raise typer.BadParameter("give one of --checkpoint, --before, --last and --redo")
        from sidecar.commands.checkpoints import RestoreChoices, Target
        from sidecar.commands.checkpoints import restore as go_back

        target = Target(checkpoint, before, last, redo)
        how = RestoreChoices(scope, on_conflict, tuple(path or ()), markers, yes, dry_run)
        sys.exit(go_back(session, target, how))


def _moving(app: typer.Typer) -> None:
    @app.command("export")
    def write_out(
        session: Annotated[str | None, _FOUND] = None,
        path: Annotated[
            Path | None, typer.Argument(help="A file, or a folder; else the data folder's exports.")
        ] = None,
        last: Annotated[bool, typer.Option("--last", help=_LAST_HELP)] = False,
        overwrite: Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE_HELP)] = False,
        snapshots: Annotated[bool, typer.Option("--snapshots", help=_FILES_GO)] = False,
    ) -> None:
        """Write a session to a file for `sidecar import`, here or elsewhere.

        Likely keys are removed.
        """
        from sidecar.commands.upkeep.transfer_commands import write_out as export

        sys.exit(export(session, path, last=last, overwrite=overwrite, snapshots=snapshots))

    @app.command("import")
    def read_in(
        path: Annotated[
            Path | None,
            typer.Argument(
                help="What was exported, or an agent's recording; of a folder, or else of agents' "
                "own folders, the newest are listed to choose from."
            ),
        ] = None,
        cwd: Annotated[
            Path | None, typer.Option(help="The folder it works in; else the current one.")
        ] = None,
        format_name: Annotated[
            Literal["sidecar", "claude-code", "codex", "opencode", "pi", "neutral"] | None,
            typer.Option("--format", help="What it is; else that is found out."),
        ] = None,
        snapshots: Annotated[bool, typer.Option("--snapshots", help=_FILES_COME)] = False,
    ) -> None:
        """Make a session of a file: one of `sidecar export`, or another agent's recording."""
        from sidecar.commands.upkeep.transfer_commands import read_in as take_in

        sys.exit(take_in(path, cwd or Path.cwd(), format_name, snapshots=snapshots))


def _leaving(app: typer.Typer) -> None:
    sessions_argument = typer.Argument(
        help="Their ids, or the beginnings of them.", autocompletion=session_ids
    )
    days = typer.Option(help="Instead of the configured days; 0 is never.", min=0)
    mib = typer.Option(help="Instead of the configured MiB; 0 is no bound.", min=0)

    @app.command()
    def archive(
        sessions: Annotated[list[str] | None, sessions_argument] = None,
        as_json: Annotated[bool, JSON] = False,
    ) -> None:
        """Archive sessions into packed files; `sidecar import` restores archived sessions.

        Without a session, list archived sessions.
        """
        from sidecar.commands.upkeep.removal_commands import archive as put_away

        sys.exit(put_away(sessions or [], as_json=as_json))

    @app.command()
    def delete(
        sessions: Annotated[list[str], sessions_argument],
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    ) -> None:
        """Delete sessions for good: their own content is overwritten everywhere."""
        from sidecar.commands.upkeep.removal_commands import delete as erase

        sys.exit(erase(sessions, yes=yes))

    @app.command()
    def prune(
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
        outputs_days: Annotated[int | None, days] = None,
        outputs_mib: Annotated[int | None, mib] = None,
        archive_days: Annotated[int | None, days] = None,
        sessions_mib: Annotated[int | None, mib] = None,
        rebuild: Annotated[
            bool, typer.Option("--rebuild", help="Rewrite an old file; nobody writes meanwhile.")
        ] = False,
        as_json: Annotated[bool, JSON] = False,
    ) -> None:
        """Run the hourly sweep now: old outputs, sessions to archive, free space."""
        from sidecar.commands.upkeep.prune_command import PruneChoices
        from sidecar.commands.upkeep.prune_command import prune as sweep

        rules = outputs_days, outputs_mib, archive_days, sessions_mib
        sys.exit(sweep(PruneChoices(dry_run, as_json, rebuild, *rules)))
