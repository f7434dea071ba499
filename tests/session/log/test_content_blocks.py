"""What a client sends is taken as a model can read it, or refused with the place of the fault."""

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import FilePart, JsonObject, Media, PartId
from sidecar.session.log.content_blocks import parts_of


def image(data: str) -> JsonObject:
    return {"type": "image", "mimeType": "image/png", "data": data}


@pytest.mark.parametrize(
    ("data", "sent"), [("AAAA", "AAAA"), ("AA\nAA AA\r\nAA", "AAAAAAAA"), ("AA", "AA==")]
)
def test_base64_is_sent_as_providers_take_it(data: str, sent: str) -> None:
    (part,) = parts_of((image(data),), lambda: PartId("prt_1"), "user")
    assert isinstance(part, FilePart)
    assert part.media == Media("image/png", sent)


@pytest.mark.parametrize("data", ["", " ", "-0", "A", "AAA=A", "é" * 4, "\ud800AAA"])
def test_what_no_model_could_read_is_refused(data: str) -> None:
    blob: JsonObject = {"uri": "f:///a", "mimeType": "application/pdf", "blob": data}
    for block in (image(data), {"type": "resource", "resource": blob}):
        with pytest.raises(BadRequest, match="base64") as refused:
            parts_of(({"type": "text", "text": "x"}, block), lambda: PartId("prt_1"), "user")
        assert refused.value.data["path"] == "params.prompt[1]"
