"""The texts of the VS Code extension are there in each language, and no other."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.editors.installed import EXTENSION

LANGUAGES = ("de", "zh-cn")
CALL = re.compile(r"\bl10n\.t\(\s*(\"(?:[^\"\\]|\\.)*\")?")
PLACE = re.compile(r"\{\d+\}")
KEY = re.compile(r"%([\w.]+)%")
LINK = re.compile(r"\]\((command:[^)]*)\)|(`[^`]+`)")
BESIDES = {"media/vscode.ts"}
"""Where the pages' own is made."""


def calls(text: str) -> Iterator[str | None]:
    """Give each text that is asked for; none for what is no literal."""
    for found in CALL.finditer(text):
        yield (
            json.loads(found[1]) if found[1] and re.match(r"\s*[,)]", text[found.end() :]) else None
        )


def asked() -> dict[str, set[str]]:
    """Give the texts that the sources ask for, by their files."""
    files = [*EXTENSION.glob("src/**/*.ts"), *EXTENSION.glob("media/*.ts")]
    named = {str(path.relative_to(EXTENSION)): path for path in files}
    texts = {name: list(calls(named[name].read_text("utf-8"))) for name in named.keys() - BESIDES}
    assert [name for name, found in texts.items() if None in found] == []
    return {name: {text for text in found if text} for name, found in texts.items()}


def read(name: str) -> dict[str, Any]:
    found = json.loads((EXTENSION / name).read_text("utf-8"), object_pairs_hook=lambda pairs: pairs)
    twice = [key for key, number in Counter(key for key, _ in found).items() if number > 1]
    assert twice == []
    return dict(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_is_there_with_its_places(language: str) -> None:
    bundle = read(f"l10n/bundle.l10n.{language}.json")
    texts = set().union(*asked().values())
    assert len(texts) > 300
    assert texts - bundle.keys() == set(), "missing"
    assert bundle.keys() - texts == set(), "unused"
    for text, translated in bundle.items():
        assert sorted(PLACE.findall(translated)) == sorted(PLACE.findall(text)), text
        assert translated.strip(), text


def test_the_manifest_asks_for_what_there_is() -> None:
    manifest = (EXTENSION / "package.json").read_text("utf-8")
    assert set(KEY.findall(manifest)) == read("package.nls.json").keys()
    titles = [command["title"] for command in json.loads(manifest)["contributes"]["commands"]]
    assert [title for title in titles if not KEY.fullmatch(title)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_manifest_is_there_with_its_links_and_code(language: str) -> None:
    english, translated = read("package.nls.json"), read(f"package.nls.{language}.json")
    assert translated.keys() == english.keys()
    for key, text in english.items():
        assert LINK.findall(translated[key]) == LINK.findall(text), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tour_is_there(language: str) -> None:
    steps = {path.stem for path in EXTENSION.glob("walkthrough/*.md") if "." not in path.stem}
    translated = {path.name for path in EXTENSION.glob(f"walkthrough/*.nls.{language}.md")}
    assert translated == {f"{step}.nls.{language}.md" for step in steps}


def test_a_text_that_is_no_literal_is_found() -> None:
    assert list(calls('l10n.t("a") + l10n.t("b {0}", c)')) == ["a", "b {0}"]
    assert list(calls("l10n.t(text) l10n.t(`a`)")) == [None, None]
    assert list(calls('l10n.t("a" + b)')) == [None]
