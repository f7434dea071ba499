"""Offers commands with arguments, which many editors cannot give, as `textDocument/codeAction`."""

from collections.abc import Sequence

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from sidecar.wire.connection import Connection


def offer_actions(server: LanguageServer, connection: Connection) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def actions(params: types.CodeActionParams) -> list[types.Command]:
        automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        if connection.can.ours or automatic:
            return []
        text = _selected(_lines(server, params.text_document.uri), params.range)
        send = types.Command("Sidecar: send this", "sidecar.send", arguments=[text])
        back = types.Command(
            "Sidecar: take back the newest turn", "sidecar.rollback", arguments=["1 both merge"]
        )
        return [send, back] if text else [back]


def _lines(server: LanguageServer, uri: str) -> Sequence[str]:
    try:
        return server.workspace.get_text_document(uri).lines
    except (OSError, ValueError):
        return ()


def _selected(lines: Sequence[str], chosen: types.Range) -> str:
    start, end = chosen.start.line, chosen.end.line
    if chosen.end.character == 0 and end > start:
        end -= 1
    return "".join(lines[start : end + 1]).strip()
