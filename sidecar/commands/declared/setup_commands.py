"""Declares the commands for settings, models and shells; each imports its own parts when called."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
import typer.core

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

JSON = typer.Option("--json", help="Print JSON.")


class WholeHelp(typer.core.TyperGroup):
    """Lists commands with their whole first sentence, wrapped to any width."""

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        shown = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, str(one.help).partition("\n")[0]) for name, one in shown])


def declare_setup(app: typer.Typer) -> None:
    config = typer.Typer(cls=WholeHelp, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(config, name="config", help="Show, check and begin the settings.")
    folder_option = typer.Option(help="The workspace; else the current folder.")

    @config.command()
    def show(
        origin: Annotated[
            bool,
            typer.Option("--origin", help="Say which file and line, variable or editor gave it."),
        ] = False,
        as_json: Annotated[bool, JSON] = False,
        cwd: Annotated[Path | None, folder_option] = None,
        options: Annotated[
            str, typer.Option(help="An editor's initializationOptions, as JSON.")
        ] = "{}",
    ) -> None:
        """Show every setting with its value. Keys are never shown."""
        from sidecar.commands.config_command import show as show_all

        folder = (cwd or Path.cwd()).resolve()
        sys.exit(show_all(folder, options, origin=origin, as_json=as_json))

    @config.command()
    def check(cwd: Annotated[Path | None, folder_option] = None) -> None:
        """Check the files of settings; show line, key and advice for each problem."""
        from sidecar.commands.config_command import check as look

        sys.exit(look((cwd or Path.cwd()).resolve()))

    @config.command()
    def init(
        overwrite: Annotated[
            bool, typer.Option("--overwrite", help="Replace the file that is there.")
        ] = False,
    ) -> None:
        """Write your file of settings, with every setting explained in a comment."""
        from sidecar.commands.config_command import init as begin

        sys.exit(begin(overwrite=overwrite))

    @app.command()
    def models(
        as_json: Annotated[bool, JSON] = False,
    ) -> None:
        """List models with window and prices, and what is missing to use each."""
        from sidecar.commands.models_command import show

        sys.exit(show(as_json=as_json))

    @app.command()
    def completion(
        shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="For which shell.")],
    ) -> None:
        """Print what completes commands, options and sessions in a shell.

        bash: `eval "$(sidecar completion bash)"` in ~/.bashrc; zsh: the same behind compinit in
        ~/.zshrc; fish: `sidecar completion fish > ~/.config/fish/completions/sidecar.fish`.
        """
        from sidecar.commands.declared.completion import script

        sys.stdout.write(script(shell))
