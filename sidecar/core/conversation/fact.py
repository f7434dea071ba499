"""The value of a fact; `core/ledger/facts` makes facts of claims."""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, TurnId
from sidecar.core.text.digest import TAG, digest

FactKind: TypeAlias = Literal[
    "decision", "error", "file_state", "dependency", "constraint", "learning"
]
KINDS: tuple[FactKind, ...] = get_args(FactKind)
Speaker: TypeAlias = Literal["user", "model", "tool", "nobody"]
SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)


@dataclass(frozen=True, slots=True)
class Fact:
    """A confirmed claim, said in the turn `source` at `at` by `who`.

    A user's decision or constraint is typed text, word for word. With `nobody`, only the names were
    found, or a rule that quotes no whole sentence.
    """

    kind: FactKind
    content: str
    source: TurnId
    at: Millis
    who: Speaker = "model"


def fact_id(fact: Fact) -> str:
    """Returns an id, equal for a fact learned again."""
    words = f"{fact.kind}\n{normalised(fact.content).rstrip('.!;, ')}"
    hashed = digest(words.encode("utf-8", "surrogatepass")).removeprefix(TAG)
    return f"fact_{hashed[:16]}"


def to_json(fact: Fact) -> dict[str, int | str]:
    return {
        "kind": fact.kind,
        "content": fact.content,
        "source": fact.source,
        "at": fact.at,
        "who": fact.who,
    }


def from_json(body: Mapping[str, object]) -> Fact:
    """Raises `ValueError` for anything but `to_json`'s result."""
    match body:
        case {"kind": str(name), "content": str(content), "source": str(source), "at": int(at)}:
            kind = next((known for known in KINDS if known == name), None)
            who = next((known for known in SPEAKERS if known == body.get("who", "model")), None)
            if kind is not None and who is not None:
                return Fact(kind, content, TurnId(source), at, who)
        case _:
            pass
    raise ValueError(f"not a fact: {str(body)[:200]}")


def key_of(text: str) -> str:
    """Hashes a text's words; "" without any."""
    words = normalised(text).strip(" .,;:!-")
    return digest(words.encode("utf-8", "replace")).removeprefix(TAG) if words else ""


_MARKUP = re.compile(r"[`*\"\u201c\u201d\u201e\u00ab\u00bb]")
_APOSTROPHE = re.compile(r"[\u2018\u2019]")


def normalised(text: str) -> str:
    """Removes what copying changes: case, spacing, marks of quotes and code."""
    return " ".join(_APOSTROPHE.sub("'", _MARKUP.sub("", text)).casefold().split())
