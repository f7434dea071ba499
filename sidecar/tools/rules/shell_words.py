"""Tells a command's words as its shell will see them, if known without running.

The grammar finds borders. Accepts words that every shell reads alike: letters, digits, a few signs,
and quotes without anything to replace.
"""

import re
import sys
import time
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import dropwhile, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

STAR = "\ue000"
"""A rule's `*` among its words. Not printable, so in no command."""
LONGEST = 10_000
"""Longest command examined, in characters."""
MOST_TIME = 0.1
"""Seconds for the grammar, which takes the square of what is no command's length."""
MOST_PIPES = 1000
MOST_NAMED = 4
"""Words behind a program's name that options are left out between."""
MOST_READINGS = 60
BLANK = " \t\n"
"""Characters skipped by a shell around a command."""
_AS_THEY_ARE = sys.getfilesystemencoding() == "utf-8"
"""Whether each letter reaches a shell as itself."""

_BARE = re.compile(r"[A-Za-z0-9_@%+=:,./^~-]+")
# A tilde is a home folder at a word's beginning and, to bash, after `:` and `=`.
_HOME = re.compile(r"(?:^|[:=])~")
_PROGRAM = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_.+/-]*")
# In double quotes a backslash before one of these is a backslash, to every shell.
_REPLACED = re.compile(r"[$`]|\\(?![|()\[\]{}.*+?^<>/=:,A-Za-z0-9-])")
_ESCAPED = {r"\(": "(", r"\)": ")", r"\!": "!", "!": "!"}
"""Words of find's own, and their spelling without quotes."""

_BORDERS = re.compile(r"\$\(|[;&|(){}`\n]+")
_QUOTES = re.compile(r"[\"'\\]")
_ASSIGNS = re.compile(r"\w+\+?=")
_LINE_ENDS = re.compile(rb"(?<!\\)\n")
_KEPT = re.compile(r"""\\(["$`\\])""")
_ESCAPES = re.compile(r"\\([nrt \"'`\\])")
_BACKSLASH = re.compile(r"\\(?:\n|(.))")
_WHITE = {"n": "\n", "r": "\r", "t": "\t"}
_PASSED_OVER = re.compile(r"variable_assignment|\w+_redirect|comment")
_NAMED = re.compile(r"[~\\]?[\w./+-]+")
"""`~/bin/x`, and a name behind a backslash."""
_PLAIN = (
    "program list pipeline subshell compound_statement negated_command command command_name word "
    "number concatenation string string_content raw_string simple_expansion variable_name "
    "special_variable_name variable_assignment command_substitution redirected_statement "
    "file_redirect file_descriptor heredoc_redirect heredoc_start heredoc_body heredoc_content "
    "heredoc_end comment for_statement while_statement do_group if_statement elif_clause "
    "else_clause test_command test_operator binary_expression unary_expression "
    "declaration_command unset_command"
)
_PLAIN_NODES = frozenset(_PLAIN.split())
_ODD = re.compile(
    r"\b(?:coproc|alias)\b|\{\w+\}[<>]|[<>]&-|(?:^|[\n;&|({])[ \t]*\\\n"
    r"|<<(?!<)(?![ \t]*['\"]\w+['\"]{BEHIND})(?![ \t]*\w+{BEHIND}[^$`\\]*\Z)".replace(
        "{BEHIND}", r"[ \t]*(?:>>?[ \t]*[\w./-]+[ \t]*)?(?:\n|\))"
    )
)
"""Texts that the grammar may read otherwise than bash, other names of programs included: of
here-documents those in which something is replaced, and with words behind their mark."""
_EXPANSION = re.compile(r"\$\{\w+\}")
_HANDING = ("pipeline", "process_substitution", "heredoc_redirect", "herestring_redirect")
_LISTED = (
    "program list for_statement c_style_for_statement while_statement do_group if_statement "
    "elif_clause else_clause compound_statement subshell"
)
_LISTS = frozenset(_LISTED.split())
"""Nodes whose commands take nothing of one another."""
_BUILT_IN = ("declaration_command", "unset_command", "test_command")
"""Commands known to the grammar, as `export A=1`."""


def trimmed(command: str) -> str:
    """Strips blanks, except behind a backslash or with a here-document, where they count."""
    begun = command.lstrip(BLANK)
    bare = begun if "<<" in begun else begun.rstrip(BLANK)
    return begun[: len(bare) + 1] if bare.endswith("\\") else bare


def plain_words(command: str, *, rule: bool = False) -> tuple[str, ...]:
    """Returns the words of exactly one simple command of literal words, else `()`.

    Refuses variables, globs, braces, tildes, most escapes, assignments, redirections,
    substitutions, comments, operators, control characters, syntax errors. `rule` allows `STAR`.
    """
    text = command.strip(BLANK)
    if not text or len(text) > LONGEST:
        return ()
    # Old encodings write `¥` or `‾` for the backslash or tilde seen by a shell.
    if not (_AS_THEY_ARE or text.replace(STAR, "").isascii()):
        return ()
    if not all(c.isprintable() or c == "\t" or (rule and c == STAR) for c in text):
        return ()
    node = _command(text)
    if node is None:
        return ()
    data, end = text.encode(), 0
    words: list[str] = []
    for child in node.children:
        gap = data[end : child.start_byte]
        word = _word(child, rule)
        if word is None or gap.strip(b" \t") or (words and not gap):
            return ()
        words.append(word)
        end = child.end_byte
    if end != len(data) or not _PROGRAM.fullmatch(words[0].replace(STAR, "_")):
        return ()
    return tuple(words)


def simple_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """Returns each command's words, nested too, the last first.

    Leaves out redirections and assignments. Of an ungrammatical text, or one over `LONGEST`
    characters (perhaps quadratic time), returns all between two shell signs.
    """
    root = _parsed(command)
    found: list[tuple[str, ...]] = []
    if root is None or root.has_error:
        found += (_roughly(one) for one in _BORDERS.split(command.replace("\\\n", "")))
    found += _commands(root)
    return tuple(one for one in found if one)


def handing_on(command: str) -> Iterator[tuple[tuple[tuple[str, ...], ...], bool]]:
    """Yields commands that may take each other's text, by statement, in order.

    They do by a pipe, `<(…)`, `>(…)` or a here-document, whose text is a nameless command's word.
    The flag: only by pipes, so each takes the text before.
    """
    left = [_parsed(command)]
    while left:
        node = left.pop()
        if node and node.type in _LISTS:
            left += node.named_children
        elif kinds := {one.type for one in _nodes(node)} & {*_HANDING}:
            fed = (("", text) for _, text in _fed_texts(node, command))
            found = [one for one in _commands(node) if one]
            yield (*reversed(found), *fed), kinds == {"pipeline"}


def _commands(root: "Node | None") -> Iterator[tuple[str, ...]]:
    for node in _nodes(root):
        if node.type in ("command", "redirected_statement"):
            yield from _by_lines(node)
        elif node.type in _BUILT_IN:
            yield from (tuple(line.split()) for line in (node.text or b"").decode().splitlines())
            if node.type == "declaration_command":
                yield tuple(map(_unquoted, node.children))


def hides_programs(command: str) -> bool:
    """Whether a program's name, or a possible place of one, is unreadable."""
    root = _parsed(command)
    if root is None or root.has_error:
        return True
    names = (node for node in _nodes(root) if node.type == "command_name")
    if any(_word(one, False) is None and not _is_named(one) for one in names):
        return True
    lines = (line for node in _nodes(root) if _holds_lines(node) for line in _by_lines(node))
    return any(line[:1] and line[0].startswith(("$", "`")) for line in lines)


def is_plain(command: str) -> bool:
    """Whether, as far as known, the grammar reads as bash does."""
    root = _parsed(command)
    if root is None or root.has_error or _ODD.search(command):
        return False
    return all(map(_is_plain, _nodes(root))) and not any(map(_holds_lines, _nodes(root)))


def _is_plain(node: "Node") -> bool:
    if node.type == "expansion":
        return bool(_EXPANSION.fullmatch((node.text or b"").decode()))
    return node.type in _PLAIN_NODES if node.is_named else node.type != "`"


def _is_named(name: "Node") -> bool:
    return bool(_NAMED.fullmatch((name.text or b"").decode()))


def _nodes(root: "Node | None") -> Iterator["Node"]:
    left = [root] if root is not None else []
    while left:
        node = left.pop()
        left += node.children
        yield node


def _words_of(node: "Node") -> Iterator["Node"]:
    """Yields a command's words, also behind a redirection, as in `git 2>/dev/null push`."""
    if node.type == "redirected_statement":
        last = node.child_by_field_name("body")
        while last is not None and last.type != "command" and last.named_children:
            last = last.named_children[-1]
        yield from _words_of(last) if last is not None and last.type == "command" else ()
    for child in node.children:
        if child.type == "file_redirect":
            yield from child.children_by_field_name("destination")[1:]
        elif node.type == "command" and not _PASSED_OVER.fullmatch(child.type):
            yield child


def _by_lines(node: "Node") -> Iterator[tuple[str, ...]]:
    """Yields a command's words line by line.

    The grammar wrongly joins a line that begins with a backslash, or follows a pipeline of three,
    to the line before.
    """
    found: list[list[str]] = [[]]
    data, end = node.text or b"", 0
    for word in _words_of(node):
        text = _word(word, False) or _unquoted(word)
        beginning = word.children[0] if word.type == "concatenation" else word
        gap = data[end : word.start_byte - node.start_byte] if end else b""
        if (beginning.type == "word" and text.startswith("\n")) or _LINE_ENDS.search(gap):
            found.append([])
        # Behind a quote the grammar ends a word at a backslash.
        before = found[-1].pop() if end and not gap and found[-1] else ""
        found[-1].append(before + text.strip("\n"))
        end = word.end_byte - node.start_byte
    first, *lines = found
    yield tuple(first)
    yield from (tuple(dropwhile(_ASSIGNS.match, line)) for line in lines)


def _holds_lines(node: "Node") -> bool:
    return node.type == "command" and len(list(_by_lines(node))) > 1


def without_options(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yields words with and without options between the first, as in `docker compose -f x down`.

    The next word may be an option's value or not: both are yielded, up to `MOST_READINGS`.
    """
    return islice(_without_options((), words), MOST_READINGS)


def _without_options(kept: tuple[str, ...], words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield kept + words
    if not words or len(kept) >= MOST_NAMED:
        return
    option, *rest = words
    # A variable may hold options.
    if not option.startswith(("-", "+", "$")):
        yield from _without_options((*kept, option), tuple(rest))
        return
    # Values first: many options that have some leave no room for other readings.
    if rest and "=" not in option:
        yield from _without_options(kept, tuple(rest[1:]))
    yield from _without_options(kept, tuple(rest))


def assigned(command: str) -> Iterator[tuple[str, str]]:
    for node in _nodes(_parsed(command)):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "variable_assignment" and name and value:
            yield (name.text or b"").decode(), _unquoted(value)


def fed_texts(command: str) -> Iterator[tuple[frozenset[str], str]]:
    yield from _fed_texts(_parsed(command), command)


def _fed_texts(root: "Node | None", command: str) -> Iterator[tuple[frozenset[str], str]]:
    data = command.encode("utf-8", "replace")
    for node in _nodes(root):
        if node.type in ("heredoc_redirect", "herestring_redirect"):
            around = node
            while around.parent and around.type not in ("redirected_statement", "command"):
                around = around.parent
            start, end = _fed(node, data)
            readers = data[around.start_byte : start] + b" " + data[end : around.end_byte]
            is_string = node.type == "herestring_redirect"
            text = _unquoted(node.children[-1]) if is_string else data[start:end].decode()
            yield frozenset(readers.decode("utf-8", "replace").split()), text


def _fed(node: "Node", data: bytes) -> tuple[int, int]:
    if node.type == "herestring_redirect":
        return node.children[-1].start_byte, node.end_byte
    line = data.find(b"\n", node.start_byte, node.end_byte)
    return (line + 1 or node.end_byte), node.end_byte


def _roughly(text: str) -> tuple[str, ...]:
    words = _QUOTES.sub("", text).split()
    return tuple(dropwhile(_ASSIGNS.match, words))


def unescaped(text: str) -> str:
    return _ESCAPES.sub(lambda one: _WHITE.get(one[1], one[1]), text)


def _unquoted(node: "Node") -> str:
    text = (node.text or b"").decode()
    match node.type:
        case "string":
            return _KEPT.sub(r"\1", text[1:-1])
        case "raw_string":
            return text[1:-1]
        case "concatenation":
            return "".join(map(_unquoted, node.named_children))
        case "command_name":
            return _unquoted(node.children[0])
        case "variable_assignment":
            *name, value = node.children
            return "".join((one.text or b"").decode() for one in name) + _unquoted(value)
        case "ansi_c_string":
            return unescaped(text[2:-1])
        case "word":
            return _BACKSLASH.sub(r"\1", text)
        case _:
            return text


def _command(text: str) -> "Node | None":
    root = _parsed(text)
    if root is None or root.has_error or len(root.children) != 1:
        return None
    return root.children[0] if root.children[0].type == "command" else None


def _parsed(text: str) -> "Node | None":
    """Parses a command; `None` if long to read, or without a descriptor to load the parser."""
    # Of `?|` without end the grammar tells no progress.
    if len(text) > LONGEST or text.count("|") > MOST_PIPES:
        return None
    try:
        tree = _tree(text)
    except (UnicodeEncodeError, ImportError, OSError):
        return None
    return tree and tree.root_node


@lru_cache(maxsize=16)
def _tree(text: str) -> "Tree | None":
    from tree_sitter import Parser  # noqa: PLC0415 - most of a daemon's life needs none

    parser, data = Parser(_language()), text.encode()
    end = time.thread_time() + MOST_TIME
    try:
        return parser.parse(
            lambda at, _: data[at:], progress_callback=lambda _, __: time.thread_time() > end
        )
    except ValueError:
        return None


@cache
def _language() -> "Language":
    import tree_sitter_bash  # noqa: PLC0415 - as above
    from tree_sitter import Language  # noqa: PLC0415 - as above

    return Language(tree_sitter_bash.language())


def _word(node: "Node", rule: bool) -> str | None:
    text = (node.text or b"").decode()
    match node.type:
        case "command_name":
            return _word(node.children[0], rule) if len(node.children) == 1 else None
        case "word" | "number":
            if text in _ESCAPED:
                return _ESCAPED[text]
            bare = text.replace(STAR, "_") if rule else text
            return text if _BARE.fullmatch(bare) and not _HOME.search(text) else None
        case "raw_string":
            return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else None
        case "string":
            quoted = len(text) > 1 and text[0] == text[-1] == '"' and not _REPLACED.search(text)
            return text[1:-1] if quoted else None
        case "concatenation":
            return _joined(node, rule)
        case _:
            return None


def _joined(node: "Node", rule: bool) -> str | None:
    pieces: list[str] = []
    end = node.start_byte
    for child in node.children:
        piece = _word(child, rule)
        if piece is None or child.start_byte != end:
            return None
        pieces.append(piece)
        end = child.end_byte
    return "".join(pieces) if end == node.end_byte else None
