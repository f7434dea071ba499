"""The command line. `serve` is recognised before other imports: editors wait."""

import gc
import os
import sys

from sidecar import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sidecar.daemon.windows import Daemon, TapLine

FEW = 500_000
"""New objects until a command looks for garbage: at Python's 700 a tenth of its time goes there."""


ALONE = "--alone"
NO_WINDOWS = "sidecar: runs on Linux and macOS; on Windows, install and run it in WSL\n"
"""Why nothing is done there: folders are walked by descriptors, and locks are POSIX'."""


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"sidecar {__version__}\n")
    elif sys.platform == "win32":
        sys.stderr.write(NO_WINDOWS)
        sys.exit(2)
    elif arguments[:1] == ["resident"] and len(arguments) == 3:
        from sidecar.daemon.resident import reside

        reside(int(arguments[1]), arguments[2], _record)
    elif arguments[:1] == ["wrap"] and (command := _wrapped(arguments[1:])):
        from sidecar.wrap.tap import wrap

        os._exit(wrap(command, alone=arguments[1] == ALONE))
    elif arguments == ["wrap-recorder"]:
        from sidecar.wrap.recorder import record_stdio

        record_stdio()
    elif arguments[:1] == ["--stdio"] or (arguments[:1] == ["serve"] and "--help" not in arguments):
        _serve({a for a in arguments if a not in ("serve", "--stdio")})
    else:
        gc.set_threshold(FEW)
        from sidecar.commands.declared.command_line import commands
        from sidecar.commands.terminal import run

        try:
            sys.exit(run(commands()))
        finally:
            # Python looks for garbage as it ends: in all that is left, for a tenth of the time.
            gc.freeze()


async def _record(daemon: "Daemon", line: "TapLine") -> None:
    """Imported late: it takes 20 ms, and most daemons wrap nothing."""
    from sidecar.wrap.recorder import record

    await record(daemon, line)


def _wrapped(arguments: list[str]) -> list[str]:
    """An agent's command, with or without `--` before it; empty for other options."""
    arguments = arguments[arguments[:1] == [ALONE] :]
    if arguments[:1] == ["--"]:
        return arguments[1:]
    return [] if arguments and arguments[0].startswith("-") else arguments


def _serve(given: set[str]) -> None:
    if unknown := sorted(given - {"--shared", "--alone"}):
        sys.stderr.write(
            f"sidecar serve: unknown argument {unknown[0]!r}; "
            "it takes --stdio, and --shared or --alone\n"
        )
        sys.exit(2)
    if len(given) > 1:
        sys.stderr.write("sidecar serve: take one of --shared and --alone\n")
        sys.exit(2)
    if "--shared" in given:
        from sidecar.daemon.attach import attach

        os._exit(attach())
    why, said = ("", b"") if given else _tried()
    from sidecar.daemon.serving import serve_stdio

    serve_stdio(why, said)


def _tried() -> tuple[str, bytes]:
    """Why no daemon is shared, and what the editor has said; where one is, this ends with it."""
    from sidecar.daemon.choice import why_alone

    why = why_alone(os.environ)
    if why is not None:
        return why, b""
    from sidecar.daemon.attach import Alone, attach_if_possible

    try:
        code = attach_if_possible()
    except Alone as alone:
        return f"no daemon is shared: {alone.why}", alone.said
    os._exit(code)
