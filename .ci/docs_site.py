"""Joins the site of docs/: pages from the whole repository, links between them, navigation.

mkdocs builds one folder, but pages of docs/ lead to others: README.md, protocol/PROTOCOL.md, code.
Whatever a page links to is taken into the site, under `repository/`, so that no link leads out.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INDEX = DOCS / "index.md"
ELSEWHERE = "repository"
"""The folder of the site for what lies outside of docs/."""

LINK = re.compile(
    r"(?P<code>^ *(?P<fence>```+|~~~+).*?^ *(?P=fence) *$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    r"|(?<=\]\()(?P<to>[^()\s]+)(?=\))",
    re.M | re.S,
)
"""Code, in which nothing is a link, or the target of a link or a picture."""
ENTRY = re.compile(r"\[([^\[\]]+)\]\(([^()\s#]+\.md)\)")
"""A link of the index to a page as a whole."""
LOADED = re.compile(r'<(?:script|img|iframe|source)\b[^>]*?\bsrc="?(?:https?:)?//[^">\s]+')
SHEET = re.compile(r'<link\b(?=[^>]*rel="?(?:stylesheet|preconnect|icon))[^>]*?"(?:https?:)?//')


def targets(text: str) -> Iterator[str]:
    """Yield the targets of a page's links into the repository, without what follows `#`."""
    for match in LINK.finditer(text):
        to = match["to"]
        if to and not urlsplit(to).scheme and not to.startswith("#"):
            yield to.partition("#")[0]


@cache
def taken_in() -> Mapping[Path, str]:
    """Map what lies outside of docs/ and is linked to, at any remove, to its place in the site."""
    found: dict[Path, str] = {}
    ahead = sorted(DOCS.rglob("*.md"))
    while ahead:
        page = ahead.pop()
        for to in targets(page.read_text("utf-8")):
            path = (page.parent / to).resolve()
            if path.is_relative_to(DOCS) or path in found or not path.exists():
                continue
            found[path] = place(path)
            if path.suffix == ".md":
                ahead.append(path)
    return found


def place(path: Path) -> str:
    """Return the place in the site, relative to its root, of a file or folder of the repository."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    # What is hidden would be left out of the site.
    name = "/".join(part.lstrip(".") for part in path.relative_to(ROOT).parts)
    return f"{ELSEWHERE}/{name}" if path.suffix == ".md" else f"{ELSEWHERE}/{name}.md"


def text_of(path: Path) -> str:
    """Return the page, in Markdown, for a file of code or a folder."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        held = "\n".join(sorted(f"{one.name}{'/' * one.is_dir()}" for one in listed(path)))
    else:
        held = path.read_text("utf-8").rstrip("\n")
    kind = {".py": "python", ".json": "json"}.get(path.suffix, "text")
    about = "---\nhide: [navigation, toc]\nsearch: {exclude: true}\n---\n"
    return f"{about}# `{name}`\n\n~~~~~~{kind}\n{held}\n~~~~~~\n"


def listed(folder: Path) -> list[Path]:
    """Return a folder's entries, less what is hidden or made."""
    made = {"node_modules", "dist", "__pycache__"}
    return [one for one in folder.iterdir() if one.name[0] != "." and one.name not in made]


def relinked(text: str, page: Path) -> str:
    """Return a page's text with its links as the site needs them; those that lead nowhere stay."""
    here = Path(place(page)).parent

    def target(match: re.Match[str]) -> str:
        to = match["to"]
        if not to or urlsplit(to).scheme or to.startswith("#"):
            return match[0]
        name, mark, anchor = to.partition("#")
        path = (page.parent / name).resolve()
        if not path.exists():
            return match[0]
        return f"{relpath(place(path), here)}{mark}{anchor}"

    return LINK.sub(target, text)


Tab: TypeAlias = dict[str, list[str | dict[str, str]]]
"""A heading with its pages: places in the site, most of them under a title."""


def navigation(index: str) -> list[Tab]:
    """Read the site's navigation from the index: a tab for each heading, with the pages below."""
    before, *sections = re.split(r"^## +", index, flags=re.M)
    seen = {place(INDEX)}
    tabs: list[Tab] = [{"Home": [place(INDEX), *_entries(before, seen)]}]
    for section in sections:
        heading, _, body = section.partition("\n")
        tabs.append({heading.strip(): _entries(body, seen)})
    return [tab for tab in tabs if all(tab.values())]


def places(tabs: list[Tab]) -> list[str]:
    """Return the places of all pages in the navigation."""
    entries = [entry for tab in tabs for pages in tab.values() for entry in pages]
    return [at for one in entries for at in ([one] if isinstance(one, str) else one.values())]


def _entries(text: str, seen: set[str]) -> list[str | dict[str, str]]:
    found: list[str | dict[str, str]] = []
    for words, to in ENTRY.findall(text):
        at, title = place((DOCS / to).resolve()), words.replace("`", "")
        if at not in seen:
            seen.add(at)
            found.append({title[:1].upper() + title[1:]: at})
    return found


def loads(html: str) -> list[str]:
    """Return the places where a page of the site would load something from elsewhere."""
    return [match[0] for pattern in (LOADED, SHEET) for match in pattern.finditer(html)]


def on_config(config: "MkDocsConfig") -> None:
    """Take the navigation from the index."""
    config.nav = navigation(INDEX.read_text("utf-8"))


def on_files(files: "Files", config: "MkDocsConfig") -> None:
    """Add what lies outside of docs/."""
    from mkdocs.structure.files import File, InclusionLevel  # noqa: PLC0415 - not needed by tests

    shown = places(config.nav or [])
    for path, name in taken_in().items():
        if path.suffix == ".md":
            file = File.generated(config, name, abs_src_path=str(path))
        else:
            file = File.generated(config, name, content=text_of(path))
        if name not in shown:
            file.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(file)


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str | None:
    """Rewrite the links of a page."""
    path = {at: path for path, at in taken_in().items()}.get(
        page.file.src_uri, DOCS / page.file.src_uri
    )
    return relinked(markdown, path) if path.suffix == ".md" else None


def on_post_page(output: str, page: "Page", **_: object) -> None:
    """Refuse a page that would load something from elsewhere."""
    from mkdocs.exceptions import PluginError  # noqa: PLC0415 - not needed by tests

    if found := loads(output):
        raise PluginError(f"{page.file.src_uri} would load {found} from elsewhere")
