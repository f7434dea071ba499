"""A tool call's outcome in words."""

import re

from sidecar.core.parts import Json, ToolCompleted, ToolError, ToolPart, ToolPending, ToolRunning
from sidecar.core.text.visible import whole_letters

KEYS = (
    "file_path", "path", "filePath", "notebook_path", "command", "cmd", "pattern", "query", "url",
    "id", "description", "task", "prompt",
)  # fmt: skip
LONGEST = 120
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: status| code)+[:= ]+|exit(?:ed(?: with)?| with)[:= ]+|exit[:=] ?|"
    r"\[exit |returncode>|exit_code[\"']?: ?)(\d+)",
    re.I,
)
"""Not a bare `exit 1`, which is what scripts say that somebody reads."""
_WORST = re.compile(
    r"^[ \t]*(?:--- )?(?:[\w.]+)?(?:Error|Exception|FAIL(?:ED)?|panic|fatal|error)\b[:( ].*$", re.M
)
_CODE = re.compile(r"^npm (?:ERR!|error) code .*$", re.M)
_ERROR = re.compile(
    r"^(?:Traceback \(most recent call last\)|[ \t]*(?:[\w.]+)?(?:Error|Exception|FAILED|FAIL|"
    r"panic|fatal|error)\b.+|.*\b(?:error|Error|ERROR)\b.*|.*command not found.*|"
    r".*No such file.*)$",
    re.M,
)
_WRAPPING = re.compile(
    r"</?output>|<returncode>\d+</returncode>|Output:|(?:(?:Process|Command) exited with|Exit) "
    r"code:? \d+|Chunk ID: \w+|Wall time: .*|Original token count: \d+"
)
"""Lines that a tool puts around what its command wrote."""
_REFUSED = "<tool_use_error>"


def argument(given: Json) -> str:
    """What identifies a call: path, command, pattern or query."""
    if isinstance(given, str):
        return one_line(given)
    if not isinstance(given, dict):
        return ""
    for key in KEYS:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value)
        if isinstance(value, list) and value:
            return one_line(" ".join(str(word) for word in value))
    return next((one_line(v) for v in given.values() if isinstance(v, str) and v.strip()), "")


def result_text(part: ToolPart) -> str:
    """A result's text for the model."""
    match part.state:
        case ToolCompleted(output=output):
            return output.text
        case ToolError(message=message, output=output):
            return message if output is None else f"{output.text}\n{message}"
        case ToolPending() | ToolRunning():
            return ""


def failed(part: ToolPart) -> bool:
    """Whether a call failed: an error, a non-zero exit, or a traceback in the output."""
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
    """Exit status from metadata or output."""
    match part.state:
        case ToolCompleted(metadata=metadata) | ToolError(metadata=metadata):
            code = metadata.get("exitCode")
            if isinstance(code, int) and not isinstance(code, bool):
                return code
            text = result_text(part)
            found = (_EXIT.search(end) for end in (text[:300], text[-300:]))
            return next((int(match.group(1)) for match in found if match is not None), None)
        case _:
            return None


def text_failed(text: str) -> bool:
    """Whether an output's ends report failure."""
    head, tail = text[:300], text[-300:]
    for end in (head, tail):
        match = _EXIT.search(end)
        if match is not None and match.group(1) != "0":
            return True
    return "Traceback (most recent call last)" in text[:4000] + text[-4000:]


def error_line(text: str) -> str:
    """The most telling line: the last naming an error, else the last, else the exit code."""
    if text.startswith(_REFUSED):
        refusal = text.removeprefix(_REFUSED).lstrip().partition("\n")[0]
        return one_line(refusal.removesuffix("</tool_use_error>"))
    ends = text if len(text) <= 16_000 else text[:8_000] + "\n" + text[-8_000:]
    for pattern in (_WORST, _CODE, _ERROR):
        found = pattern.findall(ends)
        if found:
            return one_line(found[-1])
    lines = [line for raw in ends.splitlines() if (line := raw.strip())]
    said = [line for line in lines if not _WRAPPING.fullmatch(line)]
    if said or not lines:
        return one_line(said[-1]) if said else ""
    code = _EXIT.search(ends)
    return one_line(lines[-1]) if code is None else f"exit {code.group(1)}, no output"


def finding(part: ToolPart) -> str:
    """One line for a result: title, error or first line."""
    text = result_text(part)
    if failed(part):
        return error_line(text)
    title, called = one_line(getattr(part.state, "title", "")), argument(part.input)
    if title and title not in f"{part.name} {called}" and (not called or called not in title):
        return title
    return next((one_line(line) for line in text.splitlines() if line.strip()), "")


def status(part: ToolPart) -> str:
    """`ok`, `failed`, `exit N` or `running`."""
    match part.state:
        case ToolPending() | ToolRunning():
            return "running"
        case ToolCompleted(metadata=metadata) | ToolError(metadata=metadata):
            code = metadata.get("exitCode")
            if isinstance(code, int) and not isinstance(code, bool) and code:
                return f"exit {code}"
            return "failed" if failed(part) else "ok"


def placeholder(part: ToolPart) -> str:
    """Line for an evicted result: tool, argument, status, size, finding, id."""
    text = result_text(part)
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    said = finding(part)
    about = f" · {said}" if said else ""
    return (
        f"[evicted: {part.name} {argument(part.input)} · {status(part)} · {lines} lines, "
        f"{len(text)} characters{about} · recall {part.id}]"
    )


def one_line(text: str, most: int = LONGEST) -> str:
    """Join lines and cut to `most` characters."""
    joined = " ".join(text.lstrip()[: most * 4].split())
    return joined if len(joined) <= most else f"{whole_letters(joined, most - 1)}…"
