"""Learned facts in Markdown, by people and Sidecar.

People's text is kept byte for byte. Our bullets end in a comment that reveals edits.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from sidecar.core.conversation.fact import Fact, key_of
from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern
from sidecar.core.prompt.tokens import Count

FILES: Mapping[str, str] = {
    "constraint": "constraints.md",
    "decision": "decisions.md",
    "error": "errors.md",
    "dependency": "dependencies.md",
    "learning": "learnings.md",
}
"""File names by the kind of fact, the most important first."""
LARGEST = 32 * 1024
"""Bytes of one file, beyond which our oldest bullets give way."""
ABOUT = (
    "<!-- Sidecar adds here what is worth knowing in later sessions. Edit it as you like: "
    "what you write or change stays as it is, and what you delete does not come back. -->"
)
FRAME = (
    "<learned>\nWhat earlier sessions in this workspace found out, as people left it. It may be "
    "out of date: what you see for yourself counts more, and so does what the user says."
)
END = "</learned>"
_OUR_END = late_pattern(r"<(?=\s*/\s*learned)", re.I)

_CHECK = 8
_SUFFIX = late_pattern(rf"<!-- (\d{{4}}-\d\d-\d\d) (\S+) (\S+) ([0-9a-f]{{{_CHECK}}}) -->\s*\Z")
_MARKER = late_pattern(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")
_REMEDY = late_pattern(
    r"\b(?:fix(?:e[sd]|ing)?|solv(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)|help(?:s|ed)|work(?:s|ed)|"
    r"avoid(?:s|ed)?|instead|use|need(?:s|ed)?|must|requir(?:es|ed)|install(?:ed)?|set(?:ting)?|"
    r"run(?:ning)?|after|by|until|unless|because|cause[sd]?|due to)\b",
    re.I,
)
_SECRET = late_pattern(
    r"\b(?:sk|pk|rk)[-_](?:[\w]+[-_])*\w{16,}|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bAKIA\w{12,}|"
    r"\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN |"
    r"\b(?:password|passwd|secret|token|api[-_ ]?key)\b\s*(?:is|[:=])\s*[`'\"]?(?=\S*\d)\S{6,}|"
    r"://[^\s/:@]+:[^\s/@]+@",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Bullet:
    """A fact to write, with ISO `day`, session and turn of origin."""

    text: str
    day: str
    session_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class LearnedEntry:
    """A bullet or paragraph, with its lines (`end` exclusive).

    `day`, `session_id`: empty for people's entries; `ours`: unchanged since Sidecar wrote it.
    """

    text: str
    first: int
    end: int
    day: str = ""
    session_id: str = ""
    ours: bool = False
    bullet: bool = False


@dataclass(frozen=True, slots=True)
class MergedLearned:
    """The new text, and keys of bullets added."""

    text: str
    added: frozenset[str]


def is_worth_keeping(fact: Fact, sessions: int) -> bool:
    """Whether later sessions need a fact that so many `sessions` confirmed.

    A tool's words never become rules. Suspected secrets stay out: others may read the file.
    """
    if _SECRET.search(fact.content) or not key_of(fact.content):
        return False
    again = sessions > 1
    match fact.kind:
        case "learning":
            return again or fact.who == "user"
        case "constraint" | "decision":
            return fact.who == "user" or (again and fact.who == "model")
        case "error":
            return again and _REMEDY.search(fact.content) is not None
        case "dependency":
            return again
        case "file_state":
            return False
        case _:
            assert_never(fact.kind)


def parse(text: str) -> tuple[LearnedEntry, ...]:
    """Bullets and paragraphs in order, without headings and our notice."""
    lines = text.splitlines()
    found: list[LearnedEntry] = []
    first, fenced, comment, bullet = -1, False, False, False

    def close(end: int) -> None:
        nonlocal first
        if first >= 0:
            found.append(_entry(lines, first, end, bullet))
        first = -1

    for number, line in enumerate(lines):
        bare = line.removeprefix("\ufeff").strip()
        if fenced or comment:
            fenced = fenced and not bare.startswith("```")
            comment = comment and "-->" not in bare
        elif bare.startswith("```"):
            fenced, bullet = True, bullet and first >= 0
            first = number if first < 0 else first
        elif not bare or bare.startswith("#"):
            close(number)
        elif bare.startswith("<!--") and first < 0:
            comment = "-->" not in bare
        elif _MARKER.match(line) or (first < 0 and _MARKER.match(bare)):
            close(number)
            first, bullet = number, True
        elif first < 0:
            first, bullet = number, False
    close(len(lines))
    return tuple(found)


def _entry(lines: Sequence[str], first: int, end: int, bullet: bool) -> LearnedEntry:
    told = lines[first].removeprefix("\ufeff").strip()
    if bullet:
        told = told[_marker_length(told) :]
    text = "\n".join((told, *(line.rstrip() for line in lines[first + 1 : end])))
    start = text.rfind("<!--")
    suffix = None if start < 0 else _SUFFIX.match(text, start)
    if suffix is None:
        return LearnedEntry(text, first, end, bullet=bullet)
    text = text[:start].rstrip(" \t")
    day, session_id, _, check = suffix.groups()
    ours = bullet and end == first + 1 and check == key_of(text)[:_CHECK]
    return LearnedEntry(text, first, end, day, session_id, ours, bullet)


def _marker_length(line: str) -> int:
    found = _MARKER.match(line)
    return 0 if found is None else found.end()


def keys_in(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(key_of(entry.text) for text in texts for entry in parse(text))


def merge(text: str, kind: str, new: Sequence[Bullet], newline: str = "\n") -> MergedLearned:
    """Adds `new`, oldest first; beyond `LARGEST`, our oldest bullets go.

    Without room beside people's text, nothing is added.
    """
    lines = _with_room_for_more(text, kind, newline)
    mine = [(entry.day, entry.first) for entry in parse(text) if entry.ours]
    start = len(lines)
    lines += [_line(bullet) + newline for bullet in new]
    mine += [(bullet.day, start + number) for number, bullet in enumerate(new)]
    size = sum(map(_bytes, lines))
    gone: set[int] = set()
    for _, number in sorted(mine):
        if size <= LARGEST:
            break
        size -= _bytes(lines[number])
        gone.add(number)
    added = frozenset(
        key_of(bullet.text) for number, bullet in enumerate(new, start) if number not in gone
    )
    if size > LARGEST or not added:
        return MergedLearned(text, frozenset())
    return MergedLearned(
        "".join(ln for number, ln in enumerate(lines) if number not in gone), added
    )


def _with_room_for_more(text: str, kind: str, newline: str) -> list[str]:
    if not text.strip("\ufeff \t\r\n"):
        title = FILES[kind].removesuffix(".md").capitalize()
        return [line + newline for line in (f"# {title}", "", ABOUT, "")]
    lines = text.splitlines(keepends=True)
    if not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    entries = parse(text)
    follows = bool(entries) and entries[-1].bullet and entries[-1].end == len(lines)
    if lines[-1].strip() and not follows:
        lines.append(newline)
    return lines


def _line(bullet: Bullet) -> str:
    text = " ".join(bullet.text.split())
    source = f"{bullet.day} {bullet.session_id} {bullet.turn_id}"
    return f"- {text} <!-- {source} {key_of(text)[:_CHECK]} -->"


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "surrogateescape"))


def render(files: Mapping[str, str], count: Count, room: int, without: str = "") -> str:
    """Writes entries within `room` tokens; empty if nothing fits.

    `files`: text by kind. People's entries first, then the newest, without those that Sidecar wrote
    in the session `without`.
    """
    known = [kind for kind in FILES if kind in files]
    found = [
        (kind, entry)
        for kind in known
        for entry in parse(files[kind])
        if entry.text.strip() and not (entry.ours and entry.session_id == without)
    ]
    # Sorting is stable: the last key matters most.
    found.sort(key=lambda one: -one[1].first)
    found.sort(key=lambda one: one[1].day or "9999", reverse=True)
    left = room - count(FRAME) - count(END) - 2
    told: dict[str, list[str]] = {}
    for kind, entry in found:
        line = _told(entry.text)
        tokens = count(line) + 1
        tokens += 0 if kind in told else count(_heading(kind)) + 1
        if tokens <= left:
            left -= tokens
            told.setdefault(kind, []).append(line)
    if not told:
        return ""
    sections = ("\n".join((_heading(kind), *told[kind])) for kind in known if kind in told)
    return "\n".join((FRAME, *sections, END))


def _heading(kind: str) -> str:
    return f"{FILES[kind].removesuffix('.md').capitalize()}:"


def _told(text: str) -> str:
    first, *others = _OUR_END.sub(r"<\\", text).split("\n")
    indented = (line if line.startswith((" ", "\t")) else f"  {line}" for line in others)
    return "\n".join((f"- {first}", *indented))
