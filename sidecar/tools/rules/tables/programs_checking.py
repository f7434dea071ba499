"""Lists the covered words of linters, formatters, checkers and test runners.

A rule trusts the workspace's own code and settings, but none from elsewhere.
"""

from sidecar.tools.rules.tables.program import NO_OPERAND, Program, options

_WHY = (
    "its other options take code, settings, plugins or an interpreter from elsewhere, write files "
    "where they are told, or are not known"
)
_ENDING = r"\.(?:[cm]?[jt]sx?|vue|svelte|astro)"
_RULE_WITH_OPTIONS = r":(?!\s*[\"']?(?:off|warn|error|[012])[\"']?\s*(?:[,}]|$))"
"""Its options load plugins from anywhere, and put texts into files."""
_VERSION = r"_[\s\S]*_"
"""Chooses another installed version of a Ruby program; `+x` one of Rust's."""
_SUBCOMMANDS = "its other subcommands run code, fetch or write"


def _checker(
    *covered: str,
    whole: bool = False,
    writes: bool = False,
    starting: str = "",
    unwritten: str = NO_OPERAND,
    nowhere: str = "",
) -> Program:
    """Makes an entry; `starting`: words anywhere that start something else."""
    return Program(
        _WHY,
        options(*covered),
        whole=whole,
        operands=rf"(?!(?:{starting})$)[\s\S]*",
        writes=writes,
        unwritten=unwritten,
        nowhere=nowhere,
        walks=True,
    )


def _checkers(*, writes: bool = False, **subcommands: str) -> Program:
    return Program(
        _SUBCOMMANDS,
        options("qv --quiet --verbose --version"),
        subcommands={
            name: _checker(covered, writes=writes) for name, covered in subcommands.items()
        },
        walks=True,
    )


# `--exclude` and black's `--include` replace what keeps `.git` and `.venv` out.
_RUFF = (
    "qvsne --quiet --verbose --silent --diff --no-cache --preview --no-preview --line-length "
    "--target-version --respect-gitignore --force-exclude "
    "--isolated"
)
_BIOME = (
    "--write --fix --unsafe --apply --staged --max-diagnostics --diagnostic-level "
    "--colors --verbose --error-on-warnings --no-errors-on-unmatched --only --skip --reporter "
    "--line-width --indent-style --indent-width --quote-style --semicolons"
)
_PYRIGHT = _checker(
    "--stats --verbose --outputjson --warnings --level --pythonversion "
    "--pythonplatform --skipunannotated --dependencies --version"
)
_PHPSTAN = (
    "lv --level --no-progress --memory-limit --error-format --debug --verbose --ansi --no-ansi"
)

CHECKING: dict[str, Program] = {
    "ruff": _checkers(
        writes=True,
        check=f"{_RUFF} --fix --no-fix --unsafe-fixes --no-unsafe-fixes --fix-only --show-fixes "
        "--select --ignore --extend-select --extend-ignore --fixable --unfixable --statistics "
        "--exit-zero --exit-non-zero-on-fix --output-format --show-files --show-settings "
        "--extend-exclude --per-file-ignores --ignore-noqa",
        format=f"{_RUFF} --check --range",
        rule="--all --output-format",
        version="--output-format",
    ),
    "mypy": _checker(
        "vpm --verbose --version --strict --package --module --ignore-missing-imports --pretty "
        "--no-pretty --no-error-summary --show-error-codes --hide-error-codes "
        "--show-column-numbers --show-error-context --hide-error-context --show-error-end "
        "--show-absolute-path --no-color-output --no-incremental --check-untyped-defs "
        "--disallow-untyped-defs --disallow-incomplete-defs --disallow-untyped-calls "
        "--disallow-any-generics --disallow-subclassing-any --no-implicit-optional "
        "--no-implicit-reexport --follow-imports --follow-untyped-imports --python-version "
        "--platform --explicit-package-bases --namespace-packages --no-namespace-packages "
        "--warn-unused-ignores --warn-unused-configs --warn-return-any --warn-redundant-casts "
        "--warn-unreachable --strict-equality --strict-optional --exclude --output "
        "--enable-error-code --disable-error-code --scripts-are-modules --skip-version-check"
    ),
    "pyright basedpyright": _PYRIGHT,
    "black": _checker(
        "qvltSC --check --diff --quiet --verbose --line-length --target-version --fast --safe "
        "--color --no-color --preview --extend-exclude --force-exclude "
        "--skip-string-normalization --skip-magic-trailing-comma --version --pyi",
        writes=True,
    ),
    "isort": _checker(
        "qvcdl --check --check-only --diff --quiet --verbose --atomic --line-length --profile "
        "--float-to-top --color --only-modified --version",
        writes=True,
    ),
    "flake8": _checker(
        "qvj --quiet --verbose --max-line-length --max-complexity --select --ignore "
        "--extend-ignore --extend-select --exclude --extend-exclude --per-file-ignores --count "
        "--statistics --show-source --exit-zero --color --jobs --version --isolated",
    ),
    "pylint": _checker(
        "Eedjsrv --errors-only --disable --enable --jobs --score --reports --max-line-length "
        "--recursive --verbose --version --ignore --ignore-patterns --fail-under --fail-on "
        "--output-format=text --output-format=json --output-format=colorized",
    ),
    "coverage": _checkers(
        report="mi --show-missing --skip-covered --skip-empty --sort --precision --include --omit "
        "--fail-under --ignore-errors --format",
    ),
    "eslint": _checker(
        "v --fix --fix-dry-run --fix-type --ext --quiet --max-warnings --color --no-color --cache "
        "--no-cache --rule --no-inline-config --report-unused-disable-directives "
        "--no-error-on-unmatched-pattern --pass-on-no-patterns --no-ignore "
        "--no-warn-ignored --stats --debug --print-config --version "
        "--format=json --format=stylish --format=compact --format=unix --format=html",
        # Behind an option with a value `--ext` is that value, and behind `--` a file.
        unwritten=r"(?:(?:--(?:fix|quiet|cache|no-cache|color|no-color|debug|stats|"
        r"no-inline-config|report-unused-disable-directives|no-error-on-unmatched-pattern)|"
        r"--max-warnings \d+|(?!-)\S+) )*"
        rf"--ext {_ENDING}(?:,{_ENDING})*",
        nowhere=_RULE_WITH_OPTIONS,
        writes=True,
    ),
    "prettier": _checker(
        "clwu --check --list-different --write --ignore-unknown --no-error-on-unmatched-pattern "
        "--log-level --loglevel --color --no-color --print-width --tab-width --use-tabs --no-semi "
        "--single-quote --jsx-single-quote --trailing-comma --no-bracket-spacing "
        "--bracket-same-line --arrow-parens --prose-wrap --end-of-line --quote-props --version "
        "--file-info --support-info --no-config --no-editorconfig",
        writes=True,
    ),
    "stylelint": _checker(
        "q --fix --quiet --allow-empty-input --max-warnings --color --no-color "
        "--ignore-disables --report-needless-disables --report-invalid-scope-disables --version",
        writes=True,
    ),
    "biome": _checkers(
        writes=True, check=_BIOME, lint=_BIOME, format=_BIOME, ci=_BIOME, version=""
    ),
    "oxlint": _checker(
        "ADW --fix --fix-suggestions --quiet --deny-warnings --max-warnings --allow --deny --warn "
        "--format --threads --rules --version",
        writes=True,
    ),
    "jest": _checker(
        "tiwubofe --testNamePattern --coverage --watchAll --runInBand --verbose --silent --bail "
        "--ci --no-cache --updateSnapshot --passWithNoTests --listTests --maxWorkers --expand "
        "--onlyFailures --onlyChanged --findRelatedTests --testPathPattern --testPathPatterns "
        "--testPathIgnorePatterns --testTimeout --detectOpenHandles --forceExit --no-coverage "
        "--color --no-color --colors --errorOnDeprecated --json --showConfig --randomize --seed "
        "--shard --logHeapUsage --version",
    ),
    "vitest": _checker(
        "tu --run --testNamePattern --update --coverage --bail --silent --passWithNoTests "
        "--maxWorkers --minWorkers --no-color --color --allowOnly "
        "--testTimeout --hookTimeout --retry --shard --version --hideSkippedTests --logHeapUsage "
        "--reporter=default --reporter=verbose --reporter=basic --reporter=dot --reporter=json "
        "--reporter=tap",
        starting="init",
    ),
    "mocha": _checker(
        "gfibtsj --grep --fgrep --invert --bail --timeout --slow --exit --recursive --check-leaks "
        "--color --no-color --parallel --jobs --retries --forbid-only --forbid-pending --diff "
        "--no-diff --full-trace --dry-run --version --reporter=spec --reporter=dot --reporter=min "
        "--reporter=list --reporter=json",
        starting="init|inspect|debug",
    ),
    "gofmt gofumpt": _checker("-l -d -s -w -e -extra", whole=True, writes=True),
    "goimports": _checker("-l -d -w -e -v -local", whole=True, writes=True),
    "golangci-lint": _checkers(
        writes=True,
        run="vEDpj --fix --fast --fast-only --timeout --new --enable --disable --tests --verbose "
        "--allow-parallel-runners --max-issues-per-linter --max-same-issues --show-stats "
        "--issues-exit-code --concurrency --color --default --enable-only",
        linters="",
        version="",
    ),
    "staticcheck": _checker("-checks -f -tests -fail -go -explain -version -tags", whole=True),
    "rustfmt": _checker(
        "lvq --check --files-with-diff --verbose --quiet --edition --color",
        writes=True,
        starting=r"\+[\s\S]*",
    ),
    "clang-format": _checker(
        "-i -n --dry-run --Werror -Werror --verbose --version",
        whole=True,
        writes=True,
    ),
    "shellcheck": _checker("sSeifaWCV --severity --shell --exclude --include --format --color"),
    "yamllint": _checker("sf --strict --format --no-warnings --list-files"),
    "rspec": _checker(
        "ectbnw --fail-fast --no-fail-fast --example --example-matches --tag --seed --order "
        "--backtrace --only-failures --next-failure --color --no-color --force-color "
        "--dry-run --pattern --profile --no-profile --version --format=progress "
        "--format=documentation --format=json --format=failures",
        starting=_VERSION,
    ),
    "rubocop": _checker(
        "aAlxDSEL --only --except --fail-level --fail-fast --parallel --no-parallel --lint "
        "--autocorrect --autocorrect-all --auto-correct --auto-correct-all --safe --fix-layout "
        "--display-cop-names --extra-details --list-target-files --color --no-color "
        "--display-only-fail-level-offenses --force-exclusion --format=simple --format=progress "
        "--format=json --format=emacs --format=quiet",
        writes=True,
        starting=_VERSION,
    ),
    "phpunit pest": _checker(
        "v --filter --testsuite --group --exclude-group --stop-on-failure --stop-on-error --colors "
        "--testdox --verbose --debug --no-coverage --list-tests --list-suites --fail-on-warning "
        "--fail-on-risky --order-by --display-warnings --display-deprecations --no-progress"
    ),
    "phpstan": _checkers(analyse=_PHPSTAN, analyze=_PHPSTAN),
    "mix": _checkers(
        writes=True,
        test="--trace --failed --stale --only --exclude --include --seed --max-failures --cover "
        "--slowest --color --warnings-as-errors",
        format="--check-formatted --dry-run",
        compile="--force --warnings-as-errors --all-warnings",
    ),
}
"""By names separated by blanks."""
