"""`sidecar wrap`: an agent between us and its editor, or the editor's settings for that."""

import os
import shutil
import sys
from collections.abc import Sequence

from sidecar.commands.terminal import refused, terminal
from sidecar.core.errors import BadRequest
from sidecar.core.text.visible import visible
from sidecar.workspace.variables import program
from sidecar.wrap.editor_settings import settings_for
from sidecar.wrap.tap import wrap


def run_wrapped(command: Sequence[str], *, alone: bool) -> int:
    sys.stdout.flush()
    # Threads may still wait for an end of the stream.
    os._exit(wrap(command, alone=alone))


def print_settings(editor: str, command: Sequence[str]) -> int:
    """Programs are named by their paths: editors may not have the shell's PATH."""
    name, *rest = command
    found = program(name, os.environ) or name
    # Run as a module, the program lies beside Python.
    beside = shutil.which("sidecar", path=os.path.dirname(sys.executable))
    sidecar = program("sidecar", os.environ) or beside or os.path.abspath(sys.argv[0])
    try:
        lines = settings_for(editor, sidecar, (found, *rest)).splitlines()
        sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))
    except BadRequest as error:
        return refused(terminal(), error.message)
    return 0
