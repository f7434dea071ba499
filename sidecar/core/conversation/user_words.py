"""Finds the user's words in a call's result: a refusal's reason, an answer."""

import re
from collections.abc import Iterator

from sidecar.core.conversation.call_outcome import DENIED, SAID, argument, refused, result_text
from sidecar.core.conversation.turns import REFUSED
from sidecar.core.late_pattern import late_pattern
from sidecar.core.parts import Json, JsonObject, ToolCompleted, ToolPart

CHOICES = ("options", "choices")
"""Fields with a question's choices."""
ASKING = late_pattern(
    r"ask(?:_?(?:user|human))?(?:_?(?:follow_?up_?)?questions?)?|(?:user_?)?questions?|"
    r"(?:request_?)?user_?input",
    re.I,
)
"""Names of agents' tools that ask the user; any other could call a file's text an answer."""


def user_words(part: ToolPart) -> tuple[str, ...]:
    """Returns sentences with the user's whole words, if any."""
    text = result_text(part)
    if refused(part) and (text == REFUSED or DENIED.match(text)):
        # Not what a rule or a lack of trust refused.
        found = SAID.search(text)
        why = f": {found[1].strip()}" if found else ""
        return (f"The user refused {part.name} {argument(part.input)}".rstrip() + why,)
    asked = tuple(_questions(part.input)) if ASKING.fullmatch(part.name) else ()
    if not asked or not isinstance(part.state, ToolCompleted) or not text.strip():
        return ()
    answers = _answers(asked, text)
    if answers:
        return tuple(f"Asked: {question}\nThe user: {said}" for question, said in answers)
    return ("\n".join((*(f"Asked: {question}" for question in asked), text.strip())),)


def _questions(given: Json) -> Iterator[str]:
    if not isinstance(given, dict):
        return
    listed = given.get("questions")
    for one in listed if isinstance(listed, list) else [given]:
        if isinstance(one, dict) and _offers(one):
            question = one.get("question")
            if isinstance(question, str) and question.strip():
                # A model's further lines would pass for the answer.
                yield " ".join(question.split())


def _offers(given: JsonObject) -> bool:
    return any(isinstance(given.get(key), list) for key in CHOICES)


def _answers(asked: tuple[str, ...], text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    rest = text
    for question in asked:
        before, mark, rest = rest.partition(f'"{question}"="')
        if not mark:
            return []
        if found:
            found[-1] = (found[-1][0], _closed(before))
        found.append((question, _closed(rest)))
    return found


def _closed(text: str) -> str:
    return text[: text.rfind('"')] if '"' in text else text
