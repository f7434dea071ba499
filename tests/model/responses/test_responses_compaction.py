"""The provider's own compaction, which nobody else can read."""

import pytest

from sidecar.core.parts import OpaquePart, TextPart
from tests.core.prompts import user
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.streaming_server import Answer
from tests.model.hosted_answers import asking, folded, gather, replied
from tests.model.responses.conftest import Hosted

pytestmark = pytest.mark.long


async def test_an_opaque_compaction_goes_back_in_its_place_to_its_model_alone(
    hosted: Hosted,
) -> None:
    with FakeResponsesApi() as api:
        api.script(Answer(({"compacted": "gAAAA" * 9}, {"text": "Go on."})))
        source = hosted(api)
        draft = folded(await gather(source))
        assert [type(part) for part in draft.parts] == [OpaquePart, TextPart]
        again = asking(user("hello"), *replied(draft), user("and?"))
        await gather(source, again)
        sent = api.requests[1].body["input"]
        assert api.refused == []
        # What it stands for is sent before it, and can be read.
        assert sent[0]["content"][0]["text"] == "hello"
        assert sent[1] == {"type": "compaction", "id": "cmp_0", "encrypted_content": "gAAAA" * 9}
        assert [item.get("role") for item in sent[2:]] == ["assistant", "user"]
