"""Files that calls name in many ways, told in one."""

import pytest

from sidecar.core.sights.spelling import spellings


@pytest.mark.parametrize(
    ("root", "paths", "told"),
    [
        ("/w", ["/w/src/a.py", "b.py", "./c.py", "/w2/d"], ["src/a.py", "b.py", "c.py", "/w2/d"]),
        ("", ["/w/src/a.py", "src/a.py", "c/b.py"], ["/w/src/a.py", "/w/src/a.py", "c/b.py"]),
        ("", ["/a/s/x.py", "/b/s/x.py", "s/x.py"], ["/a/s/x.py", "/b/s/x.py", "s/x.py"]),
        (
            "",
            ["/w/web/lib/x.js", "web/lib/new.js", "lib/no.js"],
            ["/w/web/lib/x.js", "/w/web/lib/new.js", "lib/no.js"],
        ),
        ("", [r"D:\a.js", r"D:\b.js", "d:/c.js", "/d/d.js"], [rf"D:\{n}.js" for n in "abcd"]),
        ("", ["D:/w/a.js", "D:/w/b.js", r"D:\w\c.js"], ["D:/w/a.js", "D:/w/b.js", "D:/w/c.js"]),
        (r"D:\w", [r"D:\w\src\a.js", "/d/w/b.js", "c.js"], ["src/a.js", "b.js", "c.js"]),
        ("", ["/d/w/a", "~/b", r"odd\name"], ["/d/w/a", "~/b", r"odd\name"]),
    ],
)  # fmt: skip
def test_each_file_has_one_spelling(root: str, paths: list[str], told: list[str]) -> None:
    assert list(spellings(paths, root).values()) == told
