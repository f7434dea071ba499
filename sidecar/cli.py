"""The command line. Editors wait for `serve`: recognised before any other import."""

import os
import sys

from sidecar import __version__


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"sidecar {__version__}\n")
    elif arguments[:1] == ["resident"] and len(arguments) == 3:
        from sidecar.daemon.resident import reside

        reside(int(arguments[1]), arguments[2])
    elif arguments[:1] == ["--stdio"] or (arguments[:1] == ["serve"] and "--help" not in arguments):
        _serve({a for a in arguments if a not in ("serve", "--stdio")})
    else:
        from sidecar.commands.command_line import commands
        from sidecar.commands.terminal import run

        sys.exit(run(commands()))


def _serve(given: set[str]) -> None:
    if unknown := sorted(given - {"--shared"}):
        sys.stderr.write(
            f"sidecar serve: unknown argument {unknown[0]!r}; it takes --stdio and --shared\n"
        )
        sys.exit(2)
    if given and sys.platform == "win32":
        sys.stderr.write("sidecar: no daemon is shared on Windows; this window has its own\n")
    elif given:
        from sidecar.daemon.attach import attach

        os._exit(attach())
    from sidecar.daemon.serving import serve_stdio

    serve_stdio()
