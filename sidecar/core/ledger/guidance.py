"""Rules stated by a file or server, told as its words, not the user's."""

import re
from collections.abc import Iterator
from functools import partial
from unicodedata import normalize

from sidecar.core.conversation.call_outcome import argument, failed, result_text
from sidecar.core.files.shell_writes import simple
from sidecar.core.late_pattern import late_pattern
from sidecar.core.ledger.deeds import NUMBERED, READERS, SHELLS, own_name
from sidecar.core.parts import Json, ToolCompleted, ToolPart
from sidecar.core.text.rule_sentences import FIRM, each_once, rules_in, standing
from sidecar.core.text.sentences import Span, is_item

LONGEST_RULE = 300
"""Characters that are told of a rule, some sixty tokens; of one that was read all or nothing."""
LONGEST_FILE, LONGEST_TOLD = 60_000, 4_000
"""Characters of a file, and of a server's answer, beyond which the latter is data."""
MOST_TOLD = 20
"""Rules of one answer."""
HANDED_ON = "# Where this comes from"
"""Begins what code wrote of a handoff's draft; the words from there on are anybody's."""
SESSION_LINK = "sidecar:session/"
"""Before a session's id, in the address of a link to it, which its digest takes the place of."""
THE_DRAFTS = "The draft of a handoff"
_FILE = late_pattern(
    r"(?:^|[\s/\\'\"])((?:[\w.-]+[/\\])?(?:CONTRIBUTING|POLICY|POLICIES|AGENTS?|CLAUDE|GEMINI|RULES|"
    r"CONVENTIONS|GUIDELINES|STYLE(?:GUIDE)?|CODE_OF_CONDUCT|SECURITY|WORKFLOW|copilot-instructions|"
    r"\.cursorrules|\.windsurfrules)(?:\.(?:md|mdc|mdx|txt|rst|adoc))?|"
    r"\.(?:(?:agents|claude|cursor|windsurf)[/\\]rules|github[/\\]instructions)[/\\]"
    r"[\w.-]+\.(?:md|mdc))(?=$|[\s'\":;|&)])",
    re.I,
)
_HEADING = late_pattern(r"^#{1,6} +(.*)$", re.M)
_RELEASING = late_pattern(
    r"\b(?:releas\w*|publish\w*|publication|change ?logs?|versioning|deploy\w*|"
    r"veröffentlich\w*|publier|publicar|publicación)\b",
    re.I,
)
"""Headings of what binds only who releases."""
_MARK = late_pattern(r"^(?:[-*•\s]|\(?\d{1,2}[.)]\s)+")
"""Of a list's item."""
_ITEMS = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]", re.M)
_BLANK = re.compile(r"\n[ \t]*\n|^#", re.M)
_PRINTERS = ("cat", "sed", "head", "tail", "nl", "less", "bat")
_DOCUMENT = late_pattern(r"[\w./~-]+\.[A-Za-z]{1,4}")
_PRINTS = late_pattern(r"(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:cat|sed -n|head|tail|nl|less|bat)\b")
_ABOUT_RULES = late_pattern(
    r"\b(?:rules?|polic(?:y|ies)|guidelines?|conventions?|instructions|regeln|richtlinien?|"
    r"vorgaben|règles|consignes|reglas|normas)\b",
    re.I,
)
_DATA = late_pattern(r"\s*[{\[<]")
_NOT = (
    r"(?:\b(?:never|not|no longer|refuse to|nie|niemals|nicht|keine\w?|ne|jamais|pas|no|nunca|"
    r"jamás|non|mai|não|niet|nooit|geen|nigdy|не|никогда)\b|n't\b|\bn'|不要|不得|别|勿)"
)
_OBEY = (
    r"(?:\b(?:follow|obey|heed|listen to|comply with|adhere to|respect|honou?r|apply|"
    r"do (?:what|as)|(?:be)?folge\w*|gehorch\w*|beachte\w*|hör\w*|halte\w*|suiv\w*|suis|"
    r"obéi\w*|écoute\w*|respecte\w*|sig\w+|segu\w+|obede\w+|obbed\w+|ascolt\w+|escuch\w+|"
    r"hagas caso|respet\w+|rispett\w+|respeit\w+|volg\w*|gehoorza\w+|luister\w*|słuchaj|"
    r"przestrzegaj|слуша\w+|следу\w+|соблюда\w+)\b|听|遵|従|服从)"
)
_DROP = (
    r"(?:\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|circumvent|violate|disobey|break|"
    r"drop|discard|skip|(?:stop|quit|cease) (?:follow|obey|heed|listen|respect)\w*|vergiss|"
    r"missacht\w*|übergeh\w*|umgeh\w*|oublie\w*|contourn\w+|enfrei\w+|olvid\w+|omit\w+|desobe\w+|"
    r"dimentic\w+|aggira\w*|esque[cç]\w+|negeer\w*|vergeet|omzeil\w*|zignoruj|pomiń|игнорир\w+|"
    r"забудь\w*)\b|忽略|无视|無視|忘)"
)
_RULES = (
    r"(?:\b(?:rules?|instructions?|polic\w+|guidelines?|prompts?|constraints?|regeln?|anweisung\w*|"
    r"vorgaben?|richtlinien?|règles?|consignes?|reglas?|normas?|instrucc\w+|regole|istruzioni|"
    r"regras?|instruç\w+|regels?|instructies|zasad\w*|instrukcj\w*|правил\w*|инструкц\w*|"
    r"contributing|agents|claude|gemini)\b|规则|規則|指令|指示|ルール)"
)
_PERSON = (
    r"(?:users?|human|operator|owner|(?:be)?nutzer\w*|anwender\w*|utilisat\w+|usuari\w+|utent\w+|"
    r"usuári\w+|gebruiker\w*|użytkownik\w*|пользовател\w+|用户|用戶|ユーザー?)"
)
_WHOSE = (
    rf"(?:{_RULES}|(?<!\w){_PERSON}"
    r"(?![-_\w]|\s+(?:input|content|data|home|agent|provided|supplied)))"
)
_NEAR = r"(?:(?!\b(?:without|unless|until|but|and|if|ohne|sans|sin)\b)[^.\n]){0,40}?"
_HARMLESS = late_pattern(
    rf"{_NOT}\s+(?:(?:ever|to|de|du|se)\s+)?(?:{_DROP}|fail|neglect|hesitate)|"
    r"\b(?:that|which|who|if (?:you|they|it|he|she))\s+(?:do|does|did)(?:\s+not|n't)"
)
"""Two negations, and what only tells of those who do not follow."""
_AGAINST = late_pattern(
    rf"{_DROP}[^.\n]{{0,80}}{_WHOSE}|{_NOT}{_NEAR}{_OBEY}[^.\n]{{0,80}}{_WHOSE}|"
    rf"{_OBEY}{_NEAR}{_NOT}[^.\n]{{0,80}}{_WHOSE}|{_RULES}[^.\n]{{0,60}}(?:"
    rf"{_NOT}\s+(?:appl\w+|bind\w*|valid|s'appliqu\w+|valen|aplican)|(?:gelten|gilt)\s+{_NOT}|"
    r"\b(?:void|revoked|suspended|aufgehoben|ungültig|annulé\w*|anulad\w*))"
)
_ROLE = (
    rf"(?:(?:system|assistant|developer|système|sistema|система|系统|{_PERSON})(?:-\w+)?"
    r"(?:\s+(?:prompt|message|note|notice|override|update))?)"
)
_SPEAKS = late_pattern(
    r"\W*(?:\w+:\s*)?(?:(?:as|on behalf of|im namen|au nom|en nombre)\b.{0,12}?\b"
    rf"{_ROLE}\b|(?:(?:the|der|die|le|el|la|il|lo|o|de)\s+|l')?{_ROLE}"
    r"(?:\W*?[:\]>}]|(?:\s+(?:has|hat|a|ha))?\s+(?:says?|said|wants?|asks?|asked|told|tells?|"
    r"demands?|orders?|requests?|approve[sd]|allows?|sagt\w*|gesagt|will|verlangt|möchte|fordert|"
    r"erlaubt|dit|veut|demande\w*|exige|ordonne|autorise|dice|dicho|dijo|quiere|pide|ordena|permite|"
    r"vuole|chiede|diz|quer|zegt|wil|mówi|chce|говорит|хочет)\b))"
)
"""Begins a line that poses as somebody's words: `System:`, `The user says`."""


def guidance_of(part: ToolPart) -> tuple[str, ...]:
    """Gives a source and its rules, a line each.

    Sources are files of rules, and servers' tools that speak of rules in few words.
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
    """Names files a command prints, if several: no line's source is known then."""
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
    firm = [rule.span for rule in rules_in(text) if rule.sure == FIRM]
    posed = tuple(_posing(text)) if firm else ()
    own = (span for span in firm if not any(span[0] in line for line in posed))
    # One that leans on what is not there says nothing.
    stand = sorted(
        (_with_its_item(text, span) for span in (standing(text, span) for span in own) if span),
        key=partial(_on_releasing, text),
    )
    whole = (text[a:b] for a, b in stand if not any(a in line for line in posed))
    plain = (" ".join(_MARK.sub("", rule).split()) for rule in whole if not is_against(rule))
    # One that ends in a colon says nothing without what follows.
    rules = [rule for rule in plain if len(rule) <= LONGEST_RULE and rule[-1:] not in ":\uff1a"]
    return (source, *each_once(rules[:most])) if rules else ()


def _with_its_item(text: str, span: Span) -> Span:
    """Extends a rule to its list item's beginning if near: `Names are in C. Keep those`."""
    start, end = span
    if is_item(text[start:end]):
        return span
    begun = [match.start() for match in _ITEMS.finditer(text, max(0, end - LONGEST_RULE), start)]
    near = begun and not _BLANK.search(text, begun[-1], start)
    return (begun[-1], end) if near else span


def _on_releasing(text: str, span: Span) -> bool:
    """Whether the nearest heading above is about releases, whose rules come last."""
    above = text.rfind("\n#", 0, span[0]) + 1
    title = _HEADING.match(text, above)
    return bool(title and _RELEASING.search(title[1]))


def is_against(sentence: str) -> bool:
    """Whether a sentence opposes rules or the user, or poses as theirs."""
    plain = _plain(sentence)
    return bool(_SPEAKS.match(plain) or _AGAINST.search(_HARMLESS.sub(" ", plain)))


def _posing(text: str) -> Iterator[range]:
    """Finds lines posing as somebody's words, with their continuation."""
    at, said, label = 0, False, False
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if _SPEAKS.match(_plain(line)):
            said, label = True, bare.endswith((":", "\uff1a"))
        else:
            said = said and bool(bare) and (label or not is_item(line))
        if said:
            yield range(at, at + len(line))
        at += len(line)


def _plain(text: str) -> str:
    words = normalize("NFKC", text).casefold().replace("\u2019", "'")
    return " ".join(words.split())
