"""Words of git covered by a rule's `*`.

Changing ones, if the rule names them; never those that run programs, change settings or talk to
other machines.
"""

from dataclasses import replace

from sidecar.tools.rules.tables.program import NO_OPERAND, Program, options

_WHY = (
    "git's other options and subcommands write files, run programs or aliases, use another "
    "repository, or talk to other machines"
)
_DIFF = (
    "puUwbaMCDRSGWzsm --stat --shortstat --numstat --dirstat --summary --compact-summary --raw "
    "--name-only --name-status --cached --staged --patch --no-patch --patch-with-stat --unified "
    "--color --no-color --word-diff --color-words --color-moved --ignore-space-change "
    "--ignore-all-space --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol "
    "--diff-filter --find-renames --find-copies --no-renames --check --exit-code --quiet --minimal "
    "--histogram --patience --diff-algorithm --no-ext-diff --no-textconv --no-prefix --relative "
    "--text --binary --full-index --abbrev --function-context --pickaxe-regex --pickaxe-all "
    "--merge-base --cc --ignore-submodules --submodule --inter-hunk-context"
)
_LOG = (
    "nigEFPLcr --oneline --max-count --skip --since --until --after --before --author --committer "
    "--grep --all --branches --tags --remotes --graph --decorate --no-decorate --format --pretty "
    "--date --follow --first-parent --merges --no-merges --reverse --left-right --cherry-pick "
    "--full-history --no-walk --abbrev-commit --no-abbrev-commit --date-order --topo-order "
    "--author-date-order --simplify-by-decoration --walk-reflogs --all-match --invert-grep "
    "--ancestry-path --boundary --children --parents --count --objects --left-only --right-only "
    "--regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --relative-date --notes "
    "--no-notes --min-parents --max-parents --sparse --dense --root --source"
)
_NAME = r"[\w./-]*"
_BEHIND = r"[~^:]|@\Z|@\{[\w-]+\}|\^\{\w*\}"
_REVISION = rf"(?:--?[\w-]+=)?{_NAME}(?:(?:{_BEHIND}){_NAME})*"
_NO_NAME = rf"\A(?!{_REVISION}\Z)(?![\s\S]* )"
"""Words, but for texts with blanks, that would make a name of which a shell makes more, as where a
Makefile or a hook asks for the branch: `x;make`."""
_LISTED = (
    "alrvi --all --list --remotes --verbose --show-current --contains --no-contains --merged "
    "--no-merged --sort --format --points-at --column --no-column --color --no-color --abbrev"
)


_SIGNED = r"%[-+ ]?G|(?:^|[=(:])[-*]*signature\b"
"""Formats and orders that make git run gpg."""
_WITHIN = r"(?!:(?![!^]))(?!(?:[\s\S]*/)?\.\.(?:/|$))[\s\S]*"
"""No path out of the folder, no magic word but for exclusion."""


def _git(
    *covered: str,
    operands: str = r"[\s\S]*",
    writes: bool = False,
    unwritten: str = NO_OPERAND,
    rewrites: bool = False,
    names: bool = False,
) -> Program:
    refs = "--sort" in covered[0].split()
    nowhere = _SIGNED if refs else _SIGNED.partition("|")[0]
    nowhere = f"{nowhere}|{_NO_NAME}" if names else nowhere
    return Program(
        _WHY,
        options(*covered),
        joined=r"-[GLS][\s\S]+" if _DIFF in covered else NO_OPERAND,
        operands=operands,
        nowhere=nowhere,
        writes=writes,
        unwritten=unwritten,
        rewrites=rewrites,
    )


GIT = Program(
    _WHY,
    options("P --no-pager --no-optional-locks --version"),
    subcommands={
        "status": _git(
            "sbvzunoal --short --branch --porcelain --long --verbose --untracked-files --ignored "
            "--show-stash --ahead-behind --no-ahead-behind --column --renames --no-renames "
            "--find-renames --ignore-submodules",
            operands=_WITHIN,
        ),
        "diff": _git(_DIFF, operands=_WITHIN),
        "log": _git(_DIFF, _LOG),
        "show": _git(_DIFF, _LOG),
        "shortlog": _git("snec --numbered --summary --email --group --no-merges --since --until"),
        "rev-list": _git(_LOG),
        "diff-tree": _git(_DIFF, "rtvc --root --pretty --no-commit-id"),
        "diff-index": _git(_DIFF, operands=_WITHIN),
        "blame": _git(
            "LwMCelscnfbtp --porcelain --line-porcelain --show-email --show-name --show-number "
            "--date --since --first-parent --root --abbrev --color-lines"
        ),
        "grep": _git(
            "niwvlLceEFPGhHopWABCqzaIr --line-number --column --ignore-case --invert-match --count "
            "--cached --untracked --word-regexp --files-with-matches --files-without-match "
            "--name-only --heading --break --color --no-color --and --or --not --function-context "
            "--show-function --max-depth --recursive --perl-regexp --extended-regexp "
            "--basic-regexp --fixed-strings --only-matching --context --after-context "
            "--before-context --full-name --max-count --text --quiet",
            operands=_WITHIN,
        ),
        "ls-files": _git(
            "cdmoiskuztv --cached --deleted --modified --others --ignored --stage --unmerged "
            "--killed --exclude-standard --full-name --error-unmatch --deduplicate --eol --abbrev",
            operands=_WITHIN,
        ),
        "ls-tree": _git("rdtlz --long --name-only --name-status --full-name --full-tree --abbrev"),
        "cat-file": _git("ptse"),
        "rev-parse": _git(
            "q --short --abbrev-ref --symbolic-full-name --show-toplevel --show-prefix --show-cdup "
            "--verify --quiet --is-inside-work-tree --is-bare-repository --git-dir "
            "--absolute-git-dir --git-common-dir --all --branches --tags --remotes"
        ),
        "describe": _git("--tags --all --always --long --abbrev --dirty --match --contains"),
        "merge-base": _git("a --all --is-ancestor --fork-point --octopus --independent"),
        "name-rev": _git("--tags --name-only --always"),
        "for-each-ref": _git("--count --sort --format --points-at --merged --contains"),
        "show-ref": _git("sdq --head --heads --tags --verify --hash --abbrev --quiet"),
        "show-branch": _git("ar --all --remotes --list --topo-order --current"),
        "count-objects": _git("vH --verbose --human-readable"),
        "check-ignore": _git("vnq --verbose --no-index --quiet --non-matching"),
        "whatchanged": _git(_DIFF, _LOG),
        "branch": _git(_LISTED, operands=NO_OPERAND),
        "tag": _git(_LISTED.replace("alrvi", "lni"), operands=NO_OPERAND),
        **{
            f"branch {option}": _git(_LISTED)
            for option in ("--list", "--contains", "--merged", "--no-contains", "--no-merged")
        },
        # `-v` would verify, by `gpg.program`.
        **{
            f"tag {option}": _git(_LISTED.replace("alrvi", "lni"))
            for option in ("-l", "--list", "--contains", "--merged")
        },
        "remote": _git("v --verbose", operands=NO_OPERAND),
        "remote get-url": _git("--all --push"),
        "stash list": _git(_LOG),
        "stash show": _git(_DIFF),
        "worktree list": _git("vz --porcelain --verbose", operands=NO_OPERAND),
        "reflog": _git(_LOG, operands=r"show|list|HEAD|\d+"),
    },
    named={
        "add": _git(
            "AufnvN --all --update --force --dry-run --verbose --intent-to-add", operands=_WITHIN
        ),
        "commit": _git(
            "mavqsn --message --all --amend --no-edit --allow-empty --signoff --quiet --verbose "
            "--no-verify --date --author --fixup --dry-run --no-gpg-sign"
        ),
        "checkout": _git(
            "bBqdt --quiet --detach --track --no-track",
            writes=True,
            names=True,
            unwritten=r"(?:-\w+ |--\w[\w-]* )*HEAD(?:~\d+)?",
        ),
        "switch": _git(
            "cCqdt --create --quiet --detach --track --no-track --guess",
            rewrites=True,
            names=True,
        ),
        "restore": _git(
            "sSWq --source --staged --worktree --quiet",
            writes=True,
            unwritten=r"(?:-[SWq]+ |--(?:staged|worktree|quiet) )*(?:-s|--source) "
            r"(?:HEAD|[\w-]+~\d+)",
        ),
        "stash": replace(
            _git("uakqm --include-untracked --all --keep-index --quiet --message", writes=True),
            operands=r"(?!(?:pop|apply|branch|import)$)[\s\S]*",
            why="pop, apply and branch merge, and what was stashed goes into what the history has "
            "renamed, be it what runs later; a rule must name them",
        ),
        **{
            f"stash {name}": _git("q --quiet --index", rewrites=True, names=True)
            for name in ("pop", "apply", "branch")
        },
        "branch": _git(_LISTED, "dDmMcCft --delete --move --copy --track", names=True),
        "tag": _git(
            _LISTED.replace("alrvi", "lni"),
            "amdf --annotate --message --delete --force",
            # `v1/w/tmp/x` ends a Makefile's `sed s/@V@/$(VERSION)/g`.
            operands=r"[^/]*|[\s\S]* [\s\S]*",
            names=True,
        ),
        "reset": _git("qN --soft --mixed --hard --keep --merge --quiet", rewrites=True),
        "rm": _git("rfnq --cached --force --dry-run --quiet --ignore-unmatch", writes=True),
    },
)
