"""Sessions renamed, and found again by what stands in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, Refused, say

Start = Callable[..., PlainClient]


def opened(client: PlainClient, folder: Path, *words: str) -> str:
    """Begin a session with some turns; gives its id."""
    session: str = client.request("session/new", {"cwd": str(folder)})["sessionId"]
    for each in words:
        assert say(client, session, each)["stopReason"] == "end_turn"
    return session


def search(client: PlainClient, query: str, **given: Any) -> list[tuple[str, str, str]]:
    """What is found: session, speaker and match, with what stands beside it."""
    told = client.request("session/search", {"query": query, **given})
    assert "nextCursor" not in told
    return [
        (one["session"]["sessionId"], hit["speaker"], hit["before"] + hit["match"] + hit["after"])
        for one in told["sessions"]
        for hit in one["hits"]
    ]


def test_a_session_is_renamed_and_stays_where_it_was_in_the_list(
    start: Start, workspace: Path
) -> None:
    client = start()
    client.start(model="offline")
    session = opened(client, workspace, "read notes.txt")
    opened(client, workspace, "hello")
    _, before = client.request("session/list")["sessions"]
    given = {"sessionId": session, "title": " The\n notes é "}
    assert client.request("session/rename", given) == {"title": "The notes é"}
    told = client.updates("session_info_update")[-1]
    assert told["title"] == "The notes é"
    assert (
        client.request("session/rename", {**given, "title": "\ud800 odd"})["title"] == "\ufffd odd"
    )
    client.request("session/rename", given)
    for wrong in (" \n", "x" * 201):
        with pytest.raises(Refused, match="1 to 200 characters"):
            client.request("session/rename", {**given, "title": wrong})
    _, now = client.request("session/list")["sessions"]
    assert now == {**before, "title": "The notes é"}
    client.kill()
    again = start()
    again.start(model="offline")
    assert again.request("session/list")["sessions"][1] == now
    again.request("session/rename", {**given, "title": "Unopened"})
    assert say(again, session, "hello")["stopReason"] == "end_turn"
    assert again.request("session/list")["sessions"][0]["title"] == "Unopened"


def test_another_windows_session_keeps_its_title(start: Start, workspace: Path) -> None:
    client, other = start(), start()
    client.start(model="offline")
    other.start(model="offline")
    session = opened(client, workspace, "hello")
    with pytest.raises(Refused) as no:
        other.request("session/rename", {"sessionId": session, "title": "Mine"})
    assert no.value.code == -32011
    assert [hit[1] for hit in search(other, "hello")][:1] == ["title"]


def test_words_are_found_in_all_texts_of_all_sessions(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline")
    elsewhere = workspace / "inner"
    elsewhere.mkdir()
    old = opened(client, workspace, "read notes.txt")
    new = opened(client, elsewhere, "Say ALPHA, please")
    assert search(client, "gamma") == [(old, "tool", "read_file notes.txt alpha beta gamma")]
    assert {hit[0] for hit in search(client, "alpha")} == {new, old}
    assert {hit[0] for hit in search(client, "alpha", cwd=str(workspace))} == {old}
    said = search(client, 'please "say alpha"')
    assert [hit[:2] for hit in said[:2]] == [(new, "title"), (new, "user")]
    assert search(client, '"please say"') == search(client, "alpha nowhere") == []
    for query in ("", " \n", "x" * 1001):
        with pytest.raises(Refused, match="1 to 1000 characters") as no:
            client.request("session/search", {"query": query})
        assert no.value.code == -32602


def test_the_newest_match_is_first_and_names_its_message_and_the_part_to_recall(
    start: Start, workspace: Path
) -> None:
    client = start()
    client.start(model="offline")
    session = opened(client, workspace, "read notes.txt", "read notes.txt")
    (found,) = client.request("session/search", {"query": "gamma"})["sessions"]
    assert found["session"] == client.request("session/list")["sessions"][0]
    called = [call["_meta"]["sidecar"]["messageId"] for call in client.updates("tool_call")]
    assert [hit["messageId"] for hit in found["hits"]] == called[::-1]
    part = {"sessionId": session, "partId": found["hits"][0]["partId"]}
    assert "gamma" in client.request("context/recall", part)["content"]


def test_pages_follow_one_another_and_a_search_can_be_cancelled(
    start: Start, workspace: Path
) -> None:
    client = start()
    client.start(model="offline")
    first = opened(client, workspace, *(["hello there"] * 6))
    made = [client.request("session/fork", {"sessionId": first})["sessionId"] for _ in range(40)]
    seen, cursor = [], None
    for _ in range(50):
        asked = {"query": "hello there", "limit": 7} | ({"cursor": cursor} if cursor else {})
        told = client.request("session/search", asked)
        assert {(len(one["hits"]), one["more"]) for one in told["sessions"]} == {(5, True)}
        seen += [one["session"]["sessionId"] for one in told["sessions"]]
        cursor = told.get("nextCursor")
        if cursor is None:
            break
    assert seen == [*reversed(made), first]
    request = client.send("session/search", {"query": "nowhere to be found"})
    client.notify("$/cancelRequest", {"id": request})
    with pytest.raises(Refused) as cancelled:
        client.result(request)
    assert cancelled.value.code == -32800
    assert search(client, "nowhere to be found") == []
