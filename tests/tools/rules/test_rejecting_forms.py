"""Rejecting rules, and commands that mean what these reject, in the odder forms of both.

Found by running generated commands in a real bash beside programs that only say that they ran.
"""

import pytest

from sidecar.tools.rules.permission import Allow
from sidecar.tools.tool_contract import ToolContext
from tests.tools.rules.decisions import decided

FORMS = [
    ("rm -rf*", "rm -fr x"),
    ("rm -rf*", "rm x -rf"),
    ("rm -rf*", "sudo rm -fr x"),
    ("git push --force*", "git push origin main --force"),
    ("git push --force*", "git push origin --force-with-lease"),
    ("sudo*", "retry sudo x"),
    ("sudo*", "make C='sudo x'"),
    ("git push*", "command retry git push"),
    ("git push*", "git bisect run retry 3 git push"),
    ("git push*", "timeout 1e1 git push"),
    ("git push *", "timeout 1e1 git push"),
    ("curl *", "timeout inf curl x"),
    ("rm -rf *", "timeout infinity rm -rf x"),
    ("git push *", "echo ${y#$(git push)}"),
    ("git push *", 'echo "${y%$(git push)}"'),
    ("git push *", "echo ${y,,$(git push)}"),
    ("git push *", "cat <<$x\n$(git push)\n$x"),
    ("curl -X DELETE *", "curl -XDELETE x"),
    ("curl -X DELETE *", "curl x -X DELETE"),
    ("rm -rf *", "retry rm -fr build"),
    ("rm -rf *", "retry rm -r -f build"),
    ("rm -rf *", "doit -- rm -fr x"),
    ("rm -rf *", "make C='rm -fr x'"),
    ("rm -rf *", "ansible all -a 'rm -fr x'"),
    ("rm -rf *", "python3 -c 'import os; os.system(\"rm -f -r x\")'"),
    ("rm -rf *", "eval \"\" 'rm -r -f x'"),
    ("curl *", "eval '\"curl\"'"),
    ("curl *", "bash -c -- '\"curl\"'"),
    ("curl *", "trap $'\"curl\"' EXIT"),
    ("git push *", '> "a b" <<E8 git push\nx\nE8'),
    ("git push *", "env -- <<E8 git push\nx\nE8"),
    ("curl *", "A=1 <<E8 curl x\nx\nE8"),
    ("git push *", "timeout 5 {fd}>l git push"),
    ("git push *", "time {fd}>l git push"),
    ("git push *", "nohup {fd}>l git push"),
    ("npm publish *", "set -e\n\\\n  npm publish"),
    ("npm publish *", "set -e\n\\\n  npm --prefix x publish"),
    ("git push *", "x=`env \\git push`"),
    ("git push *", "echo `git \\$'push'`"),
    ("npm publish *", 'x=`[ -n "\\$(npm publish)" ]`'),
    ("curl *", "sudo -- docker exec web curl x"),
    ("curl *", "env -i docker exec web curl x"),
    ("curl *", "xargs -n1 docker exec web curl x"),
    ("curl *", "nice -5 docker exec web curl x"),
    ("curl *", "timeout --foreground docker exec web curl x"),
    ("curl *", "stdbuf -oL docker run image curl x"),
    ("git push *", "bash <<END\ngit \\\\\n  push\nEND"),
    ("git push *", "2>&- git push"),
    ("rm -rf *", "git filter-branch --tree-filter 'rm -rf secrets' HEAD"),
    ("rm -rf *", "git filter-branch -f --index-filter 'ls; rm -rf y'"),
    ("rm -rf *", "git rebase -x'rm -rf x' main"),
    ("rm -rf *", "git difftool --extcmd='rm -rf x'"),
    ("rm -rf *", "git -c core.editor='rm -rf x' commit"),
    ("rm -rf *", "git grep -O'rm -rf' x"),
    ("git push *", "sed '1e git push' f"),
    ("git push *", "sed 's/.*/git push/e' f"),
    ("git push *", "tar --to-command='git push' -xf x"),
    ("git push *", "tar --checkpoint-action=exec='git push' -cf x y"),
    ("git push *", "sort --compress-program='git push' x"),
    ("git push *", "rg --pre 'git push' x"),
    ("git push *", "bat --pager 'git push' x"),
    ("git push *", "CC='git push' make"),
    ("rm -rf *", "GIT_EDITOR='rm -rf x' git commit"),
    ("curl *", "GIT_SSH_COMMAND='curl x' git fetch"),
    ("rm -rf *", "EDITOR='rm -rf x' crontab -e"),
    ("git push *", "PROMPT_COMMAND='git push' bash -i"),
    ("git push *", "LESSOPEN='|git push' less f"),
    ("git push *", 'bash <<EOF\necho "\\$(git push origin)"\nEOF'),
    ("git push *", 'ssh h <<EOF\nX="\\$(git -C app push)"\nEOF'),
    ("git push *", "f() { echo 'git push origin'; }; f | bash"),
    ("rm -rf *", "f() { bash; }; echo 'rm -f -r x' | f"),
    ("git push *", "alias g=git; g push"),
    ("curl *", "ssh h bash -c \"'sudo curl x'\""),
    ("rm -rf *", "ssh h sh -c \"'rm -fr x'\""),
    ("git push *", 'cat <<E; taskset 1 git push origin\nx\nE; #"'),
    ("curl *", "builtin eval '\"curl\"'"),
    (
        "docker compose down *",
        "docker compose --compatibility -f a -f b -f c -f d -f e -f f down -v",
    ),
    (
        "kubectl delete *",
        "kubectl --insecure -s s --token t --context c -n n --request-timeout 5s delete pod x",
    ),
    ("make deploy *", "make build deploy"),
    ("make deploy*", "make A=1 deploy"),
    ("curl *", "ip netns exec ns curl x"),
    ("curl *", "slogin h curl x"),
    ("curl *", "pdsh -w h curl x"),
    ("curl *", "heroku run -a app curl x"),
    ("curl *", "minikube ssh curl x"),
    ("curl *", "oc rsh p curl x"),
    ("curl *", "runc exec c curl x"),
    ("curl *", "machinectl shell me@ /usr/bin/curl x"),
    ("curl *", "cmake -E env A=1 curl x"),
    ("curl *", "docker run --entrypoint=curl image x"),
    ("curl *", "flatpak run --command=curl app"),
    ("curl *", "mysql -e 'system curl x'"),
    ("curl *", "sqlite3 x '.shell curl y'"),
    ("curl *", "tclsh <<< 'exec curl x'"),
    ("rm -rf ~*", "rm -fr ~/x"),
    ("rm -rf ~/*", "rm -r -f ~/x"),
    ("rm -rf $HOME*", "rm -fr $HOME/x"),
    ("curl *", "sudo retry curl x"),
    ("curl *", "nohup retry 3 curl x"),
    ("curl *", "timeout 5 retry curl x"),
    ("curl *", "env A=1 devbox run curl x"),
    ("curl *", "find . -exec retry curl {} \\;"),
    ("curl *", "git bisect run retry curl x"),
    ("curl *", "poetry run retry curl x"),
    ("curl *", "npx dotenv-cli -e x curl y"),
    ("curl *", "npx wait-on x curl"),
    ("git push *", "echo `git push` `git push`"),
    ("git push *", "echo `git push` `date`"),
    ("git push *", 'echo ${x##*"$(git push)"}'),
    ("git push *", 'echo "${x%%[$(git push)]}"'),
    ("git push *", "echo ${x/a$(git push)/b}"),
    ("git push *", "Git push"),
    ("git push *", "GIT push"),
    ("rm -rf *", "RM -rf x"),
    ("git push *", "retry Git push"),
    ("git push *", 'python -c \'run(["git", "-c", "a;b", "push"])\''),
    ("git push *", 'python -c \'run(["git", "-C", d & e, "push"])\''),
    ("git push *", 'python - <<\'E\'\nrun(["git",\n # it is\n "push"])\nE'),
    ("git push *", "node -e \"x('git \\\npush')\""),
    (
        "git push *",
        "sudo -u me -H sh -c '\n\ntimeout \"5\" sudo '\"'\"'git'\"'\"' -C . \"push\"\n\n'",
    ),
    ("curl *", 'ssh h <<EOF\nX="\\$(sudo curl x)"\nEOF'),
    ("curl *", 'bash <<EOF\nX="a \\`sudo curl x\\`"\nEOF'),
    ("rm -rf *", 'bash <<EOF\ndeclare -r X="\\$(env rm -f -r y)"\nEOF'),
    ("sudo *", "sudo -u me x"),
    ("git push *", "./find git push"),
    ("git push *", "bin/test git push"),
    ("vercel *", "pnpm vercel --prod"),
    ("vercel *", "yarn -s vercel --prod"),
    ("wrangler *", "pnpm -F api wrangler deploy"),
    ("prisma *", "yarn prisma migrate reset"),
    ("vercel *", "yarn workspace web vercel --prod"),
    ("pnpm *", "corepack pnpm install"),
    ("curl -X DELETE *", "curl -sXDELETE http://x/1"),
    ("curl -X POST *", "curl -sSXPOST http://x -d @f"),
    ("curl -X DELETE *", "curl -fsSLkX DELETE http://x"),
    ("curl -k *", "curl -fsSLkO https://x/y"),
    ("tar -xf *", "tar -xvzpPf x"),
    ("kubectl --context=prod *", "kubectl --context prod delete pod x"),
    ("aws --profile=prod *", "aws s3 rm s3://b --recursive --profile prod"),
    ("git -c http.sslVerify=false *", "git -C docs -c http.sslVerify=false pull"),
    ("git -c *", "git --no-pager -c a=b pull"),
    ("sudo rm *", "ls | sudo xargs rm"),
    ("sudo rm *", "sudo env A=1 rm f"),
    ("sudo rm *", "sudo timeout 5 rm f"),
    ("sudo rm *", "sudo sh -c 'rm f'"),
    ("sudo rm *", "sudo find . -name f -exec rm {} +"),
    ("git checkout -- *", "git checkout HEAD -- f"),
    ("git push *", "echo git push | retry"),
    ("sudo apt-get install *", "sudo DEBIAN_FRONTEND=noninteractive apt-get install -y x"),
    ("sudo apt *", "sudo sh -c 'apt update && apt install -y x'"),
    ("sudo apt *", "sudo env A=1 apt install y"),
    ("sudo apt *", "sudo nice apt x"),
    ("python3 *", "python3.12 x"),
    ("pip3 install *", "pip3.11 install x"),
    ("npx prisma migrate reset*", "npx prisma@5 migrate reset"),
    ("npx vercel *", "npx -y vercel@latest --prod"),
    ("git push *", "make -f - <<'EOF'\nall:\n\t@git push\nEOF"),
]


@pytest.mark.parametrize(("rule", "command"), FORMS)
def test_no_form_of_a_rule_or_a_command_runs_unasked(
    rule: str, command: str, plain: ToolContext
) -> None:
    assert decided(command, plain, "shell", reject=(f"shell:{rule}",)) != Allow()
    other = "shell:svn update *", "shell:hg push *"
    assert decided(command, plain, "shell", reject=other) == Allow()


@pytest.mark.parametrize(
    "command",
    [
        "command -v curl",
        "command -v sudo >/dev/null && echo yes",
        "if command -v curl >/dev/null; then ls; fi",
        "grep -c 'kubectl delete' x.sh",
        "find . -name '*.sh' | xargs grep -l 'git push'",
        "docker images | grep curl",
        "kubectl get pods | grep sudo",
        "cat << 'EOF' > notes.md\nnever `git push`\nEOF",
        "git -C sub commit -m 'never git push'",
        "yarn add curl",
        "pnpm add sudo",
        "find . -maxdepth 1 -name x",
        "cat > a.md <<EOF\nRun `make`, never push by git.\nEOF",
        "cat > a.md <<'EOF'\ngit push: never `$x`\nEOF",
        "git commit -m 'Say why `git push` is rejected'",
        "git add x && git commit -m \"$(cat <<'EOF'\nPush by git\n\ngit push is rejected\nEOF\n)\"",
        "CC='gcc -O2' make git",
        "grep -n 'alias push' git.md",
        "sed -n '/git push/p' a.md",
        "A=${B:-git} make; ls push",
    ],
)
def test_a_command_that_only_writes_of_another_is_not_asked_about(
    command: str, plain: ToolContext
) -> None:
    names = "git push", "rm -rf", "curl", "sudo", "npm publish", "kubectl delete", "find * -exec"
    reject = tuple(f"shell:{name} *" for name in names)
    assert decided(command, plain, "shell", reject=reject) == Allow()


@pytest.mark.parametrize("command", ["devbox run git push", "retry git push"])
def test_a_rule_for_an_unknown_program_covers_no_words_that_another_rejects(
    command: str, plain: ToolContext
) -> None:
    allow = f"shell:{command.split(maxsplit=1)[0]} *"
    assert decided(command, plain, allow, reject=("shell:svn *",)) == Allow()
    assert decided(command, plain, allow, reject=("shell:git push *",)) != Allow()
    assert decided("git commit -m 'git push'", plain, "shell:git commit *") == Allow()
