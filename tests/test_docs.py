"""Links of the documents lead somewhere, and every page of docs/ is found from its index."""

import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
INDEX = DOCS / "index.md"
MOST_LINES = 150
"""Lines of a page, so that it can be read at one go."""
README_LINES = 80

FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.M)
ELSEWHERE = re.compile(r"[a-z]+:")
"""How a link begins that leads out of the repository."""


def pages() -> list[Path]:
    """Give every Markdown file of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )
    named = {ROOT / line for line in done.stdout.splitlines()}
    return sorted(path for path in named if path.is_file())


@cache
def links(page: Path) -> tuple[tuple[Path, str], ...]:
    """Give what a page links to in the repository: files or folders, and the part after `#`."""
    text = CODE.sub("", FENCE.sub("", page.read_text("utf-8")))
    found = (link for link in LINK.findall(text) if not ELSEWHERE.match(link))
    cut = (link.partition("#") for link in found)
    return tuple(((page.parent / path).resolve() if path else page, to) for path, _, to in cut)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Give the anchors that GitHub makes of a page's headings."""
    seen: Counter[str] = Counter()
    made = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text("utf-8"))):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        made.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(made)


def problems(page: Path) -> list[str]:
    """Say of each link that leads nowhere where it wanted to go."""
    lost = []
    for path, anchor in links(page):
        if not path.exists():
            lost.append(f"there is no {path}")
        elif anchor and anchor not in anchors(path):
            lost.append(f"{path} has no #{anchor}")
    return lost


def test_there_are_pages() -> None:
    assert len(pages()) > 20
    assert INDEX in pages()


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert problems(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two` (three)\n\n## Again\n\n## Again\n\n"
        "[a](#one-two-three) [b](page.md#again-1) [c](https://example.org/x.md) `[d](none.md)`\n\n"
        "```\n[e](none.md)\n# Fenced\n```\n\n[`f`](gone.md) [g](#fenced) ![h](../gone.png)\n",
        "utf-8",
    )
    assert problems(page) == [
        f"there is no {tmp_path / 'gone.md'}",
        f"{page} has no #fenced",
        f"there is no {tmp_path.parent / 'gone.png'}",
    ]


def test_every_page_is_found_from_the_index() -> None:
    reached, ahead = {INDEX}, [INDEX]
    while ahead:
        new = {path for path, _ in links(ahead.pop())} & set(pages()) - reached
        reached |= new
        ahead += new
    assert [page for page in pages() if page.is_relative_to(DOCS) and page not in reached] == []


def test_a_page_is_short() -> None:
    own = [page for page in pages() if page.is_relative_to(DOCS)]
    printed = re.compile("^````.*?^````", re.M | re.S)
    texts = {page.relative_to(ROOT): printed.sub("", page.read_text("utf-8")) for page in own}
    counts = {page: text.count("\n") for page, text in texts.items()}
    assert {page: count for page, count in counts.items() if count > MOST_LINES} == {}
    assert (ROOT / "README.md").read_text("utf-8").count("\n") <= README_LINES


PLACE = re.compile(r"`((?:[a-z_]+/)+[a-z_]*)(?:\.\w+)?`")
METHODS = {
    one["name"] for one in json.loads((ROOT / "protocol/methods.json").read_bytes())["methods"]
}


@pytest.mark.parametrize(
    "page", [ROOT / "ARCHITECTURE.md", *(DOCS / "inside").glob("*.md")], ids=lambda p: p.name
)
def test_every_place_in_the_code_is_there(page: Path) -> None:
    named = set(PLACE.findall(page.read_text("utf-8"))) - METHODS
    around = (ROOT, ROOT / "sidecar", ROOT / "sidecar/workspace")
    lost = [
        place
        for place in sorted(named)
        if not any((at / f"{place}{end}").exists() for at in around for end in ("", ".py", ".md"))
    ]
    assert named
    assert lost == []


PLUGIN_FILE = re.compile(r"`([\w-]+\.(?:ts|lua|el))`")


def test_every_file_of_a_plugin_is_there() -> None:
    named = PLUGIN_FILE.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    roots = (ROOT / "editors" / path for path in ("vscode/src", "vscode/media", "neovim", "emacs"))
    there = {path.name for root in roots for path in root.rglob("*") if path.is_file()}
    assert len(named) > 20
    assert sorted(set(named) - there) == []


MOST_TERMS = 60
TERM = re.compile(r"^\| ([a-z]+) \| [^|\n]+[^|\n.] \| (`[^|\n]+`) \|$")


def terms() -> list[tuple[str, list[str]]]:
    """Give each word of the glossary with the places where it is said to live."""
    rows = (DOCS / "glossary.md").read_text("utf-8").partition("|---|---|---|\n")[2].splitlines()
    found = [TERM.match(row) for row in rows]
    assert None not in found, [row for row, match in zip(rows, found, strict=True) if not match]
    return [(match[1], re.findall(r"`([^`]+)`", match[2])) for match in found if match]


def is_there(place: str) -> bool:
    """Whether `core/parts.Message` or the like is a module or folder, and has that name."""
    module, _, name = place.partition(".")
    path = ROOT / "sidecar" / module
    if not name:
        return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
    return path.with_suffix(".py").is_file() and name in names_in(path.with_suffix(".py"))


def names_in(path: Path) -> Iterator[str]:
    """Give what a module defines itself, not what it imports."""
    for node in ast.parse(path.read_bytes()).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def test_the_glossary_says_where_each_word_lives() -> None:
    assert [(word, at) for word, places in terms() for at in places if not is_there(at)] == []
    assert not is_there("core/parts.JsonText")
    assert not is_there("core/nothing")


def test_the_glossary_is_short_and_has_each_word_once() -> None:
    words = [word for word, _ in terms()]
    assert words == sorted(set(words))
    assert 30 < len(words) <= MOST_TERMS


DECISION = re.compile(
    r"# .+\n\n2\d{3}-\d\d-\d\d\n\n[^#]+"
    r"## Turned down\n\n[^#]+## Why\n\n[^#]+(#[^#]+)?## Where\n\n.+\n"
)


def test_a_decision_says_when_what_was_turned_down_and_why() -> None:
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    assert decisions
    shapes = {page.stem: DECISION.fullmatch(page.read_text("utf-8")) for page in decisions}
    assert [name for name, match in shapes.items() if not match] == []


MOST_BYTES = 200_000
"""Of a picture, so that a page is there at once."""


def test_a_picture_is_small_and_shown() -> None:
    pictures = set((DOCS / "images").iterdir())
    shown = {path for page in pages() for path, _ in links(page)}
    assert pictures
    assert pictures <= shown
    assert [path.name for path in pictures if path.stat().st_size > MOST_BYTES] == []
