"""Knows files that a rule for writing covers without naming them.

Others are asked about (docs/decisions/known-kinds.md).
"""

import re
import unicodedata
from collections.abc import Sequence

from sidecar.core.text.visible import as_found
from sidecar.tools.rules.tables.plain_paths import NAMES

ODD = "of no kind that is known to be source or text"
OBEYED = "settings or data, which a program may obey"
_ENDINGS = (
    # Programs, in the order of their families.
    "py pyi pyx pxd js jsx mjs cjs ts tsx mts cts vue svelte astro css scss sass less styl rs go "
    "c h cc cpp cxx c++ hh hpp hxx inl ipp cu cuh m mm java kt scala clj cljs cljc edn groovy cs "
    "fs fsi fsx vb swift rb php pl pm lua ex exs erl hrl hs lhs ml mli elm purs dart zig nim odin "
    "cr jl r f f77 f90 f95 for pas pp adb ads lisp lsp cl scm ss rkt el vim fnl tcl awk sed coffee "
    "sol move vy cairo wat wgsl glsl hlsl vert frag comp metal asm s sv svh v vhd vhdl lean agda "
    "idr coq thy sh bash zsh fish ps1 psm1 bat cmd sql prql graphql gql proto thrift avsc fbs "
    "capnp tf tfvars hcl rego cue bzl bazel star mk mak cmake gradle kts sbt nix dhall "
    # Pages and templates.
    "html htm xhtml twig j2 jinja jinja2 mustache hbs handlebars ejs erb haml slim pug liquid tmpl "
    "tpl gohtml templ "
    # Text and data.
    "md mdx markdown rst txt text adoc asciidoc org tex bib sty typ csv tsv jsonl ndjson geojson "
    "ipynb po pot ftl strings srt vtt svg puml plantuml mmd dot gv diff patch snap golden expected "
    "feature http rest log example sample template fixture"
)
_SETTINGS = "json jsonc json5 yaml yml toml ini cfg conf properties xml plist dist"
"""Formats of data, and of files obeyed by programs. PHP's tools, some started by git's hooks, obey
`TOOL.xml.dist` alone."""
_NAMES = (
    "makefile gnumakefile dockerfile containerfile rakefile gemfile brewfile pipfile "
    "vagrantfile podfile fastfile justfile cmakelists.txt build workspace go.mod go.sum go.work "
    "readme license licence copying copyright authors contributors maintainers "
    "changelog changes history news notice version todo install hacking "
    ".gitignore .prettierignore .stylelintignore .gitkeep .keep "
    ".env.example .env.sample .env.template "
    "package.json composer.json bower.json manifest.json "
    "nx.json turbo.json lerna.json tauri.conf.json "
    "pytest.ini environment.yml cargo.toml pom.xml build.xml "
    "pubspec.yaml docker-compose.yml docker-compose.yaml compose.yml compose.yaml "
    "openapi.yaml openapi.yml openapi.json swagger.yaml swagger.yml swagger.json schema.json "
    "data.json data.yaml data.yml data.xml"
)
_SETTINGS_THAT_LEAD_OUT = (
    "pyproject.toml ruff.toml setup.cfg tox.ini mypy.ini biome.json biome.jsonc pyrightconfig.json "
    "angular.json api-extractor.json hugo.toml hugo.yaml hugo.yml hugo.json mkdocs.yml mkdocs.yaml "
    "deno.json deno.jsonc config.toml config.yaml config.yml config.json _config.yml _config.yaml "
    "_config.toml book.toml _quarto.yml "
    "_quarto.yaml"
)
"""Settings, in any folder, by which programs that run nothing of a project's own put any text into
whatever files they include (isort and ruff, by `import-heading`), show any file (`extends`), or
write where they are told (mypy, tsc, makers of sites)."""
_COMPILERS = ("tsconfig", "jsconfig")
"""The same; the rest of such a name is free: `tsconfig.build.json`."""

_OF_PROGRAMS = ("bin", "sbin", "libexec", "exe", "script", "scripts", "hooks", "cgi-bin")
"""Folders where a name without an ending is a program's: `bin/install`."""
_PLAIN_NAMES = re.compile(NAMES)


def is_ordinary(path: str) -> bool:
    """Whether a file is ordinary by its name, relative to the workspace.

    Hidden names are not, except files that only list others; nor names with invisible letters,
    which some disks ignore.
    """
    *folders, name = _steps(path)
    if not _is_plain(path):
        return False
    if name in _KNOWN_NAMES and ("." in name or not folders or folders[-1] not in _OF_PROGRAMS):
        return True
    stem, _, ending = name.rpartition(".")
    return bool(stem) and not name.startswith(".") and ending in _KNOWN_ENDINGS


def are_covered(paths: Sequence[str], pattern: str = "") -> bool:
    """Whether files are ordinary, but for what a pattern spells: `in/*.json`, `in/@scope/*`."""
    folder = re.sub("[^/]*$", "", pattern.partition("*")[0])
    named = pattern.rpartition("*")[2].casefold()
    plain = (
        folder.replace("/@", "/") + one.removeprefix(folder) if one.startswith(folder) else one
        for one in paths
    )
    return all(
        is_ordinary(one)
        or (are_settings(one) and named.endswith(f".{_steps(one)[-1].rpartition('.')[2]}"))
        for one in plain
    )


def are_settings(path: str) -> bool:
    """Whether a file may be settings in a folder, but none that lead out."""
    *folders, name = _steps(path)
    stem, _, ending = name.rpartition(".")
    leads_out = name in _LEADING_OUT or (name.startswith(_COMPILERS) and ending == "json")
    # Hugo's, by which it shows any folder: `config/_default/module.toml`.
    leads_out |= "_default" in folders or "config" in folders[:-1]
    found = bool(folders and stem) and ending in _KNOWN_SETTINGS
    return found and not (leads_out or name.startswith(".")) and _is_plain(path)


def _is_plain(path: str) -> bool:
    if as_found(path) != path or any(folder.startswith(".") for folder in _steps(path)[:-1]):
        return False
    return bool(_PLAIN_NAMES.fullmatch(path.lstrip("/")))


def _steps(path: str) -> list[str]:
    return unicodedata.normalize("NFKC", path).casefold().split("/")


_KNOWN_ENDINGS = frozenset(_ENDINGS.split())
_KNOWN_SETTINGS = frozenset(_SETTINGS.split())
_KNOWN_NAMES = frozenset(_NAMES.split())
_LEADING_OUT = frozenset(_SETTINGS_THAT_LEAD_OUT.split())
