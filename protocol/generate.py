"""Write all that is made from the protocol's source, and pages of docs/ from the code.

python -m protocol.generate
"""

import sys
from pathlib import Path

from protocol import golden, markdown, python, reference, schema, typescript

ROOT = Path(__file__).resolve().parent.parent


def outputs() -> dict[str, str]:
    """Give every generated file's text by its path, relative to the repository."""
    messages = python.messages()
    return {
        "sidecar/wire/messages.py": python.without_docstrings(messages),
        "clients/python/src/sidecar_client/messages.py": messages,
        "clients/typescript/src/protocol.ts": typescript.render(),
        "protocol/schema.json": schema.schema(),
        "protocol/methods.json": schema.methods(),
        "protocol/PROTOCOL.md": markdown.render(),
        **reference.pages(),
        **{f"protocol/golden/{name}": text for name, text in golden.files().items()},
    }


def main() -> None:
    """Write the files that differ from what the source says, and name them."""
    wanted = outputs()
    for name, text in wanted.items():
        path = ROOT / name
        if not path.exists() or path.read_bytes() != text.encode():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            sys.stdout.write(f"wrote {name}\n")
    for path in sorted((ROOT / "protocol/golden").glob("*.json")):
        if f"protocol/golden/{path.name}" not in wanted:
            path.unlink()
            sys.stdout.write(f"removed protocol/golden/{path.name}\n")


if __name__ == "__main__":
    main()
