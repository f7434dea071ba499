"""What a rule that rejects commands hits in the forms that people write, and what is asked."""

import pytest

from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools.rules.pattern import literal
from sidecar.tools.rules.permission import Allow, Ask, Refuse
from sidecar.tools.tool_contract import ToolContext
from tests.tools.rules.decisions import decided

PUSH = ToolSpec("mcp__github__push", "", {}, kind="execute", origin="mcp")


@pytest.mark.parametrize(
    "command",
    [
        "git -C sub push origin",
        "git --no-pager -c a=b push",
        "/usr/bin/git push",
        "\\git push",
        "sudo -u me git push",
        "env -u A B=1 git push",
        "time git push",
        "timeout -k 5 10s /usr/bin/git push",
        "xargs -n 1 git push",
        "sh -c 'git push'",
        'bash -lc "cd sub && sudo git push"',
        "eval git push",
        "find . -name x -exec git push ';'",
        'bash -c "for f in *.o; do git push \\"\\$f\\"; done"',
        'bash -c "cd $HOME/x && git push"',
        'bash -c "git commit -m \\"x\\" && git push"',
        "bash -c $'cd x && git push'",
        'eval "git push $x"',
        'find . -exec sh -c "git push $1" ;',
        "cat <<EOF\n${x:-it's}\nEOF\nA=1 git push",
        "strace git push",
        "uv run git push",
        "su me -c 'git push'",
        "> log git push",
        "git push < x > log",
        "if git -C sub push; then ls; fi",
        "echo 'no end; git push",
        "echo 'no end\nif git push; then",
        "hyperfine --warmup 3 'git push'",
        "concurrently ls 'git push'",
        "parallel ::: 'git push'",
        "env -S'git push'",
        "env --split-string='git push'",
        "bash <<EOF\ngit push\nEOF",
        "sudo bash -s <<'E' > log\ncd x && git push\nE",
        "cat <<E | sh\ngit push\nE",
        "bash <<'EOF'\n\\git push\nEOF",
        "bash <<< 'git push'",
        'if sh <<< "git push $x"; then ls; fi',
        "git submodule foreach git push",
        "git bisect run sudo git push",
        "git rebase -x 'git push' main",
        "git --attr-source HEAD push",
        "cd x\n\\git push",
        "export A=1\n\\git push",
        r"bash -c $'cd x\ngit push'",
        r"ssh h $'cd app\n\'git\' push'",
        r"bash <<< $'cd x\ngit push'",
        "echo 'git push' | sh",
        "echo 'git push' | command sh",
        "printf 'cd x\ngit\tpush\n' | ssh h bash -s",
        "(cat <<'E'\ngit push\nE\n) | at now",
        "bash < <(echo git push)",
        "cat a | tee >(sed 's/^/git push /' | xargs -L 1)",
        "ls; git remote | sed 's/^/git push /' | sh 2>&1 | tee log",
        "eval 'git\tpush'",
        'git $OPTIONS "${MORE[@]}" push',
        """bash <<< 'git -C '"'"'.'"'"' push'""",
        "env -S'git\tpush'",
        "sudo find . -exec git push {} +",
        "if timeout 5 git bisect run git push; then ls; fi",
        "nice git submodule foreach git push",
        "parallel 'git -C {} push' ::: a b",
        "watch 'git -C x push'",
        'eval "git -C $d push"',
        "git submodule foreach 'git -c a=b push'",
        "git rebase -x 'git -C x push' main",
        "eval 'timeout -k 5 60 find . -exec git push {} +'",
        "test -f x && git 2>/dev/null push",
        "if ! git 2>err push; then ls; fi",
        "true | git >f push",
        "git 2>/dev/null push",
        "nohup >log git push &",
        "sudo 2>/dev/null git push 2>&1",
        "time { git push; }",
        "! { A=1 git push; }",
        "coproc { git push; }",
        "cat <<A <<B\nx\nA\ny\nB\ngit \\\npush\n",
        "# no end of a text that is too long\n" + "echo x; " * 2000 + 'sudo "git" push',
    ],
)
def test_a_command_is_rejected_behind_what_runs_it(command: str, context: ToolContext) -> None:
    for rule in ("shell:git push *", "shell:git  'push'*"):
        assert isinstance(decided(command, context, "shell", reject=(rule,)), Refuse)
    assert not isinstance(decided(command, context, "shell", reject=("shell:push *",)), Refuse)


@pytest.mark.parametrize(
    "command",
    [
        "flock /tmp/l git push",
        "gcloud compute ssh vm --command='git push'",
        "cross-env A=1 git push",
        "op run -- git push",
        "direnv exec . git push",
        "sudo aws-vault exec me -- git push",
        "bundle exec git push",
        "npm exec -- git push",
        "pnpm -r exec git push",
        "yarn exec git push",
        "conda run -n x git push",
        "nix develop -c git push",
        "nix-shell --run 'git push'",
        "tox -e x -- git push",
        "sudo docker exec -it c git push",
        "docker compose exec web sh -c 'git push'",
        "docker run --rm image git push",
        "kubectl exec p -- git push",
        "ssh host git push",
        "ssh -T host <<'EOF'\ncd app\ngit push\nEOF",
        "sshpass -p x ssh host 'git push'",
        'timeout "$T" git push',
        "sudo $OPTIONS git push",
        "taskset 0x3 git push",
        "docker exec -i web <<< 'git push'",
        "git rebase --exec='git push' main",
        "ssh-agent git push",
        "mix cmd git push",
        "mix do compile, cmd git push",
        "brew bundle exec -- git push",
        "meson devenv -C build git push",
        "just --command git push",
        "chef exec git push",
        "npm explore lodash -- git push",
    ],
)
def test_a_command_is_rejected_wherever_its_runner_may_have_it(
    command: str, context: ToolContext
) -> None:
    found = decided(command, context, "shell", reject=("shell:git push *",))
    assert isinstance(found, Refuse)


@pytest.mark.parametrize(
    "command",
    ["sudo apt install git", "brew install git", "mix deps.get git", "just git",
     "grep -x git push", "echo git push", "find . -name 'git push'",
     "git log push", "git -C push log", "git commit -m 'no git push'", "bundle add git curl",
     "make && git log | grep 'git push' | wc -l", "grep 'git push' x | sort; make | tail",
     "make git\npush", "cd x && git commit -F - <<E\nnever git push\nE",
     "cat <<E > notes.md\ngit push\nE"],
)  # fmt: skip
def test_words_of_another_command_are_not_rejected(command: str, context: ToolContext) -> None:
    reject = ("shell:git push *", "shell:git")
    assert decided(command, context, "shell", reject=reject) == Allow()


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git push *", "cargo watch -s 'git push'"),
        ("git push *", "ansible all -a 'cd app && git -C sub push'"),
        ("git push *", "machinectl shell me@x /bin/git push"),
        ("git push *", "lxc-attach -n x -- git push"),
        ("git push *", "unheard-of sub git push"),
        ("git push *", """python -c 'import subprocess; subprocess.run(["git", "push"])'"""),
        ("git push *", "node -e 'execSync(`git push`)'"),
        ("git push *", "make release CMD='git push'"),
        ("git push *", "python - <<'E'\nimport os\nos.system('git push')\nE"),
        ("git push *", """python - <<'E'\nrun([\n    "git",\n    "push",\n])\nE"""),
        ("git push *", "make -f - <<'E'\nall:\n\tgit push\nE"),
        ("git push *", "command retry git push"),
        ("git push *", "git -c alias.x='!git push' x"),
        ("git push *", 'echo "${x:-`git push`}"'),
        ("git push *", "cat <<-EOF\n\t$(git push)\n\tEOF"),
        ("curl *", "retry -- curl x"),
        ("curl *", "unheard-of 3 curl x"),
        ("curl *", "unheard-of curl x"),
        ("curl *", """python -c 'run(["curl","x"])'"""),
        ("git push *", """find . -exec node -e 'execSync("git push")' ';'"""),
        ("git push *", "fd -H .git -x retry git push"),
        ("git push *", "git bisect run retry 3 git push"),
        ("git push *", "cargo watch -s'git push'"),
        ("git push *", "retry --cmd=git\\ push"),
        ("git push *", "retry \\git push"),
        ("git push *", "retry $HOME/bin/git push"),
        ("git push *", r"""python -c 'os.system("cd x\ngit push")'"""),
        ("git push *", r"""node -e 'execSync("\"git\" push")'"""),
        ("git push *", r"unheard-of $'x\ngit push'"),
        ("git push *", "(crontab -l; echo '* * * * * git push') | crontab -"),
        ("git push *", "cat <<'E' | python3 -\nimport os; os.system('git push')\nE"),
        ("curl *", "lxc-attach -n x -- curl x"),
        ("curl *", "cargo watch -s '/usr/bin/curl x'"),
        ("curl *", "perl -e 'system(\"curl x\")'"),
    ],
)
def test_words_that_a_program_may_run_are_asked_about(
    rule: str, command: str, plain: ToolContext
) -> None:
    found = decided(command, plain, "shell", reject=(f"shell:{rule}",))
    assert isinstance(found, Ask)
    assert f"shell:{rule}" in found.why
    exactly = f"shell:{literal(command)}"
    assert decided(command, plain, "shell", exactly, reject=(f"shell:{rule}",)) == Allow()
    assert decided(command, plain, "shell", reject=("shell:svn *", "shell:git pull *")) == Allow()


@pytest.mark.parametrize(
    ("rule", "command", "hit"),
    [
        ("npm publish *", "npm --prefix sub publish", True),
        ("rm -rf *", "rm -fr x", True),
        ("rm -rf *", "sudo rm x -r -vf", True),
        ("rm -rf *", "rm -r x", False),
        ("rm -rf *", "rm -r -- -f", False),
        ("git push --force *", "git -C x push origin main --force", True),
        ("git push --force *", "git push origin main", False),
        ("git push --force *", "git pull origin push --force", False),
        ("git branch -D *", "git branch x -qD", True),
        ("curl * -X DELETE *", "curl -XDELETE x", True),
        ("curl * -X DELETE *", "curl -X GET x", False),
        ("find * -delete *", "find . -depth -type l", False),
        ("./deploy.sh *", "sudo bash deploy.sh x", True),
        ("./deploy.sh *", "cd sub && ../deploy.sh", True),
        ("deploy.sh *", "source ./deploy.sh", True),
        ("/usr/bin/git push *", "git push", True),
        ("python *", "python3.11 x.py", True),
        ("curl *", "echo 'A=1 curl x' | sh", True),
        ("curl *", "echo curl x | bash", True),
        ("curl *", "printf '%s\\n' 'timeout 5 curl x' | sudo bash", True),
        ("curl *", "source <(echo 'sudo curl x')", True),
        ("curl *", "apt install curl wget", False),
        ("kubectl delete *", "sudo kubectl -n a --context=b delete pod c", True),
        ("cargo publish *", "cargo +nightly publish", True),
        ("terraform apply *", "terraform -chdir=sub apply -auto-approve", True),
        ("docker compose down *", "docker compose -f prod.yml --ansi never down -v", True),
        ("gh pr merge *", "gh pr -R o/r merge 1", True),
        ("npm run deploy *", "npm run -s deploy", True),
        ("git stash drop *", "git stash -q drop", True),
        (
            "gcloud compute instances delete *",
            "gcloud compute --project p instances delete x",
            True,
        ),
        ("git push *", "git.exe push", True),
        ("kubectl delete *", "kubectl --a z --b y --c x --d w -n v delete pod p", True),
        ("aws s3 rm *", "aws s3 cp rm s3://x", False),
        ("kubectl delete *", "kubectl get delete", False),
        ("npm publish *", "npm run publish", False),
        ("npm publish *", "npm -s run x publish", False),
    ],
)
def test_a_subcommand_is_rejected_behind_options(
    rule: str, command: str, hit: bool, context: ToolContext
) -> None:
    found = decided(command, context, "shell", reject=(f"shell:{rule}",))
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize("command", ["ls && export A=1", "ls; export A=1 B"])
def test_what_a_shell_has_built_in_is_rejected(command: str, context: ToolContext) -> None:
    found = decided(command, context, "shell", reject=("shell:export *",))
    assert isinstance(found, Refuse)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("$x push", False),
        ('"$GIT" push', False),
        ("sudo $x push", False),
        ("find . -exec $x ';'", False),
        ('git submodule foreach "$x"', False),
        ('time "$GIT" push', False),
        ("env A=1 ${x} push", False),
        ("timeout 5 $x push", False),
        ('sh -c "$x push"', False),
        ('eval "$x push"', False),
        ('su me -c "cd x && $x push"', False),
        ("bash <<'EOF'\n$x push\nEOF", False),
        ('sudo -u "$USER" make', True),
        ('env A="$B" make "$x"', True),
        ('docker run -v "$PWD:/x" image make', True),
        ('python -c "print(1)"', True),
        ('xargs grep "$x"', True),
        ("coproc { { git push; } > log; }", False),
        ("if true; then (", False),
        (f"docker run {'-e A=b ' * 16} image git push", False),
        ("time -p 2>&- git push", False),
        ("x" * 20_000, False),
        ("eval " * 400 + "make", False),
        ('ssh h "$X push"', False),
        ('echo "$X push" | bash', False),
        ('kubectl exec p -- sh -c "$CMD"', False),
        ("nice tee x <<'EOF'\n$x push\nEOF", True),
        ("cat > a.md <<EOF\nRun `make` then.\nEOF", True),
        ("cat <<EOF\na\n\t$(make)\nEOF", True),
        ('gh pr create --body "$(cat <<EOF\nRun `make`\nEOF\n)"', True),
        ("cat > a.md <<'EOF'\nRun `make` then.\nEOF", True),
        ("cat > a.md <<EOF\nRun it then.\nEOF", True),
        ("grep x <<< yes\necho $(date)", True),
        ("git status && make 2>&1 | tail", True),
        ("for i in 1 2; do echo $i; done", True),
        ("A=1 ~/bin/x; \\ls *.py > f", True),
        ("echo $(date)", True),
    ],
)
def test_what_hides_its_programs_is_asked_about_where_a_rule_rejects_some(
    command: str, shown: bool, plain: ToolContext
) -> None:
    found = decided(command, plain, "shell", reject=("shell:git push *",))
    assert isinstance(found, Allow if shown else Ask)
    assert isinstance(found, Allow) or "which programs" in found.why
    assert decided(command, plain, "shell", reject=("write_file:x",)) == Allow()


def test_a_rule_that_names_the_very_command_covers_what_hides_its_programs(
    plain: ToolContext,
) -> None:
    allow = "shell", "shell:$PYTHON x.py"
    assert decided("$PYTHON x.py", plain, *allow, reject=("shell:git push *",)) == Allow()
