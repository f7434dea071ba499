"""Files that no rule for writing covers: what runs later, what commands obey, and odd names."""

import os
from dataclasses import replace

import pytest

from sidecar.core.parts import Json
from sidecar.tools.rules.permission import Allow, Ask, Rules
from sidecar.tools.tool_contract import ToolContext
from sidecar.workspace import paths
from tests.tools.rules.decisions import call


@pytest.mark.parametrize(
    "path",
    [".envrc", "sub/.envrc", ".ENVRC", ".vscode/tasks.json", ".VSCode/Settings.JSON",
     ".vs\u200bcode/tasks.json", ".github/workflows/ci.yml", ".gitlab-ci.yml", "Jenkinsfile",
     "x/trusted-workspaces.json",
     ".sidecar/config.toml", ".sidecar/learned/x.md", "AGENTS.md", "sub/agents.md", "CLAUDE.md",
     "LLXPRT.md", "OCTO.md", "docs/dear_llm.md", "voila.py", "fish/functions/ls.fish",
     "x/systemd/user/x.service.d/override.conf", "etc/ssh/ssh_config.d/x.conf",
     ".claude/settings.json", ".cursorrules", ".husky/pre-commit", ".githooks/pre-push",
     ".pre-commit-config.yaml", ".gitattributes", ".gitmodules", ".npmrc", ".mcp.json",
     "sitecustomize.py", "x/evil.pth", ".devcontainer/devcontainer.json", ".nvim.lua",
     ".dir-locals.el", ".bashrc", ".gdbinit", ".idea/workspace.xml", "linked/ci.yml",
     ".circleci/config.yml", ".cargo/config.toml", "/other/.ssh/authorized_keys",
     ".github/hooks/x.json", ".config/x", ".direnv/x.rc", "mise.local.toml", ".lintstagedrc.json",
     ".venv/bin/pip", "env/activate", "node_modules/.bin/tsc", "sub/HEAD", "rust-toolchain.toml",
     "gradle/wrapper/gradle-wrapper.properties", "pnpm-workspace.yaml", "ansible.cfg",
     "sitecustomize/__init__.py", "tools/hooks/pre-commit", "_darcs/prefs/defaults", "CVS/Root",
     "lefthook-local.toml", ".lintstagedrc.yml", "simple-git-hooks.cjs", ".bash_it/x",
     ".zshrc.local", "maxima-init.mac", ".gprc", ".proverc", "x/irb.rc", "PKG_ADD", "startup.m",
     "latexmkrc", ".perltidyrc", "eslint.config.js", "web/vite.config.ts", "build.rs", ".env",
     "node_modules/x/index.js", "venv/lib/x.py", "ctags.d/x.ctags", ".mkshrc", ".bash_completion",
     ".venv/lib/python3.11/site-packages/_distutils_hack/__init__.py",
     "ipython_config.py", "mise/config.local.toml", "flake.nix", "devenv.local.nix",
     "x/grumphp.yml",
     "ci_scripts/ci_post_clone.sh", "bamboo-specs/bamboo.yml", "zuul.d/jobs.yaml", "ci/x.gocd.yaml",
     "web/wrangler.toml", "web/tailwind.js", "tailwind.config.base.ts", "vitest.workspace.ts",
     "eslint-local-rules/index.js", "sub/cspell.json", "sub/hie.yaml", "x/rust-analyzer.toml",
     "lib/ruby_lsp/x/addon.rb", "renv/activate.R", "pkg/analysis_options.yaml", "CRUSH.local.md",
     "VIBE.md", "hooks/x/HOOK.md",
     "env2/etc/conda/activate.d/x.sh", "conda-meta/x.md", "login.sql", "Procfile",
     "OpenCode.md", "CONTEXT.md", "replit.md", "sub/codebuff.json", "x.egg-info/entry_points.txt",
     "profile_default/startup/x.py", "sub/buildServer.json", "AmazonQ.md",
     "taskcluster/kinds/x.yml", "_vimrc_local.vim", ".openhands/setup.sh",
     ".idx/dev.nix", ".\uff45nvrc", ".envrc. ",
     "VSCODE~1/tasks.json", "x/GITHUB~1/WORKFL~1/ci.yml", "sidec~12/config.toml",
     "a/VS1A2B~1.COD/x", "AGENTS\ufe0f.md", "x/sitecustomize\u115f.py", "Session.vim",
     "bin/hermit.hcl", "buildkite/pipeline.yml", "p4config.txt", "vercel.mts",
     "sub/jupyter_server_config.json", "sub/wdio.conf.ts", "replit.nix", "lib/pathdef.m",
     "pnpmfile.js", "runs/all.run.xml", "x/guix.scm", "nano-staged.cjs", "vimfiles/plugin/x.vim",
     "__pypackages__/3.12/lib/x.py", "Documents/PowerShell/Microsoft.PowerShell_profile.ps1",
     "PowerShell/profile.ps1", "ci/build.gitlab-ci.yml", "ci/cloudbuild.dev.yaml", "x/fly.toml",
     "x/buildspec.yaml", "x/railpack.json", "SOUL.md", "WORKFLOW.md", "hooks/post-update",
     "monitors/monitors.json", "ext/gemini-extension.json",
     "aqua.yaml", "src/rules.md", "best_practices.md", "build/compile_commands.json",
     "Library/Application Support/Code/User/tasks.json", "AppData/Roaming/x/y.json",
     "(.)vscode/a.ts", "src/(venv)/x.py", "AGENT(S).md", "(AGENTS).md"],
)  # fmt: skip
def test_what_runs_later_is_asked_about_each_time(path: str, inside: ToolContext) -> None:
    workflows = inside.cwd / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (inside.cwd / "linked").symlink_to(workflows)
    named = path.replace("linked", ".github/workflows")
    rules = Rules(("*", "edit", "write_file", "edit_file", f"write_file:{named}", "write_file:/*"))
    calls: tuple[tuple[str, Json], ...] = (
        ("write_file", {"path": path, "content": ""}),
        ("edit_file", {"path": path, "oldText": "a", "newText": "b"}),
    )
    for tool, wanted in calls:
        asked = call(tool, wanted, inside, rules)
        assert isinstance(asked, Ask)
        assert "(runs later: " in asked.title
        assert named.casefold() in asked.title.casefold()
        assert [option.kind for option in asked.options] == ["allow_once", "reject_once"]
        assert asked.rules == {}


@pytest.mark.parametrize(
    "path", ["a.py", "Makefile", "package.json", "conftest.py", "docs/agents.py",
             "README.md", "src/head.py",
             "routes/+page.svelte", "(group)/[id]/a.tsx", "app/[[...slug]].ts",
             "in/(a)/[...b]/c.ts", "[id].server.ts",
             "a-b_c.md", "+page.server.ts",
             "Größe2.md", "icon@2x.svg", "v1.0+x.md",
             ".gitignore", "envrc.txt", "a.service.py", "LICENSE", "src/Dockerfile", ".env.example",
             "a/b/fixtures/data.JSON", "main.rs", "tsconfig.ts", "index.test.tsx"],
)  # fmt: skip
def test_ordinary_files_are_what_a_rule_for_writing_covers(path: str, inside: ToolContext) -> None:
    wanted: Json = {"path": path, "content": ""}
    assert call("write_file", wanted, inside, Rules(("write_file",))) == Allow()


SETTINGS = ["k8s/x.yaml", "a/b/c/x.JSON", "docs/book.x.toml",
            "conf/x.ini", "config/a.yml", "(group)/a-b.xml"]  # fmt: skip


@pytest.mark.parametrize("path", SETTINGS)
def test_settings_in_a_folder_take_a_rule_that_spells_their_ending(
    path: str, inside: ToolContext
) -> None:
    wanted: Json = {"path": path, "content": ""}
    folder, ending = path.rpartition("/")[0], path.rpartition(".")[2]
    name = path.removeprefix(f"{folder}/")
    broad = ("*", "edit", "write_file", "write_file:*", f"write_file:{folder}/*", f"edit:{path}*")
    asked = call("write_file", wanted, inside, Rules(broad))
    assert isinstance(asked, Ask)
    like = f"write_file:{folder}/*.{ending}"
    assert asked.rules["allow_always"] == f"write_file:{path}"
    assert asked.rules["allow_similar"] == like
    assert asked.title == f"Write {path} (settings or data, which a program may obey)"
    assert f"Always allow {folder}/*.{ending}" in [option.name for option in asked.options]
    for rule in (like, f"write_file:{path}", f"edit:*.{ending}", f"*:*/{name}"):
        assert call("write_file", wanted, inside, Rules((rule,))) == Allow()


@pytest.mark.parametrize(
    "path", ["x.json", "a/.x.json", ".a/x.json", "a/tsconfig.json", "a/tsconfig.x.json",
             "a/pyproject.json.bin", "a/$x.json", "a/+x.json", "a/.json", "x/config.json",
             "config/_default/menus.toml", "config/production/x.toml",
             "config/a/locales/x.toml", "a/_default/b/x.json"],
)  # fmt: skip
def test_no_ending_spells_settings_of_the_root_or_that_lead_out(
    path: str, inside: ToolContext
) -> None:
    wanted: Json = {"path": path, "content": ""}
    asked = call(
        "write_file",
        wanted,
        inside,
        Rules(("write_file:*.json", "edit:*.toml", "write_file:*/*.bin")),
    )
    assert isinstance(asked, Ask)
    assert "allow_similar" not in asked.rules


@pytest.mark.parametrize(
    ("rule", "path", "found"),
    [
        ("write_file:packages/@our/*", "packages/@our/b/i.ts", Allow),
        ("edit:packages/@our/b/*.json", "packages/@our/b/x.json", Allow),
        ("write_file:packages/@our/*", "packages/@our/@x/i.ts", Ask),
        ("write_file:packages/@our/*", "packages/@our/b/x.json", Ask),
        ("write_file:packages/*", "packages/@our/i.ts", Ask),
        ("write_file", "src/@types/a.ts", Ask),
        ("write_file:@our/*", "@our/i.ts", Ask),
        ("write_file:in/@our*", "in/@ours/i.ts", Ask),
    ],
)
def test_a_folder_whose_name_asks_for_options_is_covered_where_a_rule_spells_it(
    rule: str, path: str, found: type, inside: ToolContext
) -> None:
    wanted: Json = {"path": path, "content": ""}
    assert isinstance(call("write_file", wanted, inside, Rules((rule,))), found)


def test_an_ending_spells_no_other_kind_that_a_link_leads_to(inside: ToolContext) -> None:
    (inside.cwd / "in").mkdir()
    for name, to in (("in/x.json", "../b/y.yaml"), ("in/z.json", "../b/z.json")):
        (inside.cwd / name).symlink_to(to)
    rules = Rules(("write_file:*.json",))
    linked, same = ({"path": f"in/{name}.json", "content": ""} for name in "xz")
    assert isinstance(call("write_file", linked, inside, rules), Ask)
    assert call("write_file", same, inside, rules) == Allow()


def test_settings_outside_take_a_rule_that_spells_their_ending(inside: ToolContext) -> None:
    conf = inside.cwd.parent / "conf"
    conf.mkdir()
    wanted: Json = {"path": "../conf/x.yaml", "content": ""}
    asked = call("write_file", wanted, inside, Rules((f"write_file:{conf}/*",)))
    assert isinstance(asked, Ask)
    # That would be a rule for all folders below, too.
    assert "allow_similar" not in asked.rules
    assert call("write_file", wanted, inside, Rules((f"write_file:{conf}/*.yaml",))) == Allow()


@pytest.mark.parametrize("piece", [".$bcdefgh", "/$bcdefgh", "(", "[", "./", "a.$"])
def test_a_name_of_many_pieces_is_decided_at_once(piece: str, inside: ToolContext) -> None:
    """Ten were enough for hours."""
    wanted: Json = {"path": f"a{piece * 20}!.md", "content": ""}
    assert isinstance(call("write_file", wanted, inside, Rules(("write_file",))), Ask)


@pytest.mark.parametrize("command", ["make docs/x.json", "touch docs/x.json"])
def test_no_star_makes_settings(command: str, inside: ToolContext) -> None:
    (inside.cwd / "docs").mkdir()
    wanted: Json = {"command": command}
    rules = (f"shell:{command.split(maxsplit=1)[0]} *",)
    assert isinstance(call("shell", wanted, inside, Rules(rules)), Ask)
    assert call("shell", wanted, inside, Rules((*rules, f"shell:{command}"))) == Allow()


@pytest.mark.parametrize(
    "path", ["data", "newtool.toml", "x.unheard", "some-new-hooks", ".newtoolrc", ".hidden/a.py",
             "bin/run", "bin/install",
             "yarn.lock", "a.py.", "a.p\u200by", "a\u034f.py", "\uff0ehidden/a.py",
             "settings.d/x.rules", "-", "-e1e touch x.txt", "--output=../x.md", "a/-b.py",
             "n '-e.txt", "@args.txt", "$(touch x).md", "+!touch x.md",
             "!touch x.txt", "+so x.vim", "+make.ts", "x$IFS-e1e.md", "$HOME.md",
             "a/!x.txt", ":(top)x.txt", "SHELL=x.sh", "@a/x.c",
             "x @b.md", "src/x AGENTS.md y.ts", "a /etc/b.md", "a b.md",
             "a;b.txt", "a\nb.py", "a -b.md", "a`b`.ts", "()src/x.sh", "a().md", "[A]GENTS.md",
             "AGENT[S].md", "AGENT@(S).md", "a@[b].md", "[a]/AGENTS.md~x.md", "x.md~",
             "(.)storybook/main.ts", "in/(.)photo/page.tsx",
             "[A][G][E][N][T][S].md", "x-(a).ts", "in/[a-z]-[a-z].md", "[l]ink/s.md",
             "src/$x.$x.$x/v.md", "$x/tmp/v.md", "src/$x-rf.md",
             "$id.tsx", "posts.$slug.tsx", "in/$lang/a.tsx", "app/($lang).tsx",
             "src/AGENTS$x.md", "docs/a.$(make).md", "src/x-$(id).ts", "a.$@.md", "a.$1.md",
             "a-$[x].md", "a.$-x.md", "$x.nvim.lua", "src/$a.pdbrc.py", "a.$x(make).md",
             "a/$x.github/workflows/ci.md", "themes/t/config.yaml",
             "a/config.json", "src/vscode/tasks.json", "config/x.toml", "config/locales/a.en.yml",
             "tool.yml", "\u200c.hidden/a.py", "phpcs.xml.dist",
             "phpstan.neon.dist", "tool.dist", "pyproject.toml", "a/pyproject.toml",
             "sub/biome.json", "mypy.ini", "deno.json",
             "docs/_config.yml", "conf/Ruff.toml", "setup.cfg", ".editorconfig",
             "tsconfig.json", "a/tsconfig.build.json", "jsconfig.json", "config.toml", "mkdocs.yml",
             ".eslintignore", ".npmignore", "conf/hugo.toml", "config/_default/config.toml",
             "config/production/module.toml", "site/config/x/Caches.yaml",
             "conf/_default/in/x.yaml",
             "config/production/in/hugo.en.toml", "config/production/x.en.toml",
             "config/staging/security.toml",
             "config/api-extractor.json", "app/angular.json"],
)  # fmt: skip
def test_a_file_of_no_known_kind_takes_a_rule_of_its_own(path: str, inside: ToolContext) -> None:
    (inside.cwd / "link.py").symlink_to(inside.cwd / path)
    for name in (path, "link.py"):
        wanted: Json = {"path": name, "content": ""}
        wide = Rules(("*", "edit", "write_file", "write_file:*", f"write_file:{path}*"))
        asked = call("write_file", wanted, inside, wide)
        assert isinstance(asked, Ask)
        assert "of no kind that is known" in asked.title or "settings or data" in asked.title
        assert asked.rules["allow_always"] == f"write_file:{path}"
        assert call("write_file", wanted, inside, Rules((f"write_file:{path}",))) == Allow()
        assert isinstance(
            call(
                "write_file", {**wanted, "path": f"x{path}"}, inside, Rules((f"write_file:{path}",))
            ),
            Ask,
        )


@pytest.mark.parametrize("variable", [*paths.INSTEAD, "npm_config_userconfig"])
def test_what_a_variable_names_instead_is_asked_about(variable: str, inside: ToolContext) -> None:
    """In the window's environment: the daemon's may be another's."""
    conf = f"{inside.cwd}/conf"
    for value in ("conf", conf, f"{conf}/x.txt", os.pathsep.join(("/etc", conf))):
        given = replace(inside, environment={**inside.environment, variable: value})
        for name, found in (("conf/x.txt", Ask), ("b/x.txt", Allow)):
            wanted: Json = {"path": name, "content": ""}
            assert isinstance(call("write_file", wanted, given, Rules(("*", "edit"))), found)
    above = {**inside.environment, variable: str(inside.cwd.parent)}
    wanted = {"path": "b/x.txt", "content": ""}
    given = replace(inside, environment=above)
    assert call("write_file", wanted, given, Rules(("*", "edit"))) == Allow()
