"""Write everything that is made from the protocol's source: `python -m protocol.generate`."""

import sys
from pathlib import Path

from protocol import python

ROOT = Path(__file__).resolve().parent.parent


def outputs() -> dict[str, str]:
    """Give every generated file's text by its path, relative to the repository."""
    messages = python.messages()
    return {
        "sidecar/wire/messages.py": messages,
        "clients/python/src/sidecar_client/messages.py": messages,
    }


def main() -> None:
    """Write the files that differ from what the source says, and name them."""
    for name, text in outputs().items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            sys.stdout.write(f"wrote {name}\n")


if __name__ == "__main__":
    main()
