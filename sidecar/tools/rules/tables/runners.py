"""Programs that run others, and where in their words these begin."""

import re

from sidecar.tools.rules.tables.programs import READING, RUNNERS, SHELLS

_NAMES = (
    "sudo doas env command builtin exec eval coproc trap nohup time gtime timeout gtimeout nice "
    "ionice setsid stdbuf xargs watch caffeinate unbuffer su runuser pkexec taskset chrt strace "
    "ssh-agent script systemd-run chronic entr npx bunx pnpx uvx uv poetry run ! { if then elif "
    "else while until do . source"
)
PREFIXES = frozenset(_NAMES.split()) | SHELLS
"""Programs and words of the shell's that run the command behind."""
ANYWHERE = (RUNNERS | {"ssh", "sshpass", "mosh", "autossh", "wsl", "cmake"}) - PREFIXES
"""Programs that run a command beginning at any of their words."""
FIND_OPTIONS = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch", "foreach", "run"}
)
_WIDE = frozenset({"exec", "run", "dlx", "x", "--", "-c", "--run", "--command"})
_EXECUTES = (
    "npm pnpm yarn bun bundle pdm pipenv hatch rye pixi pipx conda mamba micromamba nix nix-shell "
    "tox nox volta docker podman nerdctl docker-compose podman-compose kubectl oc lxc vagrant "
    "machinectl flatpak"
)
SEARCHES = (
    dict.fromkeys(("find", "gfind", "fd", "fdfind", "git"), FIND_OPTIONS)
    | dict.fromkeys(_EXECUTES.split(), _WIDE)
    | dict.fromkeys(("pnpm", "yarn", "bun"), _WIDE - {"--", "run"})
    | dict.fromkeys(("brew", "chef"), frozenset({"exec"}))
    | {
        "npm": (_WIDE | {"explore"}) - {"--", "run"},
        "mix": frozenset({"cmd"}),
        "meson": frozenset({"devenv"}),
        "just": frozenset({"--command", "-c"}),
    }
)
"""By program, words before a command, as in `git bisect run`; behind those of the wide ones it
begins at any word. Behind npm's `run` stands a script's name."""
READERS = SHELLS | RUNNERS | PREFIXES | ANYWHERE | {*_EXECUTES.split(), "gcloud", "heroku"}
"""Programs that may run the lines of a here-document, as `ssh` does."""
PASSED_OVER = READERS.difference(SEARCHES, {"run"})
"""Programs whose words are the next program's."""
RUNNING = READERS.union(SEARCHES) - {"git"}
"""Programs that may run some of their words."""
TEXT_READERS = SHELLS | {"eval", "watch", "su", "runuser"}
"""Programs that take a word for a shell's text."""
BY_BARE_NAME = {
    "yarn", "pnpm", "bun", "pdm", "corepack", "bundler", "composer", "gem", "snap", "rustup",
    "hatch",
}  # fmt: skip
"""Package managers that run an installed program by its name alone, or by a word of their own."""
MANAGING = frozenset(
    {"add", "install", "i", "remove", "rm", "uninstall", "up", "update", "why", "info", "ls"}
)
_LONE = {"xargs": "0rtx", "sudo": "EHnSb", "env": "i0v", "time": "pv"}
LONE_OPTIONS = {name: re.compile(f"-[{letters}]+") for name, letters in _LONE.items()}
"""By program, options without a value."""
JOINED_VALUE = re.compile(r"-[A-Za-z](?:\d+|L)|-I\S+")
"""As in `xargs -n1` and `stdbuf -oL`."""
JOINING = frozenset({"ssh", "eval"})
"""Programs that put their words together, for a shell to read them anew."""
KEEPING = (READING - PREFIXES) | {"git", "tee", "cd", "mkdir"}
"""Programs that run none of their words but where `SEARCHES` says so; git's aliases hide."""
PASSING = PREFIXES - SHELLS - TEXT_READERS - {".", "source", "exec", "entr", "env"}
"""Runners that take no text, and pass all words on to the next program."""
CODE_OPTION = re.compile(r"-(?!exec$)\w*c")
OF_CODE = {
    "python",
    "python3",
    "psql",
    "mysql",
    "sqlite3",
    "gcc",
    "cc",
    "clang",
    "lsof",
    "kubectl",
}
"""Programs whose `-c` is followed by no text of a shell's."""
