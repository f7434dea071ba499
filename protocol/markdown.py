"""The form for people: `PROTOCOL.md`."""

from collections.abc import Iterable
from pathlib import Path

from protocol.errors import ERRORS, ErrorCode
from protocol.methods import COMMON_ERRORS, METHODS, PROTOCOL_VERSION, Direction, Method
from protocol.shapes import FAMILIES, Alias, Closed, OneOf, Open, Shape, Type, declarations
from protocol.typescript import expression

_FIRST_LINE = "<!-- GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT -->"


def render() -> str:
    """Give the page's text."""
    introduction = Path(__file__).resolve().with_name("introduction.md")
    transcript = introduction.with_name("transcript.md")
    parts = [
        f"{_FIRST_LINE}\n\n# Protocol, version {PROTOCOL_VERSION}\n",
        introduction.read_text(encoding="utf-8"),
        "## A session, from beginning to end\n",
        "Said by a real daemon with the model `offline`, which needs no key; `→` is the client. "
        "Large values, figures and the ends of long texts are `…`, pieces of a text are put "
        "together, and `jsonrpc` and news that come when they may (`context/meterChanged`, "
        "`daemon/statusChanged`, `session/changed` of each step) are left out.\n",
        transcript.read_text(encoding="utf-8"),
        "## Client to daemon\n",
        _methods("clientToDaemon"),
        "## Daemon to client\n",
        "Beside these the daemon sends LSP's own `window/showMessageRequest`, and "
        "`workspace/applyEdit` where the client announced it.\n",
        _methods("daemonToClient"),
        "## Errors\n",
        "Every error has `data.kind` and a message that says what to do. Any request can be "
        f"answered with {_codes(COMMON_ERRORS)}.\n",
        _errors(ERRORS.values()),
        "## Types\n",
    ]
    for family in FAMILIES:
        doc = (family.__doc__ or "").strip().splitlines()[0]
        parts.append(f"### {doc.rstrip('.')}\n")
        parts += [_declaration(declared) for declared in declarations(family)]
    return "\n".join(parts)


def _methods(direction: Direction) -> str:
    chosen = [m for m in METHODS.values() if m.direction == direction]
    return _table(
        ("method", "kind", "params", "result", "errors", "what it is for"),
        (_method(m) for m in chosen),
    )


def _method(method: Method) -> tuple[str, ...]:
    result = "" if method.result is None else _link(method.result.__name__)
    doc = method.doc if method.available else f"{method.doc} *Not built yet: -32601.*"
    params = _link(method.params.__name__)
    return (f"`{method.name}`", method.kind, params, result, _codes(method.errors), doc)


def _errors(errors: Iterable[ErrorCode]) -> str:
    rows = (
        (
            str(error.code),
            ", ".join(f"`{kind}`" for kind in error.kinds),
            error.meaning,
            error.remedy,
            ", ".join(f"`{name}`" for name in ("kind", *error.data)),
        )
        for error in errors
    )
    return _table(("code", "kind", "meaning", "what to do", "data"), rows)


def _declaration(declared: Type | Alias) -> str:
    match declared:
        case Alias(name, shape):
            return f"#### {name}\n\n{_alias(shape)}\n"
        case Type(name, doc, tag, fields):
            lines = [f"#### {name}\n", " ".join(doc.split()) + "\n"]
            rows = [(f"`{f.name}`", _code(f.shape), "" if f.required else "yes") for f in fields]
            if tag is not None:
                rows.insert(0, (f"`{tag[0]}`", f'`"{tag[1]}"`', ""))
            if rows:
                lines.append(_table(("field", "type", "optional"), rows))
            return "\n".join(lines)


def _alias(shape: Shape) -> str:
    match shape:
        case Open(values):
            return "Open: " + ", ".join(f"`{value}`" for value in values) + "; others may come."
        case Closed(values):
            return "One of " + ", ".join(f"`{value}`" for value in values) + "."
        case OneOf(options):
            return "One of " + ", ".join(_link(expression(o)) for o in options) + "."
        case _:
            return _code(shape)


def _code(shape: Shape) -> str:
    return f"`{expression(shape)}`".replace("|", "\\|")


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _codes(codes: Iterable[int]) -> str:
    return ", ".join(str(code) for code in codes)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"
