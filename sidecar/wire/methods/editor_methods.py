"""The editor's open documents and cancellations."""

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from sidecar.session.desk.editor_documents import EditorDocuments
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.wire.connection import path_of


def follow_documents(server: LanguageServer, documents: EditorDocuments) -> None:

    def opened(uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            document = server.workspace.get_text_document(uri)
            documents.open(path, document.source, document.version or 0)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            documents.saved(path)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            documents.close(path)


def follow_cancellations(server: LanguageServer, sessions: OpenSessions) -> None:
    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancelled(params: types.WorkDoneProgressCancelParams) -> None:
        sessions.cancel_work(params.token)
