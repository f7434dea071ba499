"""Tells a tool call's outcome in words."""

import re
from functools import lru_cache

from sidecar.core.conversation.turns import REFUSED
from sidecar.core.late_pattern import late_pattern
from sidecar.core.parts import Json, ToolCompleted, ToolError, ToolPart, ToolPending, ToolRunning
from sidecar.core.text.visible import clipped

KEYS = (
    "file_path", "path", "filePath", "notebook_path", "command", "cmd", "pattern", "query", "url",
    "id", "description", "task", "prompt",
)  # fmt: skip
LONGEST = 120
COMMANDS = ("command", "cmd")
_SETTING_OUT = late_pattern(
    r"\s*(?:(?:cd|Set-Location)\s+(?P<to>\"[^\"\n]+\"|'[^'\n]+'|[^\s;&|]+)\s*(?P<then>&&|;|\n)\s*|"
    r"set -[a-z]+[^\n;&]*[;\n]\s*|[A-Za-z_]\w*=(?:\"[^\"$`]*\"|'[^']*'|[^\s;$`]*)[;\n]\s*)"
)
"""What a command sets first: its folder, names, and options of the shell."""
FOLDER = 24
"""Characters of a folder that is told whole."""
STOPPED = 130
"""Exit code of a program that Ctrl-C ended."""
_EXIT = late_pattern(
    r"(?:exit(?:ed)?(?: with)?(?: status| code)+[:= ]+|exit(?:ed(?: with)?| with)[:= ]+|exit[:=] ?|"
    r"\[exit |returncode>|exit_code[\"']?: ?)(\d+)",
    re.I,
)
"""Not a bare `exit 1`, as in scripts."""
_WORST = late_pattern(
    r"^[ \t]*(?:--- )?(?:[\w.]+)?(?:Error|Exception|FAIL(?:ED)?|panic|fatal|error)\b[:( ].*$", re.M
)
_TIMED_OUT = late_pattern(r"^.*\btimed out\b.*$", re.M)
_NAMED = late_pattern(r"[\w./-]+: ")
"""Begins a program's line about itself, or an exception."""
_CODE = late_pattern(r"^npm (?:ERR!|error) code .*$", re.M)
_ERROR = late_pattern(
    r"^(?:Traceback \(most recent call last\)|[ \t]*(?:[\w.]+)?(?:Error|Exception|FAILED|FAIL|"
    r"panic|fatal|error)\b.+|.*\b(?:error|Error|ERROR)\b.*|.*command not found.*|"
    r".*No such file.*)$",
    re.M,
)
_VAGUE = late_pattern(
    r"\bERROR task failed|\[(?:build|setup) failed\]|^make(?:\[\d+\])?: \*\*\*|^npm (?:ERR!|error)|"
    r"\bexited with (?:exit )?code\b|\bCommand failed\b|\bELIFECYCLE\b|^FAIL$"
)
"""Says only that something failed, as runners do behind what they ran."""
_PLACED = late_pattern(r"^[ \t]*\S+\.\w{1,5}:\d+:\d+: \S.*$", re.M)
"""A compiler's or linter's complaint, with line and column."""
_COMPLAINS = late_pattern(
    r"^CONFLICT |^(?=.{12,200}$)\W*\w.*\b(?:cannot|could not|unable to|unknown|unexpected|invalid|"
    r"undefined|not (?:defined|found|allowed|protected|accept)|no such|denied|refused)\b",
    re.I,
)
WRAPPING = late_pattern(
    r"</?output>|<returncode>\d+</returncode>|Output:|(?:(?:Process|Command) exited with|Exit) "
    r"code:? \d+|\W*exit(?: code| status)?[:= ]+\d+\W*(?:\w+=)?|<shellId: .*>|Chunk ID: \w+|"
    r"Wall time: .*|Process running with session ID \d+|Original token count: \d+|"
    r"\(\w+ completed with no output\)"
)
"""Lines put by tools around a command's output."""
_REFUSED = "<tool_use_error>"
_UNLIKE = "apply_patch verification failed"
"""Begins what Codex's patch tool says of a patch of which nothing was done, without a code."""
DENIED = late_pattern(
    r"The user doesn['\u2019]t want to (?:proceed with this tool use|take this action)"
)
BY_THE_USER = "refused by the user"
SAID = late_pattern(r"the user said:\s*(.+)", re.S | re.I)
_STAGES = late_pattern(r"\|\||&&|[|;\n]")
_SEARCH = late_pattern(
    r"(?:rg|grep|egrep|fgrep|git (?:grep|diff)|diff|cmp|test|\[|which|pgrep)\b|\[ "
)
_COMPLAINT = late_pattern(r"^\S*(?:rg|grep|diff|cmp|git): ", re.M)
_INTERRUPTED = late_pattern(
    r"(?:Exit code \d+\s+)?(?:<tool_use_error>)?(?:\[Request interrupted by user|"
    r"(?:Sibling|Parallel) tool call|Cancelled: parallel tool call|"
    r"Command aborted|aborted by user|no result was recorded)"
)
"""Written by agents for a missing result."""


def argument(given: Json) -> str:
    if isinstance(given, str):
        return one_line(given)
    if not isinstance(given, dict):
        return ""
    for key in KEYS:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(_set_out(value) if key in COMMANDS else value)
        if isinstance(value, list) and value:
            return one_line(" ".join(str(word) for word in value))
    return next((one_line(v) for v in given.values() if isinstance(v, str) and v.strip()), "")


def _set_out(command: str) -> str:
    there, begun = "", command
    while found := _SETTING_OUT.match(begun):
        begun = begun[found.end() :]
        if folder := found["to"]:
            name = re.split(r"[/\\]", folder.strip("\"'").rstrip("/\\"))[-1]
            folder = folder if len(folder) <= FOLDER else f"…/{name}"
            there = f"cd {folder}{' &&' if found['then'] == '&&' else ';'} "
    return there + begun if begun.strip() else command


def result_text(part: ToolPart) -> str:
    match part.state:
        case ToolCompleted(output=output):
            return output.text
        case ToolError(message=message, output=output):
            return message if output is None else f"{output.text}\n{message}"
        case ToolPending() | ToolRunning():
            return ""


def interrupted(part: ToolPart) -> bool:
    match part.state:
        case ToolError(failure="interrupted" | "cancelled"):
            return True
        case ToolCompleted() | ToolError():
            stopped = exit_code(part) == STOPPED
            return stopped or bool(_INTERRUPTED.match(result_text(part)[:200].lstrip()))
        case ToolPending() | ToolRunning():
            return False


def refused(part: ToolPart) -> bool:
    match part.state:
        case ToolError(failure="denied"):
            return True
        case ToolCompleted(metadata=metadata):
            # As recorded elsewhere; a file or a server may say so without any user.
            return metadata.get("isError") is True and bool(DENIED.match(result_text(part)))
        case ToolError() | ToolPending() | ToolRunning():
            return False


def _found_nothing(part: ToolPart) -> bool:
    given = part.input if isinstance(part.input, dict) else {}
    command = given.get("command", given.get("cmd"))
    if not isinstance(command, str) or exit_code(part) != 1:
        return False
    text = result_text(part)
    return bool(_SEARCH.match(_STAGES.split(command.strip())[-1].strip())) and not any(
        pattern.search(text) for pattern in (_WORST, _COMPLAINT)
    )


def failed(part: ToolPart) -> bool:
    """Whether a call shows an error, non-zero exit or traceback."""
    if interrupted(part) or _found_nothing(part):
        return False
    match part.state:
        case ToolError():
            return True
        case ToolCompleted(output=output, metadata=metadata):
            code = metadata.get("exitCode")
            if isinstance(code, int) and not isinstance(code, bool):
                return code != 0
            if metadata.get("isError") is True:
                return True
            return text_failed(output.text)
        case _:
            return False


def exit_code(part: ToolPart) -> int | None:
    match part.state:
        case ToolCompleted(metadata=metadata) | ToolError(metadata=metadata):
            code = metadata.get("exitCode")
            if isinstance(code, int) and not isinstance(code, bool):
                return code
            return next(map(int, _exits(result_text(part))), None)
        case _:
            return None


def text_failed(text: str) -> bool:
    if text.startswith(_UNLIKE) or any(code != "0" for code in _exits(text)):
        return True
    return "Traceback (most recent call last)" in text[:4_000] + text[-4_000:]


@lru_cache(maxsize=1)
def _exits(text: str) -> tuple[str, ...]:
    """Keeps the last answer: one result is asked about several times in a row."""
    found = []
    for end in (text[:300], text[-300:]):
        # Most ends have none of these words: a search takes twenty times as long.
        plain = end.lower()
        if "exit" not in plain and "returncode" not in plain:
            continue
        match = _EXIT.search(end)
        if match is not None:
            found.append(match[1])
    return tuple(found)


def error_line(text: str, *, denied: bool = False) -> str:
    """Returns a refusal, else the last line naming an error, else the exit code and a complaint.

    `denied`: by the user, as `refused` says; no other text passes for that.
    """
    if denied and DENIED.match(text):
        words = SAID.search(text[:4_000])
        return one_line(f"{BY_THE_USER}: {words[1]}" if words else BY_THE_USER)
    line = _error_line(text)
    poses = line.casefold().startswith((BY_THE_USER, REFUSED.casefold()))
    return f"said: {line}" if poses and not denied else line


def error_of(part: ToolPart) -> str:
    return error_line(result_text(part), denied=refused(part))


def _error_line(text: str) -> str:
    if text.startswith(_REFUSED):
        refusal = text.removeprefix(_REFUSED).lstrip().partition("\n")[0]
        return one_line(refusal.removesuffix("</tool_use_error>"))
    if text.startswith(_UNLIKE):
        return one_line(text.partition("\n")[0])
    ends = text if len(text) <= 16_000 else text[:8_000] + "\n" + text[-8_000:]
    return one_line(_naming_an_error(ends) or _at_the_end(ends))


def _naming_an_error(text: str) -> str:
    vague = ""
    for pattern in (_WORST, _CODE, _ERROR, _TIMED_OUT):
        found: list[str] = pattern.findall(text)
        clear = next((line for line in reversed(found) if not _VAGUE.search(line)), "")
        if clear:
            return clear
        vague = vague or (found[-1] if found else "")
        if vague and (placed := _PLACED.search(text)):
            return placed[0]
    return vague


def _at_the_end(text: str) -> str:
    lines = [line for raw in text.splitlines() if (line := raw.strip())]
    said = [line for line in lines if not WRAPPING.fullmatch(line)]
    last = (said or lines or [""])[-1]
    code = next((code for code in _exits(text) if code != "0"), None)
    if code is None or (said and _NAMED.match(last)):
        return last
    if not said:
        return f"exit {code}, no output"
    placed = _PLACED.search(text)
    told = placed[0].strip() if placed else next(filter(_COMPLAINS.search, said), "")
    if told and not _COMPLAINS.search(last):
        return f"exit {code}: {told}"
    return f"exit {code}, last line: {last}"


def finding(part: ToolPart) -> str:
    """Returns one line about a result: title, error or first line."""
    text = result_text(part)
    if failed(part):
        return error_of(part)
    title, called = one_line(getattr(part.state, "title", "")), argument(part.input)
    if title and title not in f"{part.name} {called}" and (not called or called not in title):
        return title
    return next((one_line(line) for line in text.splitlines() if line.strip()), "")


def status(part: ToolPart) -> str:
    """Returns `ok`, `failed`, `exit N`, `interrupted` or `running`."""
    if interrupted(part):
        return "interrupted"
    match part.state:
        case ToolPending() | ToolRunning():
            return "running"
        case ToolCompleted(metadata=metadata) | ToolError(metadata=metadata):
            code = metadata.get("exitCode")
            if isinstance(code, int) and not isinstance(code, bool) and code:
                return f"exit {code}"
            return "failed" if failed(part) else "ok"


def placeholder(part: ToolPart) -> str:
    text = result_text(part)
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    said = finding(part)
    about = f" · {said}" if said else ""
    return (
        f"[evicted: {part.name} {argument(part.input)} · {status(part)} · {lines} lines, "
        f"{len(text)} characters{about} · recall {part.id}]"
    )


def one_line(text: str, most: int = LONGEST) -> str:
    return clipped(" ".join(text.lstrip()[: most * 4].split()), most)
