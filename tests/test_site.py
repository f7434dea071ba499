"""The site of docs/ has every page, leads out of itself nowhere, and loads nothing."""

import importlib.util
import posixpath
import re
from types import ModuleType

import pytest

from tests.test_docs import DOCS, INDEX, ROOT, pages


@pytest.fixture(scope="module")
def site() -> ModuleType:
    found = importlib.util.spec_from_file_location("docs_site", ROOT / ".ci/docs_site.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_links_lead_to_places_of_the_site(site: ModuleType) -> None:
    text = (
        "[a](../README.md#what-it-costs) [b](index.md) [c](#here) [d](https://example.org/x.md)\n"
        "[e](../.github/SECURITY.md) [f](../sidecar/core/parts.py) ![g](../docs/index.md)\n"
        "`[h](../README.md)`\n\n```\n[i](../README.md)\n```\n\n[j](../nowhere.md)\n"
    )
    assert site.relinked(text, DOCS / "tutorial.md") == (
        "[a](repository/README.md#what-it-costs) [b](index.md) [c](#here) "
        "[d](https://example.org/x.md)\n"
        "[e](repository/github/SECURITY.md) [f](repository/sidecar/core/parts.py.md) "
        "![g](index.md)\n"
        "`[h](../README.md)`\n\n```\n[i](../README.md)\n```\n\n[j](../nowhere.md)\n"
    )
    back = site.relinked("[a](docs/tutorial.md) [b](sidecar/core/parts.py)", ROOT / "README.md")
    assert back == "[a](../tutorial.md) [b](sidecar/core/parts.py.md)"


def test_every_page_links_within_the_site_alone(site: ModuleType) -> None:
    here = {path for path in pages() if path.is_relative_to(DOCS)}
    held = {site.place(path) for path in here | set(site.taken_in())}
    lost = []
    for path in [*here, *(path for path in site.taken_in() if path.suffix == ".md")]:
        text, at = path.read_text("utf-8"), posixpath.dirname(site.place(path))
        for to in filter(None, site.targets(site.relinked(text, path))):
            place = posixpath.normpath(posixpath.join(at, to))
            if place not in held and not (DOCS / place).is_file():
                lost.append((path, to))
    assert lost == []


def test_the_index_is_the_navigation(site: ModuleType) -> None:
    assert site.navigation(
        "# Docs\n\n[The README](../README.md)\n\n## Learn\n\n- [`demo`, or so](tutorial.md)\n"
        "- [again](tutorial.md)\n\n## Empty\n\n[out](https://example.org)\n"
    ) == [
        {"Home": ["index.md", {"The README": "repository/README.md"}]},
        {"Learn": [{"Demo, or so": "tutorial.md"}]},
    ]
    shown = site.places(site.navigation(INDEX.read_text("utf-8")))
    own = {path.relative_to(DOCS).as_posix() for path in pages() if path.is_relative_to(DOCS)}
    assert own <= set(shown)
    assert len(shown) == len(set(shown))


def test_what_would_be_loaded_from_elsewhere_is_found(site: ModuleType) -> None:
    assert (
        site.loads('<a href="https://example.org">x</a><img src="x.png"><link href="x.css">') == []
    )
    for tag in (
        '<script async src="https://example.org/x.js">',
        "<img src=//example.org/x.png>",
        '<link rel="stylesheet" href="https://example.org/x.css">',
        '<link href="https://example.org" rel="preconnect">',
    ):
        assert len(site.loads(f"<p>{tag}</p>")) == 1, tag


def test_code_becomes_a_page(site: ModuleType) -> None:
    text = site.text_of(ROOT / "sidecar/core/parts.py")
    assert "# `sidecar/core/parts.py`" in text
    assert "~~~~~~python\n" in text
    assert "\nerror-32700.json\n" in site.text_of(ROOT / "protocol/golden")


def test_ci_builds_the_site_strictly() -> None:
    ci = (ROOT / ".ci/run").read_text("utf-8")
    assert re.search(r"^uv run --group docs mkdocs build --strict -f \.ci/mkdocs\.yml", ci, re.M)
    assert (ROOT / ".ci/mkdocs.yml").is_file()
