"""Notifications of `textDocument/…`: unsaved buffers, for the tools."""

from pathlib import Path

from sidecar_client.calling import Caller


class DocumentCalls:
    """LSP's notifications of open documents."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def open(
        self, path: str | Path, text: str, *, language: str = "plaintext", version: int = 1
    ) -> None:
        """Open a buffer: the daemon's tools see this text instead of the file's."""
        document = {
            "uri": _uri(path),
            "languageId": language,
            "version": version,
            "text": text,
        }
        await self._caller.notify("textDocument/didOpen", {"textDocument": document})

    async def change(self, path: str | Path, text: str, version: int) -> None:
        """Send a buffer's whole new text; `version` rises with each change."""
        document = {"uri": _uri(path), "version": version}
        change = {"textDocument": document, "contentChanges": [{"text": text}]}
        await self._caller.notify("textDocument/didChange", change)

    async def close(self, path: str | Path) -> None:
        """Close a buffer: the file counts again."""
        await self._caller.notify("textDocument/didClose", {"textDocument": {"uri": _uri(path)}})


def _uri(path: str | Path) -> str:
    return Path(path).absolute().as_uri()
