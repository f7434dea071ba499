"""Knows files that are run or obeyed later. No tool writes in `.git`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from sidecar.core.text.visible import plain_path

_SHELL = "a shell reads it when it starts"
_TAKEN = "programs take their settings, or programs, from it"
_CI = "a build machine runs or obeys it"
_EDITOR = "an editor runs or obeys it when it opens the folder"
_AGENT = "an agent obeys it, or runs what it names"
_GIT = "git, or its like, runs programs or changes files by it"
_PACKAGES = "a package manager takes its registry, its keys or programs from it"
_PYTHON = "Python runs it whenever it starts"
_DEBUGGER = "a debugger or another program runs or obeys it when it starts"
_SYSTEM = "the system runs it, or lets somebody in by it"
_SHORT = re.compile(r"(?=.{3,8}(?:\.|$))[^.~]+~\d+(?:\.[^.]{0,3})?")
"""As `VSCODE~1`, by which Windows' disks find `.vscode` too."""

_NO_GROUPS = str.maketrans("", "", "()")

_RUN_LATER: Mapping[str, str] = {
    ".envrc* .direnvrc .direnv/ .env.zsh .autoenv* .env.leave mise.* .mise.* mise/ .mise/ "
    ".rtx.toml .tool-versions .asdfrc .rvmrc .prototools .shadowenv.d/ devenv.* "
    "flake.nix shell.nix default.nix guix.scm manifest.scm replit.nix devbox.json hermit.hcl "
    "aqua.yaml aqua.yml "
    ".pre-commit-config.* lefthook.* .lefthook* lefthook-local.* .huskyrc* "
    "husky.config.* .lintstagedrc* lint-staged.config.* nano-staged.* simple-git-hooks.* "
    ".simple-git-hooks.* .overcommit.yml .git-hooks.yml grumphp.* captainhook.* "
    "prek.toml": "a shell or git runs it by itself",
    "activate activate.fish activate.csh activate.nu activate.ps1 activate_this.py pyvenv.cfg "
    "conda-meta/ activate.d/ deactivate.d/ "
    "venv/ .venv/ env/bin/ .env/bin/ .env node_modules/ __pypackages__/": "a shell, an editor "
    "or its plugins take programs or their settings from it",
    ".bash* .profile .zsh* .zprofile .zlogin .zlogout .kshrc .mkshrc .yashrc .yash_profile "
    "fish/conf.d/ fish/functions/ fish/completions/ "
    ".cshrc .tcshrc .login .xonshrc .inputrc .xprofile .xinitrc .xsession .xsessionrc .terminfo/ "
    ".mailcap mailcap config.fish profile.ps1 *.powershell_profile.ps1 "
    "*.vscode_profile.ps1": _SHELL,
    ".config/ .local/ library/preferences/ appdata/roaming/ appdata/local/": _TAKEN,
    ".github/ .gitlab-ci* gitlab-ci.yml salsa-ci.yml snapcraft.yaml "
    "*.gitlab-ci.yml *.gitlab-ci.yaml .gitlab/ .circleci/ "
    ".travis.yml jenkinsfile* azure-pipelines* .azure-pipelines/ "
    ".azuredevops/ buildkite.yml buildkite.yaml buildkite.json buildkite/pipeline.yml "
    "buildkite/pipeline.yaml buildkite/pipeline.json bitbucket-pipelines.yml .drone.yml "
    ".drone.yaml .drone.star .woodpecker.yml "
    ".woodpecker.yaml .woodpecker/ .travis.yaml .jenkins/ .buildkite/ .appveyor.yml "
    "appveyor.yml .cirrus.yml .cirrus.yaml .cirrus.star .gitea/ .forgejo/ .teamcity/ "
    ".semaphore/ cloudbuild* buildspec* .tekton/ codefresh.yml wercker.yml .builds/ "
    ".build.yml .readthedocs.yml .readthedocs.yaml netlify.toml vercel.json vercel.toml vercel.ts "
    "vercel.mts "
    "vercel.js vercel.mjs vercel.cjs codemagic.yaml "
    "bitrise.yml ci_scripts/ bamboo-specs/ zuul.d/ taskcluster/ *.gocd.yaml *.gocd.yml *.gocd.json "
    "amplify.yml render.yaml railway.toml railway.json railpack.json nixpacks.toml fly.toml "
    "action.yml action.yaml dangerfile dangerfile.* "
    "procfile "
    "heroku.yml app.json now.json apphosting.yaml wrangler.toml wrangler.json wrangler.jsonc": _CI,
    ".vscode/ .vscode-server/ *.code-workspace .idea/ .fleet/ .zed/ .theia/ .devcontainer/ "
    ".devcontainer.json .gitpod.yml .nvim.lua .nvimrc .vimrc* .gvimrc .exrc .vim/ vimfiles/ .nvim/ "
    ".lvimrc _vimrc _gvimrc .ideavimrc .kakrc .nanorc .vs/ .idx/ .replit .ctags .ctags.d/ "
    ".htaccess .user.ini .dir-locals.el .dir-locals-2.el .emacs .emacs.d/ .projectile .helix/ "
    "*.sublime-project *.sublime-workspace *.config.js *.config.cjs *.config.mjs *.config.ts "
    "*.config.mts *.config.cts *.config.tsx *.config.jsx knip.* "
    "*.conf.js *.conf.cjs *.conf.mjs *.conf.ts *.run.xml session.vim "
    "build.rs tailwind.js tailwind.cjs tailwind.mjs tailwind.ts "
    "tailwind.cts tailwind.mts tailwind.config.* vitest.workspace.* eslint-local-rules* cspell.* "
    "hie.yaml rust-analyzer.toml rust-project.json buildserver.json omnisharp.json "
    "analysis_options.yaml compile_commands.json compile_flags.txt desktop.ini "
    "ruby_lsp/ renv/activate.r packrat/init.r "
    "_vimrc_local*": _EDITOR,
    ".sidecar/ trusted-workspaces.json "
    "agents.md agents.override.md agent.md claude.md claude.local.md gemini.md "
    "crush.md warp.md qwen.md .cursorrules .windsurfrules .clinerules .roorules .goosehints "
    ".rules .cursor/ .windsurf/ .clinerules/ .roo/ .claude/ .codex/ .gemini/ .opencode/ "
    "opencode.json opencode.jsonc .aider.conf.yml .continue/ .crush/ .crush.json crush.json "
    ".kiro/ .junie/ .augment/ .amazonq/ .mcp.json mcp.json .claude.json skill.md "
    ".agents/ .agent/ .amp/ .cline/ .kilocode/ .kilocodemodes .roomodes .openhands/ .factory/ "
    ".qwen/ .trae/ .devin/ .goose/ .qodo/ .tabnine/ .aiassistant/ .augment-guidelines codex.md "
    "vibe.md avante.md soul.md heartbeat.md hermes.md workflow.md codex.local.md crush.local.md "
    "opencode.md opencode.local.md context.md replit.md iflow.md llxprt.md octo.md dear_llm.md "
    "knowledge.md codebuff.json amazonq.md codebuddy.md agents.local.md "
    "tools.md identity.md user.md boot.md bootstrap.md memory.md review.md rules.md "
    "best_practices.md ai_rules.md hook.md *.knowledge.md readme.pochi.md neovate.md "
    "hooks.json monitors.json gemini-extension.json qwen-extension.json": _AGENT,
    ".gitconfig* .gitattributes .gitmodules .git-blame-ignore-revs .husky/ .githooks/ "
    "githooks/ .git-hooks/ git-hooks/ .hooks/ .git-templates/ .hgrc .hg/ .svn/ .jj/ "
    ".lfsconfig _darcs/ .bzr/ _mtn/ cvs/root p4config* .p4config*": _GIT,
    "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit pre-push post-checkout "
    "post-merge pre-rebase post-rewrite applypatch-msg pre-applypatch post-applypatch "
    "pre-auto-gc post-index-change reference-transaction pre-receive post-receive post-update "
    "push-to-checkout proc-receive "
    "sendemail-validate fsmonitor-watchman query-watchman p4-changelist p4-prepare-changelist "
    "p4-post-changelist p4-pre-submit": "git runs it, where it lies in a folder of hooks",
    "head": "git may take its folder for a repository, and run what that one's settings say",
    ".npmrc .yarnrc .yarnrc.yml .yarn/ .pnpmfile.cjs .pnpmfile.mjs .bunfig.toml bunfig.toml "
    "pip.conf .pip/ .pypirc .condarc uv.toml .cargo/ .gemrc .bundle/ nuget.config "
    ".m2/ .mvn/ .gradle/ gradle/wrapper/ gradle-daemon-jvm.properties "
    ".sbtopts .jvmopts .bazelrc .bazeliskrc .pnp.cjs "
    ".pnp.loader.mjs pnpm-workspace.yaml .bowerrc poetry.toml pdm.toml .pdm.toml .mambarc "
    "rust-toolchain rust-toolchain.toml ansible.cfg .terraform/ .terraformrc .netrc .curlrc "
    ".wgetrc .ripgreprc pnpmfile.js": _PACKAGES,
    "site-packages/ dist-packages/ sitecustomize.py sitecustomize/ usercustomize.py "
    "usercustomize/ *.pth .pdbrc .pdbrc.py .pythonrc .pythonrc.py .pythonstartup "
    "ipython_config.* jupyter_config.* jupyter_server_config.* jupyter_notebook_config.* "
    "jupyter_lab_config.* voila.py jupyter_nbconvert_config.* jupyterhub_config.* profile_default/ "
    "ipython_kernel_config.* entry_points.txt .ipython/ .jupyter/": _PYTHON,
    ".gdbinit .lldbinit .gdbearlyinit .irbrc .pryrc .psqlrc login.sql .sqliterc .my.cnf .rprofile "
    ".renviron .octaverc .ocamlinit .rdbgrc .byebugrc .duckdbrc .ghci .iex.exs .perldb .guile "
    ".sbclrc .erlang maxima-init.mac maxima-init.lisp .gprc .proverc irb.rc _irbrc $irbrc "
    "pkg_add startup.m finish.m pathdef.m scilab.ini perldb.ini .latexmkrc latexmkrc .perltidyrc "
    "ctags.d/ .screenrc .tmux.conf .lesskey .lessfilter": _DEBUGGER,
    ".ssh/ authorized_keys .rhosts .shosts .forward .procmailrc .gnupg/ .aws/ .kube/ .docker/ "
    ".pam_environment crontab cron.d/ cron.hourly/ cron.daily/ cron.weekly/ cron.monthly/ "
    "systemd/ environment.d/ dispatcher.d/ xsession.d/ modprobe.d/ ssh_config.d/ launchagents/ "
    "launchdaemons/ init.d/ profile.d/ bash_completion.d/ apt.conf.d/ sshd_config.d/ ld.so.conf.d/ "
    "sudoers.d/ sudoers ld.so.preload *.service *.desktop": _SYSTEM,
}
"""Lower-case names of files, of folders (`x/`, with everything below), endings (`*.pth`), and
beginnings (`x*`)."""


@lru_cache(maxsize=16_384)
def runs_later(path: str) -> str:
    """Says why writing a resolved path has later effects; "" for an ordinary file.

    Ignores case and invisible letters, as some disks do; any name like `VSCODE~1` may be another's.
    """
    # To zsh `(.)vscode` is a pattern of that name.
    bare = path.translate(_NO_GROUPS)
    parts = [plain_path(part) for part in bare.split("/") if part not in ("", ".")]
    if any(_SHORT.fullmatch(part) for part in parts):
        return "to some disks it is a short name of another file"
    for names in (["/".join(pair) for pair in pairwise(parts)], parts):
        for name in names:
            if reason := _FOLDERS.get(name):
                return reason
        if names and (reason := _FILES.get(names[-1])):
            return reason
    if any(part.startswith(_BEGUN) for part in parts):
        return next(
            why for one, why in _BEGINNINGS.items() if any(p.startswith(one) for p in parts)
        )
    name = parts[-1] if parts else ""
    endings = (name[at:] for at, letter in enumerate(name) if letter == ".")
    return next((_FILES[f"*{one}"] for one in endings if f"*{one}" in _FILES), "")


def runs_later_as(shown: Iterable[str], linked: Iterable[str]) -> str:
    """Says the same of a file by any of its names, and by which of the `linked` ones."""
    said = {**dict.fromkeys(shown, ""), **{name: f"as {name}, " for name in linked}}
    found = (f"{by}{why}" for name, by in said.items() if (why := runs_later(name)))
    return next(found, "")


@lru_cache(maxsize=16_384)
def holds_later(folder: str) -> bool:
    return bool(runs_later(folder)) or plain_path(folder) in _FIRSTS


def held_above(folders: Sequence[str], path: str = "") -> str:
    """Names a folder around a workspace that is hidden or has files that run later, or "".

    `folders`: names from the home folder to the root; `path`: a file relative to the root, which
    may matter (`gradle` and `wrapper/x`).
    """
    names = [plain_path(folder) for folder in folders]
    ends = (at + 1 for at, name in enumerate(names) if name in _APART)
    start = max(ends, default=0)
    for at in range(start, len(names)):
        two = "/".join(names[at : at + 2])
        if names[at].startswith(".") or (names[at] in _FOLDERS and names[at] not in _PROJECTS):
            return folders[at]
        if "/" in two and two in _FOLDERS:
            return "/".join(folders[at : at + 2])
    if not folders:
        return ""
    first, _, rest = path.partition("/")
    spanning = "/".join((*names[-1:], plain_path(first)))
    return "/".join((folders[-1], first)) if spanning in (_FILES, _FOLDERS)[bool(rest)] else ""


_NAMES = {name: why for names, why in _RUN_LATER.items() for name in names.split()}
_NAMES["library/application support/"] = _TAKEN
_FOLDERS = {name[:-1]: why for name, why in _NAMES.items() if name.endswith("/")}
_FILES = {name: why for name, why in _NAMES.items() if not name.endswith("/")}
_FIRSTS = frozenset(name.partition("/")[0] for name in (*_FOLDERS, *_FILES) if "/" in name)
"""Of names of two parts, as `gradle/wrapper/`."""
_APART = frozenset({"worktrees", ".worktrees"})
"""Folders of whole projects: those above say nothing."""
_PROJECTS = frozenset({"mise", "taskcluster", "githooks", "git-hooks"})
"""Folders with projects' own names: above a root they say nothing."""
_BEGINNINGS = {name[:-1]: why for name, why in _NAMES.items() if name.endswith("*")}
_BEGUN = tuple(_BEGINNINGS)
"""All at once: each name in the folders above an edited file is asked about."""
