"""Checks what a release says of itself, and writes where its repository is.

`python3 .ci/release.py version` prints the version, which all places name alike, or fails;
`… tag v1.2.3` fails unless the tag is of that version and the changelog has it;
`… set 1.2.3` has all places name that version;
`… notes` prints the changelog's part of the version;
`… stamp https://github.com/OWNER/REPOSITORY` writes that address into what the checkout publishes,
and has the READMEs that registries show link there: no file names it before, as a fork has another.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from posixpath import join, normpath

ROOT = Path(__file__).resolve().parent.parent
VERSION = r"(\d+\.\d+\.\d+)"
PLACES = (
    ("pyproject.toml", rf'^version = "{VERSION}"$'),
    ("pyproject.toml", rf'"sidecard-client=={VERSION}"'),
    ("clients/python/pyproject.toml", rf'^version = "{VERSION}"$'),
    ("sidecar/__init__.py", rf'^__version__ = "{VERSION}"$'),
    ("clients/typescript/package.json", rf'^  "version": "{VERSION}"'),
    ("clients/typescript/package-lock.json", rf'^  "version": "{VERSION}"'),
    ("clients/typescript/package-lock.json", rf'^      "version": "{VERSION}"'),
    ("editors/vscode/package.json", rf'^  "version": "{VERSION}"'),
    ("editors/vscode/package-lock.json", rf'^  "version": "{VERSION}"'),
    ("editors/vscode/package-lock.json", rf'^      "version": "{VERSION}"'),
    ("editors/emacs/sidecar.el", rf"^;; Version: {VERSION}$"),
    (".ci/registries/acp/agent.json", rf'"version": "{VERSION}"'),
    (".ci/registries/acp/agent.json", rf'"sidecard=={VERSION}"'),
    (".ci/registries/sidecar.nvim.rockspec", rf'^version = "{VERSION}-1"$'),
    (".ci/registries/sidecar.nvim.rockspec", rf'tag = "v{VERSION}"'),
)
"""Files, and what in each is first found to be the version."""
SHOWN = ("README.md", "clients/python/README.md", "clients/typescript/README.md")
"""Pages that registries show, where a link into the repository leads nowhere."""
LINK = re.compile(r"(!?)(\[[^]]*\]\()(?!https?:|#)([^)#\s]+)")
PACKAGES = ("clients/typescript", "editors/vscode")


def versions(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each place and the version that it names, empty where it names none."""
    for file, pattern in PLACES:
        found = re.search(pattern, (root / file).read_text("utf-8"), re.M)
        yield f"{file}: {pattern}", found[1] if found else ""


def version(root: Path = ROOT) -> str:
    """Give the version; raises ValueError with the places if they differ."""
    named = dict(versions(root))
    first, *others = {*named.values()}
    if others or not first:
        raise ValueError("\n".join(f"{one or 'none'}\t{place}" for place, one in named.items()))
    return first


def set_version(new: str, root: Path = ROOT) -> None:
    """Have all places name another version; raises ValueError if it is none."""
    if not re.fullmatch(VERSION, new):
        raise ValueError(f"{new} is no version: three numbers and dots")
    for file, pattern in PLACES:
        path = root / file
        text = path.read_text("utf-8")
        if found := re.search(pattern, text, re.M):
            path.write_text(text[: found.start(1)] + new + text[found.end(1) :], "utf-8")


def notes(root: Path = ROOT) -> str:
    """Give the version's part of the changelog; raises ValueError if there is none."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## {re.escape(version(root))}\b.*\n((?:(?!## ).*\n)*)", text, re.M)
    if not found or not found[1].strip():
        raise ValueError(f"CHANGELOG.md has nothing under ## {version(root)}")
    return found[1].strip()


def check_tag(tag: str, root: Path = ROOT) -> None:
    """Raises ValueError unless the tag is of the version that all places name."""
    if tag != f"v{version(root)}":
        raise ValueError(f"the tag {tag} is not of version {version(root)}")
    notes(root)


def linked(text: str, folder: str, address: str, tag: str) -> str:
    """Have a page's links into the repository lead to the address, at a tag."""

    def whole(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}{found[2]}{address}/{kind}/{tag}/{normpath(join(folder, found[3]))}"

    return LINK.sub(whole, text)


def stamp(address: str, root: Path = ROOT) -> None:
    """Write the address of the repository into all that is published; raises ValueError."""
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", address):
        raise ValueError(f"{address} is no address of a repository")
    tag = f"v{version(root)}"
    for file in SHOWN:
        _written(
            root / file, lambda text, file=file: linked(text, str(Path(file).parent), address, tag)
        )
    urls = {"Repository": "", "Issues": "/issues", "Changelog": f"/blob/{tag}/CHANGELOG.md"}
    lines = "".join(f'{name} = "{address}{path}"\n' for name, path in urls.items())
    for file in ("pyproject.toml", "clients/python/pyproject.toml"):
        _written(
            root / file,
            lambda text: re.sub(r"^(Homepage = .*\n)", rf"\g<1>{lines}", text, flags=re.M),
        )
    for folder in PACKAGES:
        about = {"type": "git", "url": f"git+{address}.git", "directory": folder}
        _written(
            root / folder / "package.json", lambda text, about=about: _with(text, repository=about)
        )
    _written(root / ".ci/registries/acp/agent.json", lambda text: _with(text, repository=address))
    owner, name = address.rsplit("/", 2)[1:]
    for file in ("melpa/sidecar", "sidecar.nvim.rockspec"):
        path = root / ".ci/registries" / file
        _written(path, lambda text: text.replace("OWNER", owner).replace("REPOSITORY", name))


def _with(text: str, **more: object) -> str:
    return json.dumps(json.loads(text) | more, indent=2, ensure_ascii=False) + "\n"


def _written(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text("utf-8")), "utf-8")


def main(words: list[str]) -> int:
    """Do what is asked; 1 with the reason where something is not as it must be."""
    try:
        match words:
            case ["version"]:
                sys.stdout.write(f"{version()}\n")
            case ["notes"]:
                sys.stdout.write(f"{notes()}\n")
            case ["tag", tag]:
                check_tag(tag)
            case ["set", new]:
                set_version(new)
            case ["stamp", address]:
                stamp(address)
            case _:
                sys.stderr.write(__doc__ or "")
                return 2
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
