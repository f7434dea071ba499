"""Asks the advisories about every locked dependency, Python's and npm's: `python3 .ci/audit.py`.

A vulnerability fails, unless it stands in ALLOWED with the reason. Where the advisories cannot be
reached, as behind a mirror that has none, that is said and nothing fails: the locks are checked by
the tests all the same.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NPM = ("editors/vscode", "clients/typescript")
SECONDS = 240
PIP_AUDIT = "pip-audit@2.10.1"
"""It asks; it is in no lock of ours, so its version stands here."""
ALLOWED: Mapping[str, str] = {}
"""Advisories that do not concern us: their ids, each with the reason."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What came of one audit: how many packages were looked up, how many could not be, findings.

    A finding is `(advisory, package, what to do)`. `amiss` says why nothing could be asked.
    """

    what: str
    asked: int = 0
    passed_over: int = 0
    found: tuple[tuple[str, str, str], ...] = ()
    amiss: str = ""


def main() -> int:
    """Print what was found; 1 if anything was that is not allowed."""
    audits = [_python(), *(_npm(folder) for folder in NPM)]
    for line in (line for audit in audits for line in told(audit)):
        sys.stdout.write(f"{line}\n")
    return 1 if any(refused(audit) for audit in audits) else 0


def refused(audit: Audit) -> list[tuple[str, str, str]]:
    """Give the findings that nobody has justified."""
    return [one for one in audit.found if one[0] not in ALLOWED]


def told(audit: Audit) -> list[str]:
    """Say in lines what came of an audit."""
    if audit.amiss:
        return [f"audit of {audit.what}: not asked, {audit.amiss}"]
    rest = f", {audit.passed_over} unknown to the advisories here" if audit.passed_over else ""
    lines = [f"audit of {audit.what}: {audit.asked} packages asked about{rest}"]
    for advisory, package, advice in audit.found:
        why = ALLOWED.get(advisory)
        lines.append(f"  {package}: {advisory}, {f'allowed: {why}' if why else advice}")
    return lines


def read_python(output: str) -> Audit:
    """Read what `pip-audit --format json` printed."""
    packages = _json(output).get("dependencies")
    if not isinstance(packages, list) or not packages:
        return Audit("uv.lock", amiss="pip-audit gave no answer")
    asked = [one for one in packages if "vulns" in one]
    found = tuple(
        (vuln["id"], f"{one['name']} {one['version']}", _fixed(vuln.get("fix_versions", ())))
        for one in asked
        for vuln in one["vulns"]
    )
    if not asked:
        return Audit("uv.lock", amiss=f"none of {len(packages)} packages is known to the index")
    return Audit("uv.lock", len(asked), len(packages) - len(asked), found)


def read_npm(folder: str, output: str) -> Audit:
    """Read what `npm audit --json` printed."""
    what, answer = f"{folder}/package-lock.json", _json(output)
    known = answer.get("vulnerabilities")
    if not isinstance(known, dict):
        return Audit(what, amiss=str(answer.get("message") or "npm gave no answer"))
    found = tuple(
        (str(via.get("url") or via.get("source")), name, str(via.get("title")))
        for name, one in known.items()
        for via in one.get("via", ())
        if isinstance(via, dict)
    )
    count = answer.get("metadata", {}).get("dependencies", {}).get("total", 0)
    return Audit(what, count, 0, found)


def _python() -> Audit:
    what = "--all-extras --all-groups --no-emit-workspace"
    export = f"uv export --frozen {what} --format requirements-txt -q"
    listed = _run(export.split(), ROOT)
    if not listed:
        return Audit("uv.lock", amiss="uv could not list it")
    # With hashes, so that nothing is resolved or downloaded but what is asked about.
    flags = "--requirement /dev/stdin --disable-pip --require-hashes --format json"
    command = f"uvx {PIP_AUDIT} {flags} --progress-spinner off"
    return read_python(_run(command.split(), ROOT, listed))


def _npm(folder: str) -> Audit:
    return read_npm(folder, _run(["npm", "audit", "--package-lock-only", "--json"], ROOT / folder))


def _run(command: Sequence[str], folder: Path, given: str = "") -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _json(text: str) -> dict:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _fixed(versions: Sequence[str]) -> str:
    return f"fixed in {', '.join(versions)}" if versions else "no version has it fixed"


if __name__ == "__main__":
    sys.exit(main())
