"""Files that no rule for writing covers: what runs later, what commands obey, and odd names."""

import os
from dataclasses import replace

import pytest

from sidecar.core.parts import Json
from sidecar.tools.rules.pattern import literal
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
     "Library/Application Support/Code/User/tasks.json", "AppData/Roaming/x/y.json"],
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
             "src/vscode/tasks.json", "README.md", "src/head.py", "config/x.toml",
             "notes~1.draft/long_name~1.py", "config/locales/a.en.yml",
             "routes/+page.svelte", "(group)/[id]/a.tsx", "app/[[...slug]].ts",
             "src/@types/a.ts", "a-b_c.md", "+page.server.ts",
             "Größe2.md", "icon@2x.svg", "v1.0+x.md",
             ".gitignore", "envrc.txt", "a.service.py", "LICENSE", "src/Dockerfile", ".env.example",
             "a/b/fixtures/data.JSON", "main.rs", "tsconfig.ts", "index.test.tsx"],
)  # fmt: skip
def test_ordinary_files_are_what_a_rule_for_writing_covers(path: str, inside: ToolContext) -> None:
    wanted: Json = {"path": path, "content": ""}
    assert call("write_file", wanted, inside, Rules(("write_file",))) == Allow()


@pytest.mark.parametrize(
    ("rule", "path", "found"),
    [
        ("shell@proto:buf generate", "proto/buf.gen.yaml", Ask),
        ("shell@proto:buf *", "proto/in/buf.gen.yaml", Ask),
        ("shell@./docs", "docs/book.toml", Ask),
        ("shell@docs:make html", "docs/a.py", Allow),
        ("shell@a/../docs:mdbook build", "docs/book.toml", Ask),
        ("shell:npx tsc -p conf/build.json", "conf/build.json", Ask),
        ("shell:hugo --config=conf/x.toml *", "conf/x.toml", Ask),
        ("shell@web:ng build --x conf/x.json", "web/conf/x.json", Ask),
        ("shell:cd proto && buf generate 2>&1 | tail -5", "proto/buf.gen.yaml", Ask),
        ("shell:cd proto && buf build -t gen/x.yaml | tail -5", "proto/gen/x.yaml", Ask),
        ("shell:cd -P a && cd ../web && foo -c conf/x.yaml", "web/conf/x.yaml", Ask),
        ("shell:cd proto && buf build -t ../conf/x.yaml", "conf/x.yaml", Ask),
        ("shell:mdbook build docs", "docs/book.toml", Ask),
        ("shell:make -C proto gen", "proto/x.yaml", Ask),
        ("shell:buf build --template conf/x.yaml 2>&1 | tail", "conf/x.yaml", Ask),
        ("shell:X=1 buf generate --template ROOT/conf/x.yaml > out.txt", "conf/x.yaml", Ask),
        ("shell:bash -c 'cd site && hugo'", "site/config.toml", Ask),
        ("shell:sh -c 'hugo --config conf/x.toml'", "conf/x.toml", Ask),
        ("shell:for d in docs web; do (cd $d && hugo); done", "web/config.toml", Ask),
        ("shell:foo -tconf/x.yaml", "conf/x.yaml", Ask),
        ("shell:foo --conf $PWD/conf/x.yaml", "conf/x.yaml", Ask),
        ("shell:cd web/app && ng build", "web/x.json", Ask),
        (r"shell:cd d\*cs && hugo", "docs/config.toml", Ask),
        (r"shell:hugo --config conf/\*.toml", "conf/x.toml", Ask),
        ("shell:D=docs; cd $D && hugo", "docs/config.toml", Ask),
        ("shell:cd ~/proj/site && hugo", "site/config.toml", Ask),
        ("shell:cd ~/x/site && hugo --config conf/a.toml", "site/conf/a.toml", Ask),
        ("shell:hugo --source=~/proj/site", "site/config.toml", Ask),
        ('shell:cd "$(git rev-parse --show-toplevel)/site" && hugo', "site/config.toml", Ask),
        (r"shell:hugo -s si\te", "site/config.toml", Ask),
        ("shell:eval 'cd docs && hugo'", "docs/config.toml", Ask),
        ("shell:cd docs/{a,b} && hugo", "docs/b/config.toml", Ask),
        ("shell:KUBECONFIG=deploy/x.yaml make up", "deploy/x.yaml", Ask),
        ("shell:pytest -q $(cat conf/x.ini)", "conf/x.ini", Ask),
        ("shell:pytest < conf/x.ini", "conf/x.ini", Ask),
        ("shell:bin/sort conf/x.json", "conf/x.json", Ask),
        ("shell:foo -e @vars/x.yml", "vars/x.yml", Ask),
        ("shell:foo --conf 'src/[env]/x.yaml'", "src/[env]/x.yaml", Ask),
        ('shell:foo --conf "${X:-src/prod/x.yaml}"', "src/prod/x.yaml", Ask),
        ("shell:foo --conf src/prod/x.yaml?y", "src/prod/x.yaml", Ask),
        ("shell:for e in a b; do foo src/$e.yaml; done", "src/a.yaml", Ask),
        ("shell:foo --conf src/x", "src/x.yaml", Ask),
        ("shell:foo src/in/*", "src/in/x.yaml", Ask),
        ("shell:RIPGREP_CONFIG_PATH=conf/x.cfg rg TODO", "conf/x.cfg", Ask),
        ("shell:foo --conf src/$E/x.yaml", "src/prod/x.yaml", Ask),
        ("shell:foo --conf src/env/x.yaml", "Src/env/X.yaml", Ask),
        ('shell:for e in a b; do foo deploy/"$e"/x.yaml; done', "deploy/a/x.yaml", Ask),
        ("shell:foo deploy/'prod'/x.yaml", "deploy/prod/x.yaml", Ask),
        ('shell:D=deploy; foo "$D"/env/x.yaml', "deploy/env/x.yaml", Ask),
        ('shell:D=deploy/; foo "${D}env/x.yaml"', "deploy/env/x.yaml", Ask),
        ('shell:for e in eu/a us/a; do foo "deploy/$e/x.yaml"; done', "deploy/eu/a/x.yaml", Ask),
        ('shell:for e in eu/a us/a; do foo "deploy/$e.yaml"; done', "deploy/eu/a.yaml", Ask),
        ('shell:foo "deploy/$(git branch --show-current)/x.yaml"', "deploy/main/x.yaml", Ask),
        ("shell:foo deploy/`echo prod`/x.yaml", "deploy/prod/x.yaml", Ask),
        ("shell:foo deploy/x{1..3}.yaml", "deploy/x2.yaml", Ask),
        ("shell:foo deploy/{a,{b,c}}/x.yaml", "deploy/c/x.yaml", Ask),
        ("shell:foo -vfdeploy/a/x.yaml", "deploy/a/x.yaml", Ask),
        ("shell:cd ./'co'nf && foo", "conf/x.yaml", Ask),
        ('shell:for f in $(find deploy -name "*.yaml"); do foo $f; done', "deploy/x/y.yaml", Ask),
        ("shell:for f in deploy/**/*.yaml; do foo $f; done", "deploy/x/y/z.yaml", Ask),
        ("shell:foo -e @conf/x@2.json", "conf/x@2.json", Ask),
        ("shell:foo -e @conf/a+b.xml", "conf/a+b.xml", Ask),
        ("shell:foo a,conf/x,y.json", "conf/x,y.json", Ask),
        (r"shell:foo app/\[id\]/*.yaml", "app/[id]/x.yaml", Ask),
        (r'shell:x=y; foo app/\(shop\)/"$x".yaml', "app/(shop)/y.yaml", Ask),
        ("shell:hugo -s site --config conf/x.toml", "site/conf/x.toml", Ask),
        ("shell:hugo -ssite", "site/x.toml", Ask),
        ("shell:foo -chdir=infra -var-file=env/x.json", "infra/env/x.json", Ask),
        ("shell:npm --prefix web run build -- --config conf/x.json", "web/conf/x.json", Ask),
        ("shell:cd -- docs && foo -c conf/x.json", "docs/conf/x.json", Ask),
        ("shell:foo conf/long-x.toml", "src/x.toml", Allow),
        ("shell:foo x.toml", "src/x.toml", Ask),
        ('shell:f() { foo "in/$@.yaml"; }; f a', "in/b/a.yaml", Ask),
        ("shell:ls in | xargs -I% foo in/%.yaml", "in/b/a.yaml", Ask),
        ("shell:foo conf/data.json", "src/a.json", Allow),
        ("shell:foo docs.md", "docs/x.json", Allow),
        ("shell:pytest tests -q && rg x tests", "tests/x.yaml", Allow),
        ("shell@web:git status", "web/in/x.yaml", Allow),
        ("shell@web:git status", "web/x.yaml", Ask),
        (r'shell:for d in \*/; do (cd "$d" && foo); done', "infra/x.yaml", Ask),
        (r"shell:for d in \*; do foo apply $d; done", "infra/x.yaml", Ask),
        (r"shell:foo \*\*/\*", "infra/x.yaml", Ask),
        ("shell:foo $A$B", "infra/x.yaml", Ask),
        ('shell:for d in $(ls); do (cd "$d" && foo); done', "infra/x.yaml", Ask),
        ("shell:for d in `ls`; do (cd $d && foo); done", "infra/x.yaml", Ask),
        ("shell:ls | while read d; do (cd $d && foo); done", "infra/x.yaml", Ask),
        ("shell:foo --dir $1", "infra/x.yaml", Ask),
        ("shell:ls | xargs -I{} sh -c 'cd {} && foo'", "infra/x.yaml", Ask),
        ("shell:find . -type f -exec foo {} +", "infra/x.yaml", Ask),
        ("shell:for e in a b; do foo $e; done", "infra/x.yaml", Allow),
        ('shell:D=./; foo "$D"infra', "infra/x.yaml", Ask),
        ("shell:printf -v f '%s-%s.yaml' a b; foo $f", "in/a-b.yaml", Ask),
        ("shell:cd $D && foo -c ./buf.yaml", "gen/buf.yaml", Ask),
        ("shell:foo *", "infra/x.yaml", Allow),
        ("shell:foo -f .", "infra/x.yaml", Allow),
        ("shell:cat conf/x.yaml | make apply", "conf/x.yaml", Ask),
        ("shell:ROOT/bin/test conf/x.json", "conf/x.json", Ask),
        ("shell:kubectl apply -R -f k8s", "k8s/a/b/x.yaml", Ask),
        ("shell:ansible-playbook -i inv/prod site.yml", "inv/prod/group_vars/all.yml", Ask),
        ("shell:find k8s -exec kubectl apply -f {} ;", "k8s/a/x.yaml", Ask),
        ("shell:sh -c 'hugo --config conf/x.toml'", "src/x.toml", Allow),
        ("shell:python scripts/run.py", "scripts/run.py", Allow),
        ("shell:foo --conf conf/x.toml", "conf/y.toml", Ask),
        ("read_file:conf/x.toml", "conf/x.toml", Allow),
        ("shell@.:hugo", "conf/x.toml", Allow),
    ],
)  # fmt: skip
def test_settings_of_a_command_that_a_rule_allows_are_as_in_the_root(
    rule: str, path: str, found: type, inside: ToolContext
) -> None:
    (inside.cwd / path).parent.mkdir(parents=True)
    wanted: Json = {"path": path, "content": ""}
    rule = rule.replace("ROOT", str(inside.cwd))
    assert isinstance(call("write_file", wanted, inside, Rules(("write_file", rule))), found)
    own = Rules((f"write_file:{path}", rule))
    assert call("write_file", wanted, inside, own) == Allow()


@pytest.mark.parametrize(
    "rule", ["shell:kubectl --kubeconfig ~/conf/prod/x.yaml get po", "shell:cd ../conf/prod && up",
             'shell:foo "$HOME"/conf/prod/x.yaml'],
)  # fmt: skip
def test_so_are_settings_outside_that_both_rules_name(rule: str, inside: ToolContext) -> None:
    conf = inside.cwd.parent / "conf"
    (conf / "prod").mkdir(parents=True)
    wanted: Json = {"path": "../conf/prod/x.yaml", "content": ""}
    wide = f"write_file:{conf}/*"
    assert call("write_file", wanted, inside, Rules((wide,))) == Allow()
    assert isinstance(call("write_file", wanted, inside, Rules((wide, rule))), Ask)


@pytest.mark.parametrize(
    ("link", "to", "rule", "path"),
    [
        ("deploy/current", "../envs/prod", "foo --conf deploy/current/x.yaml", "envs/prod/x.yaml"),
        ("conf/x.yaml", "../envs/prod/y.yaml", "foo --conf conf/x.yaml", "envs/prod/y.yaml"),
        ("deploy/current", "../envs/prod", "foo -fdeploy/current/x.yaml", "envs/prod/x.yaml"),
        ("deploy/current", "../envs/prod", 'foo "$PWD/deploy/current"', "envs/prod/x.yaml"),
        ("deploy/current", "../envs/prod", 'foo "deploy"/current/x.yaml', "envs/prod/x.yaml"),
        ("web/site", "../in/docs", "cd web && cd site && foo", "in/docs/x.yaml"),
    ],
)
def test_so_are_those_to_which_a_link_in_the_rule_leads(
    link: str, to: str, rule: str, path: str, inside: ToolContext
) -> None:
    for name in (link, path):
        (inside.cwd / name).parent.mkdir(parents=True, exist_ok=True)
    wanted: Json = {"path": path, "content": ""}
    rules = Rules(("write_file", f"shell:{rule}"))
    assert call("write_file", wanted, inside, rules) == Allow()
    (inside.cwd / link).symlink_to(to)
    assert isinstance(call("write_file", wanted, inside, rules), Ask)


@pytest.mark.parametrize("piece", [".$bcdefgh", "/$bcdefgh", "(", "[", "./", "a.$"])
def test_a_name_of_many_pieces_is_decided_at_once(piece: str, inside: ToolContext) -> None:
    """Ten were enough for hours."""
    wanted: Json = {"path": f"a{piece * 20}!.md", "content": ""}
    assert isinstance(call("write_file", wanted, inside, Rules(("write_file",))), Ask)


def test_a_rule_of_many_stars_is_decided_at_once(inside: ToolContext) -> None:
    """It took hours."""
    rule = literal(f'shell:foo "{"*" * 30}a{"*b" * 30}"')
    wanted: Json = {"path": f"src/{'ab_' * 60}.py", "content": ""}
    assert call("write_file", wanted, inside, Rules(("write_file", rule))) == Allow()


@pytest.mark.parametrize("command", ["make docs/x.json", "touch docs/x.json"])
def test_no_star_makes_settings_of_a_command_that_a_rule_allows(
    command: str, inside: ToolContext
) -> None:
    (inside.cwd / "docs").mkdir()
    wanted: Json = {"command": command}
    rules = f"shell:{command.split(maxsplit=1)[0]} *", "shell@docs:book"
    assert call("shell", wanted, inside, Rules(rules[:1])) == Allow()
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
             "AGENT[S].md", "[l]ink/s.md", "src/$x.$x.$x/v.md", "$x/tmp/v.md", "src/$x-rf.md",
             "$id.tsx", "posts.$slug.tsx", "in/$lang/a.tsx", "app/($lang).tsx",
             "src/AGENTS$x.md", "docs/a.$(make).md", "src/x-$(id).ts", "a.$@.md", "a.$1.md",
             "a-$[x].md", "a.$-x.md", "$x.nvim.lua", "src/$a.pdbrc.py", "a.$x(make).md",
             "a/$x.github/workflows/ci.md", "themes/t/config.yaml",
             "a/config.json",
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
        assert "of no kind that is known" in asked.title
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
    for value in ("conf", conf, f"{conf}/x.toml", os.pathsep.join(("/etc", conf))):
        given = replace(inside, environment={**inside.environment, variable: value})
        for name, found in (("conf/x.toml", Ask), ("b/x.toml", Allow)):
            wanted: Json = {"path": name, "content": ""}
            assert isinstance(call("write_file", wanted, given, Rules(("*", "edit"))), found)
    above = {**inside.environment, variable: str(inside.cwd.parent)}
    wanted = {"path": "b/x.toml", "content": ""}
    given = replace(inside, environment=above)
    assert call("write_file", wanted, given, Rules(("*", "edit"))) == Allow()
