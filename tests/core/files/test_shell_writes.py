"""Which files a command writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.files.shell_writes import patched, writes


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("echo a > out.txt", ["edited out.txt"]),
        ("make >> log.txt 2>&1", ["edited log.txt"]),
        ("make 2> err.txt >/dev/null", ["edited err.txt"]),
        ("rm -f a 2>&1; echo done", ["deleted a"]),
        ("rm -f a 2>&1&& touch b", ["deleted a", "created b"]),
        ("rm -f a 2>&1|tee b", ["deleted a", "edited b"]),
        ("(rm -f a >&2) && touch b >&-;touch c", ["deleted a", "created b", "created c"]),
        ("cat > a.py <<'EOF'\nx > y\nrm b.py\nEOF\npython a.py", ["edited a.py"]),
        ("cat <<EOF > a.py\nit's\nEOF", ["edited a.py"]),
        ("sed -i 's/a/b/' src/a.py src/b.py", ["edited src/a.py", "edited src/b.py"]),
        ("sed -i '' -e 's/a/b/' a.py", ["edited a.py"]),
        ("sed -n '1,5p' a.py", []),
        ("perl -pi -e 's/a/b/' a.py", ["edited a.py"]),
        ("make | tee -a build.log", ["edited build.log"]),
        ("rm -rf old/ && git rm gone.py", ["deleted old", "deleted gone.py"]),
        ("git rm --cached kept.py", []),
        ("git mv a.py b.py", ["deleted a.py", "created b.py"]),
        ("git worktree remove --force ../w-a && ls", ["deleted ../w-a"]),
        ("git -C /w/main worktree remove ../a", ["deleted /w/a"]),
        ("git worktree add ../w-a; git worktree list; git worktree", []),
        ("mv a.py lib/", ["deleted a.py", "created lib/a.py"]),
        ("cp a.py b.py", ["created b.py"]),
        ("cp a.py /tmp/a.bak; make; cp /tmp/a.bak a.py", ["edited a.py"]),
        ("mv a.py.orig a.py", ["deleted a.py.orig", "edited a.py"]),
        ("cp b.bak lib/", ["created lib/b.bak"]),
        ("touch new.py", ["created new.py"]),
        ("cd src && echo > a.py; cd ..; echo > b.py", ["edited src/a.py", "edited b.py"]),
        ('cd "$dir" && echo > a.py', []),
        ("cd /tmp/x && touch a", []),
        ("echo 'a > b' # > c", []),
        ('echo "it is > b', []),
        ("rm *.pyc $FILES", []),
        ("git status && git diff > my.patch", ["edited my.patch"]),
        ("A=1 sudo touch /etc/thing", ["created /etc/thing"]),
        ("python3 -c \"open('a.txt', 'w').write('x')\"", ["edited a.txt"]),
        ("python <<EOF\nPath('b.txt').write_text('x')\nopen('c.txt')\nEOF", ["edited b.txt"]),
        ("diff <(sort a) <(sort b)", []),
        ("test 3 -gt 2 && ls", []),
    ],
)
def test_the_files_that_a_command_writes_are_found(command: str, files: list[str]) -> None:
    assert [f"{how} {path}" for path, how in writes(command)] == files


def test_relative_files_lie_in_the_folder_that_the_command_runs_in() -> None:
    assert writes("echo > ./src/../a.py", "/home/ada/app") == (("/home/ada/app/a.py", "edited"),)
    assert writes("echo > /etc/a", "/work") == (("/etc/a", "edited"),)


def test_words_of_a_broken_script_are_no_files() -> None:
    said = "that it's saved and nobody sees what it was before this one"
    command = f"sed -i 's|x|{said}|' a.py"
    assert {path for path, _ in writes(command)} <= {"a.py"}


PATCH = """*** Begin Patch
*** Add File: new.py
+x
*** Update File: old.py
*** Move to: moved.py
@@
-a
*** Update File: src/a b.py
*** Delete File: gone.py
*** End Patch
"""
FILES = (
    ("new.py", "created"),
    ("old.py", "deleted"),
    ("moved.py", "created"),
    ("src/a b.py", "edited"),
    ("gone.py", "deleted"),
)


def test_a_patch_names_its_files() -> None:
    assert patched(PATCH) == FILES
    assert writes(f"apply_patch <<'EOF'\n{PATCH}EOF") == FILES
    assert patched("--- a/x.py\n+++ b/x.py\n@@\n") == (("x.py", "edited"),)
    assert patched("no patch") == ()


@given(st.text(alphabet="ab/.'\"\\$ \n;|&<>()#-", max_size=80).map(lambda text: f"rm {text}"))
def test_whatever_is_run_its_files_are_named_on_one_line(command: str) -> None:
    for path, how in writes(command):
        assert path
        assert "\n" not in path
        assert how in ("created", "edited", "deleted")
