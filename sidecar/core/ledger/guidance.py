"""Rules that a file or a server states: told on by notes as its words, never as the user's."""

import re

from sidecar.core.conversation.call_outcome import argument, failed, result_text
from sidecar.core.files.shell_writes import simple
from sidecar.core.ledger.deeds import NUMBERED, READERS, SHELLS, own_name
from sidecar.core.parts import Json, ToolCompleted, ToolPart
from sidecar.core.text.rule_sentences import FIRM, rules_in

LONGEST_RULE = 300
"""Characters that are told of a rule, some sixty tokens; of one that was read all or nothing."""
LONGEST_FILE, LONGEST_TOLD = 60_000, 4_000
"""Characters of a file, and of a server's answer, beyond which the latter is data."""
MOST_TOLD = 20
"""Rules of one answer."""
HANDED_ON = "# Where this comes from"
"""Begins what code wrote of a handoff's draft; the words from there on are anybody's."""
THE_DRAFTS = "The draft of a handoff"
_FILE = re.compile(
    r"(?:^|[\s/\\'\"])((?:[\w.-]+[/\\])?(?:CONTRIBUTING|POLICY|POLICIES|AGENTS?|CLAUDE|GEMINI|RULES|"
    r"CONVENTIONS|GUIDELINES|STYLE(?:GUIDE)?|CODE_OF_CONDUCT|SECURITY|copilot-instructions|"
    r"\.cursorrules|\.windsurfrules)(?:\.(?:md|mdc|mdx|txt|rst|adoc))?)(?=$|[\s'\":;|&)])",
    re.I,
)
_PRINTERS = ("cat", "sed", "head", "tail", "nl", "less", "bat")
_DOCUMENT = re.compile(r"[\w./~-]+\.[A-Za-z]{1,4}")
_PRINTS = re.compile(r"(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:cat|sed -n|head|tail|nl|less|bat)\b")
_ABOUT_RULES = re.compile(
    r"\b(?:rules?|polic(?:y|ies)|guidelines?|conventions?|instructions|regeln|richtlinien?|"
    r"vorgaben|règles|consignes|reglas|normas)\b",
    re.I,
)
_DATA = re.compile(r"\s*[{\[<]")
_AGAINST = re.compile(
    r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|vergiss|missachte\w*|oublie[zr]?|"
    r"olvida|omite)\b[^.\n]{0,80}\b(?:rules?|instructions?|polic\w+|guidelines?|prompts?|regeln?|"
    r"anweisung\w*|vorgaben|règles|consignes|reglas|instrucciones)\b",
    re.I,
)


def guidance_of(part: ToolPart) -> tuple[str, ...]:
    """A source and its rules, each on one line; empty if the call brought none.

    The source is a file of rules by its name, or a server's tool that speaks of rules in few words.
    """
    if not isinstance(part.state, ToolCompleted) or failed(part):
        return ()
    name = own_name(part.name)
    text = result_text(part)
    if name in READERS | SHELLS:
        said = argument(part.input)
        found = _FILE.search(said)
        if found is None or (name in SHELLS and not _PRINTS.match(said)):
            return ()
        source = _printed(part.input) if name in SHELLS else ""
        source, most, text = source or found[1], len(text), NUMBERED.sub("", text[:LONGEST_FILE])
    elif (
        "__" not in part.name
        or len(text) > LONGEST_TOLD
        or _DATA.match(text)
        or not _ABOUT_RULES.search(text)
    ):
        return ()
    else:
        source, most = part.name, MOST_TOLD
    return stated(source, text, most)


def _printed(given: Json) -> str:
    """The files that a command prints, if there are several: nobody knows whose a line is."""
    command = given.get("command", given.get("cmd", "")) if isinstance(given, dict) else given
    names = [
        word
        for words, _ in simple(command if isinstance(command, str) else "")
        if words and words[0] in _PRINTERS
        for word in words[1:]
        if _DOCUMENT.fullmatch(word)
    ]
    return ", ".join(dict.fromkeys(names)) if len(names) > 1 else ""


def stated(source: str, text: str, most: int = MOST_TOLD) -> tuple[str, ...]:
    """The source and the rules of its text, or nothing."""
    firm = (text[slice(*rule.span)] for rule in rules_in(text) if rule.sure == FIRM)
    whole = (" ".join(rule.lstrip("-*• ").split()) for rule in firm if not is_against(rule))
    # One that ends in a colon says nothing without what follows.
    rules = [rule for rule in whole if len(rule) <= LONGEST_RULE and rule[-1:] not in ":\uff1a"]
    return (source, *dict.fromkeys(rules[:most])) if rules else ()


def is_against(sentence: str) -> bool:
    """Whether a sentence asks for rules or instructions to be dropped."""
    return bool(_AGAINST.search(sentence))
