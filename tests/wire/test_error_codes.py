"""What a client is told of errors that are not its own."""

from sidecar.wire.error_codes import internal


def test_memory_that_ran_out_is_told_apart_from_a_bug() -> None:
    bug, memory = internal(ValueError("path")), internal(MemoryError())
    assert bug["code"] == memory["code"] == -32603
    assert "path" not in str(bug["message"])
    assert "not enough memory" in str(memory["message"])
    assert "try again" in str(memory["message"])
    assert internal(RuntimeError("can't start new thread")) == memory
