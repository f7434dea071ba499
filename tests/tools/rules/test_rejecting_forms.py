"""Rejecting rules, and commands that mean what these reject, in the odder forms of both.

Found by running generated commands in a real bash beside programs that only say that they ran.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.tools.rules.other_spellings import other_spellings
from sidecar.tools.rules.pattern import with_stars
from sidecar.tools.rules.permission import Allow, Ask, Refuse
from sidecar.tools.rules.rejecting import hits
from sidecar.tools.tool_contract import ToolContext
from tests.tools.rules.decisions import decided
from tests.tools.rules.rejected_forms import FORMS


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
        "git commit -m 'sudo make me a sandwich'",
        "uv run pytest | grep sudo",
        "docker logs x | grep curl",
        "npm test 2>&1 | grep -n 'git push' | head",
        "kubectl logs pod -c web",
        "cd curl && ls",
        "open curl.html",
        "bash scripts/curl.sh",
        "cat > a.md <<EOF\nRun `make`, never push by git.\nEOF",
        "cat > a.md <<'EOF'\ngit push: never `$x`\nEOF",
        "git commit -m 'Say why `git push` is rejected'",
        "git add x && git commit -m \"$(cat <<'EOF'\nPush by git\n\ngit push is rejected\nEOF\n)\"",
        "CC='gcc -O2' make git",
        "grep -n 'alias push' git.md",
        "sed -n '/git push/p' a.md",
        "A=${B:-git} make; ls push",
        "find . -name '*.md' -print0 | xargs -0 grep -l curl",
        "git ls-files -z | xargs -0 -n1 rg -l curl",
        "env -i grep -l curl x",
        "time -p grep -l curl x",
        "stdbuf -oL grep -l curl x",
        "cd bin && npm ci && cd .. && ./gradlew build",
        "./build.sh && cd bin && ls",
        "npm run publish",
        "npm run curl",
        "grep -rn 'ssh prod' scripts",
        "git commit -m 'no more ssh prod'",
        "cat > x.md <<'EOF'\nuse ssh and prod\nEOF",
        "git checkout prod; ssh dev uptime",
        "ssh prod2 ls",
        "ls scripts/x.sh && sh tests/run.sh",
        "git fetch && npm install --force",
        "kubectl get pods && gh cache delete x",
        "git fetch && echo --hard x",
        "git push-all origin fix/main",
    ],
)
def test_a_command_that_only_writes_of_another_is_not_asked_about(
    command: str, plain: ToolContext
) -> None:
    names = "git push", "rm -rf", "curl", "sudo", "npm publish", "kubectl delete", "find * -exec"
    names = (*names, "cp", "ssh prod", "apt", "sh scripts/x.sh")
    names = (*names, "git push * --force", "kubectl * delete", "git * --hard")
    reject = (*(f"shell:{name} *" for name in names), "shell:bin/*")
    assert decided(command, plain, "shell", reject=reject) == Allow()


@pytest.mark.parametrize("command", ["devbox run git push", "retry git push"])
def test_a_rule_for_an_unknown_program_covers_no_words_that_another_rejects(
    command: str, plain: ToolContext
) -> None:
    allow = f"shell:{command.split(maxsplit=1)[0]} *"
    assert decided(command, plain, allow, reject=("shell:svn *",)) == Allow()
    assert decided(command, plain, allow, reject=("shell:git push *",)) != Allow()
    assert decided("git commit -m 'git push'", plain, "shell:git commit *") == Allow()


@pytest.mark.parametrize(
    "rule", ['git "" *', 'git -x "" *', '"" *', "'' push", '* "" *', "--", "-- *", "="]
)
def test_a_rule_of_odd_words_breaks_no_decision(rule: str, plain: ToolContext) -> None:
    for command in ("ls", "git push", 'git "" x', "sudo git '' push", "retry git push", "''", "="):
        decided(command, plain, "shell", reject=(f"shell:{rule}",))


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("npm run *:prod", "npm run deploy:prod"),
        ("npm run *:prod", "npm run deploy:prod && ls"),
        ("cat *.env", "cat prod.env"),
        ("cat *.env", "cat .env > x"),
        ("git push * main", "git push origin main"),
        ("git push * main", "ls; git push origin main 2>&1 | tail"),
        ("git push origin *main", "git push origin HEAD:main"),
        ("docker * prune", "docker system prune"),
        ("make *-prod", "make deploy-prod"),
        ("cp * /etc", "cp a /etc"),
        ("rm * src", "rm -rf src"),
        ("git checkout * .", "git checkout HEAD ."),
        ("curl*evil.com", "curl https://evil.com"),
        ("git*main", "git push origin main"),
        ("sudo * main", "sudo git push origin main"),
        ("make *-prod", "make deploy-prod lint"),
        ("make *-prod", "make deploy-prod V=1"),
        ("cat *.env", "cat .env README.md"),
        ("git push * main", "git push origin main dev"),
        ("*:prod", "npm run deploy:prod"),
        ("*deploy.sh", "deploy.sh"),
        ("*production*", "make production"),
    ],
)
def test_a_rule_with_a_star_within_rejects_the_plainest_form(
    rule: str, command: str, plain: ToolContext
) -> None:
    assert isinstance(decided(command, plain, "shell", reject=(f"shell:{rule}",)), Refuse)


WORDS = ("git", "npm", "make", "push", "run", "origin", "main", "deploy:prod", "a.env", "x")


@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5), st.data())
def test_a_rule_of_a_commands_words_and_stars_rejects_it(
    words: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(1, len(words) - 1))
    word = words[at]
    parts = st.sampled_from(["*", f"{word[0]}*", f"*{word[-1]}"])
    rule = " ".join((*words[:at], data.draw(parts), *words[at + 1 :]))
    command = " ".join(words)
    assert hits(with_stars(rule), other_spellings(command, tuple(words)))


def test_a_command_of_a_thousand_commands_is_asked_about_at_once(plain: ToolContext) -> None:
    """It took half a minute: each was looked at beside all before."""
    command = ("exec <(a) " * 1000)[:9992]
    assert isinstance(decided(command, plain, "shell", reject=("shell:git push *",)), Ask)


@pytest.mark.parametrize(
    "command",
    [
        'cargo watch -s "make deploy-prod"',
        'foo "make deploy-prod"',
        "python -c \"import os; os.system('make deploy-prod')\"",
        "git -c alias.d='!make deploy-prod' d",
    ],
)
def test_a_star_before_a_dash_is_part_of_a_word(command: str, plain: ToolContext) -> None:
    assert isinstance(decided(command, plain, "shell", reject=("shell:make *-prod",)), Ask)
