"""What a client is told of errors that are not its own."""

from sidecar.wire import client_requests, error_codes
from sidecar.wire.acp import acp_errors
from sidecar.wire.error_codes import internal


def test_memory_that_ran_out_is_told_apart_from_a_bug() -> None:
    bug, memory = internal(ValueError("path")), internal(MemoryError())
    assert bug["code"] == memory["code"] == -32603
    assert "path" not in str(bug["message"])
    assert "not enough memory" in str(memory["message"])
    assert "try again" in str(memory["message"])
    assert internal(RuntimeError("can't start new thread")) == memory


def test_numbers_are_those_that_the_protocols_give() -> None:
    """JSON-RPC's, LSP's and ACP's: clients go by them."""
    assert (error_codes.PARSE_ERROR, error_codes.INVALID_REQUEST) == (-32700, -32600)
    assert (error_codes.METHOD_NOT_FOUND, error_codes.INVALID_PARAMS) == (-32601, -32602)
    assert (error_codes.INTERNAL_ERROR, error_codes.NOT_INITIALIZED) == (-32603, -32002)
    assert error_codes.CANCELLED == -32800
    assert (acp_errors.AUTH_REQUIRED, acp_errors.NOT_FOUND) == (-32000, -32002)
    assert (client_requests.ERROR, client_requests.WARNING, client_requests.INFO) == (1, 2, 3)
