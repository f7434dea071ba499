"""Programs that run the workspace's code, or change its files."""

from dataclasses import replace

from sidecar.tools.rules.tables.plain_paths import NAMES
from sidecar.tools.rules.tables.program import NO_OPERAND, Program, options

_RUNS_OWN = "other options take code, settings or a place from elsewhere"
_CARGO = options(
    "pqvjFr --release --all --workspace --all-features --no-default-features --features --package "
    "--lib --bin --bins --test --tests --example --examples --bench --benches --all-targets "
    "--quiet --verbose --locked --offline --frozen --no-run --message-format --doc --no-fail-fast "
    "--ignored --include-ignored --nocapture --show-output --test-threads --skip --exact --check "
    "--no-deps --jobs"
)
# To npm `--silent=x` is two words, so that `x` may be a subcommand or any option.
_JOINED = r"^-[^=]*=(?!\d+$)"
_SCRIPT = r"(?!env$)\w[\w:./-]*"
"""A script's name: `env` of npm and yarn runs the words behind."""
_BEHIND = Program(
    "what is behind a script's name goes to its program, which may take a word for another script, "
    "a subcommand that fetches, or a program; options may take code or a place from elsewhere",
    options("s --silent --if-present"),
    whole=True,
    operands=r"(?!(?:.*/)?\.[^/])[\w.][\w.+/-]*\.(?:[cm]?[jt]sx?|vue|svelte|astro|py)(?::\d+)*",
    nowhere=_JOINED,
    writes=True,
)
_RUN = Program(
    "a `*` stands for one script's name that is not `env`; words behind one are covered where the "
    "rule names that script, and options never",
    _BEHIND.options,
    whole=True,
    operands=_SCRIPT,
    most=1,
    nowhere=rf"{_JOINED}|^--$",
    scripts=replace(_BEHIND, script=_SCRIPT),
)
_NPM = Program(
    "npm and its like run scripts, fetch packages and take settings from options",
    options("s --silent --version"),
    whole=True,
    subcommands={
        name: Program(
            _RUNS_OWN, options("a --all --depth --json --long"), whole=True, nowhere=_JOINED
        )
        for name in ("ls", "list")
    },
    nowhere=_JOINED,
    named={"test": _BEHIND, "t": _BEHIND, "run": _RUN, "run-script": _RUN},
)
_GO = Program(
    "-exec, -toolexec and -vettool run programs, -o writes, -C, -modfile, `..` and `@` lead "
    "elsewhere, `list -m` and -versions ask the network",
    options(
        "-v -run -count -race -short -cover -bench -benchmem -timeout -json -failfast -parallel "
        "-skip -list -tags -m --v --run --count --race --short --cover --timeout --json"
    ),
    whole=True,
    operands=r"(?!/)(?!(?:.*/)?\.\.(?:/|$))[^@]*",
)
_MAKING = Program(
    "other options are not known, and programs may take the name for more than a file's",
    operands=NAMES,
    writes=True,
)
OWN_CODE = {
    "pytest py.test": Program(
        "-p, -c, -o, -W and --rootdir take code and settings from elsewhere; others write reports",
        options(
            "qvxksmlrnaAEPRN --quiet --verbose --exitfirst --maxfail --lf --last-failed --ff "
            "--failed-first --nf --sw --stepwise --tb --collect-only --co --no-header "
            "--no-summary --durations --capture --color --cache-clear --setup-show "
            "--strict-markers --cov --cov-report=term --cov-report=term-missing --disable-warnings "
            "--timeout --version"
        ),
        # Old ones run what -k and -m say.
        nowhere=r"\.\s*__|\bfor\b[\s\S]*\bin\b|\blambda\b|[)\]}\"']\s*\.\s*[A-Za-z_]",
        # Some cut a path off at its first `[`.
        operands=r"[^@+\[](?:(?!::)[^\[])*(?:::[\s\S]*)?",
    ),
    "cargo": Program(
        "cargo's --config and others run programs, unknown subcommands are programs, and tree asks "
        "the network unless its first option is --offline or --frozen",
        options("qv --quiet --verbose --locked --offline --frozen --version"),
        subcommands={
            name: Program(_RUNS_OWN, _CARGO, operands=r"[^+@][\s\S]*")
            for name in (
                *("build", "check", "test", "doc", "bench"),
                *("tree --offline", "tree --frozen"),
            )
        }
        | {"clippy": Program(_RUNS_OWN, _CARGO | options("DWA"), operands=r"[^+@][\s\S]*")}
        # No file, and behind `--` the same options again.
        | {
            "fmt": Program(_RUNS_OWN, options("--check --all"), operands=r"--[a-z]+", rewrites=True)
        },
    ),
    "go": Program(
        "go run, generate, get, install, env -w and tool run or write",
        subcommands=dict.fromkeys(("test", "vet"), _GO)
        | {
            # Of a folder it reads programs behind links.
            "version": replace(_GO, operands=r"-[\s\S]*"),
            "build": replace(_GO, rewrites=True),
            "list": replace(_GO, options=_GO.options - {"-m"}),
        },
    ),
    "npm": _NPM,
    # Yarn alone installs, and runs a script for `ls`; pnpm fetches the pnpm that a file names.
    "pnpm": replace(_NPM, options=frozenset(), subcommands={}),
    "yarn": Program(
        "yarn installs, and runs any installed program as a script; a rule must name the script",
        named={
            "test": _BEHIND,
            "run": replace(
                _RUN,
                operands=NO_OPERAND,
                why="a rule must name the script, since yarn "
                "runs any installed program, too; `env` runs the words behind it",
            ),
        },
    ),
    "make gmake": Program(
        "--eval, -f, -C, -I and variables take rules from elsewhere; by rules of its own make "
        "builds, without a makefile too, any file: `x` from `x.sh`",
        options(
            "jknsBiwSr --jobs --keep-going --dry-run --silent --always-make "
            "--no-print-directory --just-print --version"
        ),
        operands=r"\w[\w./-]*",
        writes=True,
        creates=True,
    ),
    "mkdir": replace(_MAKING, options=options("pv --parents --verbose")),
    "touch": replace(_MAKING, options=options("acm --no-create"), creates=True),
    "rmdir": Program("other options are not known", options("pv --parents"), writes=True),
    "rm": Program(
        "other options are not known",
        options("rRfvdi --recursive --force --verbose --dir"),
        writes=True,
    ),
}
