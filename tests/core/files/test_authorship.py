"""Which changes a command answers for by its own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.files.authorship import Intent, vouched
from sidecar.core.files.tree import TreeChange, TreeEntry

FILE = TreeEntry(0o100644, "b2:1", 1)
ROOT = "/home/ada/app"


def answers(command: str, *paths: str, folder: str = "", deleted: bool = False) -> list[str]:
    """Give those of some paths for which a command answers where they were changed."""
    covers = vouched([Intent(command, f"{ROOT}/{folder}".rstrip("/"))], ROOT)
    new = None if deleted else FILE._replace(hash="b2:2")
    return [path for path in paths if covers(TreeChange(path.encode(), FILE, new))]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("echo x > a.txt", "a.txt"),
        ("sleep 1; echo x >> sub/a.txt", "sub/a.txt"),
        (f"echo x > {ROOT}/a.txt", "a.txt"),
        ("cd sub && echo x > a.txt", "sub/a.txt"),
        ("sed -i s/a/b/ src/a.py src/b.py", "src/b.py"),
        ("sed -i s/a/b/ *.py", "a.py"),
        ("for f in *.txt; do echo x > $f; done", "a.txt"),
        ('for f in a b; do echo x > "$f.txt"; done', "b.txt"),
        ("for n in $(seq 9); do echo $n > many/$n; done", "many/7"),
        ("grep -rl foo src | xargs sed -i s/foo/bar/", "src/deep/a.py"),
        ("find . -name '*.py' -exec sed -i s/a/b/ {} +", "src/a.py"),
        ("git ls-files '*.ts' | while read f; do sed -i s/a/b/ \"$f\"; done", "src/a.ts"),
        ("sed -i s/a/b/ $(git ls-files '*.py')", "src/a.py"),
        ("touch {a,b}.txt", "b.txt"),
        (r"echo 1 > $'b\377.txt'", "b1.txt"),
        ("black src tests/test_a.py", "src/deep/a.py"),
        ("npx prettier --write src/a.ts", "src/a.ts"),
        ("uv run ruff format sidecar", "sidecar/a.py"),
        ("gofmt -w main.go", "main.go"),
        ("chmod 600 run.sh", "run.sh"),
        ("ln -sfn there link", "link"),
        ("mv main.py moved.py", "moved.py"),
        ("mv a.py lib", "lib/a.py"),
        ("cp -r one two", "two/deep/a.py"),
        ("git checkout -- a.py", "a.py"),
        ("git restore a.py", "a.py"),
        ("curl -o a.json http://x", "a.json"),
        ("npm install lodash", "package-lock.json"),
        ("bash -c 'echo x > a.txt'", "a.txt"),
        ("python3 -c \"p='a.py'; s=open(p).read(); open(p,'w').write(s)\"", "a.py"),
        ("python3 - <<'EOF'\np = 'src/a.py'\nopen(p, 'w').write('x')\nEOF", "src/a.py"),
        ("node -e \"require('fs').writeFileSync('a.json', '{}')\"", "a.json"),
        ("patch -p1 <<'EOF'\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF", "a.py"),
        ("echo x > odd*.txt", "odd\udcff.txt".encode("utf-8", "surrogateescape").decode("latin-1")),
    ],
)
def test_what_a_command_says_that_it_writes_is_its(command: str, path: str) -> None:
    assert answers(command, path) == [path]
    assert answers(command, "notes.md", "other/notes.md") == []


@pytest.mark.parametrize(
    "command",
    [
        "",
        "sleep 5",
        "make",
        "npm test",
        "npm run format",
        "python gen.py notes.md",
        "pytest tests/test_a.py notes.md 2>&1 | tee log.txt",
        "cat notes.md > /tmp/x; sleep 3",
        "cp notes.md /tmp/backup; sleep 3",
        "grep -n x notes.md > out.txt",
        "sed -n 1,5p notes.md",
        "black --check notes.md",
        "prettier notes.md",
        "python -c \"print(open('notes.md').read())\"",
        "git diff notes.md; git status",
        "pytest notes.md > $LOG",
        "mkdir -p build && pytest",
        "rm *",
        "sed -i s/a/b/ *",
        "black .",
        "find . -name notes.md -exec cat {} +",
        "cat notes.md | xargs echo",
        "cd .. && echo x > notes.md",
        "rm -f notes.md; sleep 3",
        "echo 'notes.md",
        "cat > gen.py <<'EOF'\nopen('notes.md', 'w')\nEOF",
        "cat > my.diff <<'EOF'\n--- a/notes.md\n+++ b/notes.md\nEOF",
        "sed -i s/a/b/ $(git ls-files src) && pytest notes.md",
        "while read line; do echo $line; done < notes.md",
    ],
)
def test_a_command_answers_for_nothing_else(command: str) -> None:
    assert answers(command, "notes.md", "tests/test_a.py", "build/notes.md") == []


def test_what_is_removed_is_removed_and_not_written() -> None:
    assert answers("rm -rf old notes.md", "old/a/b", "notes.md", deleted=True) == [
        "old/a/b",
        "notes.md",
    ]
    assert answers("mv a.py b.py", "a.py", "b.py", deleted=True) == ["a.py", "b.py"]
    assert answers("mv a.py b.py", "a.py", "b.py") == ["b.py"]


def test_relative_names_lie_where_the_command_runs() -> None:
    assert answers("echo x > a.txt", "a.txt", "sub/a.txt", folder="sub") == ["sub/a.txt"]


def test_a_tool_answers_for_what_its_input_names_or_for_all_if_it_edits() -> None:
    change = TreeChange(b"src/a.py", FILE, None)
    assert vouched([Intent(names=("src/a.py", "a sentence"))], ROOT)(change)
    assert vouched([Intent(names=(f"{ROOT}/src/a.py",))], ROOT)(change)
    assert not vouched([Intent(names=(".", "/", "", "src/b.py"))], ROOT)(change)
    # What is longer than any path is not looked at: this would take minutes.
    assert not vouched([Intent(names=("$(" * 500_000,))], ROOT)(change)
    assert vouched([Intent(edits=True)], ROOT)(change)
    assert not vouched([], ROOT)(change)


@given(st.text(alphabet=" \n'\"$`(){}<>|&;*./=-abcdfiorsx", max_size=60))
def test_any_text_is_read(command: str) -> None:
    answers(command, "a.py", "sub/b.py")
