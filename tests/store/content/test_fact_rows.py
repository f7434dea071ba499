"""Facts in the store: kept once, found by words that people type, and gone with their session."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.conversation.fact import SPEAKERS, Speaker, fact_id, key_of
from sidecar.core.errors import UnknownSession
from sidecar.core.parts import SessionId, TurnId
from sidecar.store.content import fact_rows as module
from sidecar.store.format import migrations
from sidecar.store.format.values import PutSession
from sidecar.store.journal import Store
from tests.core.stated import stated
from tests.store.on_disk import behind
from tests.store.samples import NOW, open_store, session

HOME = "/home/dev/app"
ONE, TWO = SessionId("ses_1"), SessionId("ses_2")


def fact(content: str, kind: Any = "learning", at: int = NOW, source: str = "turn_1") -> Any:
    return stated(content, kind, at, source)


async def found(store: Store, query: str | None = None, **only: str) -> list[str]:
    ids = {key: SessionId(value) if key == "session_id" else value for key, value in only.items()}
    rows = await store.facts.find(query=query, limit=100, **ids)  # type: ignore[arg-type] # by name
    return [row.fact.content for row in rows]


async def test_what_was_added_is_there_newest_first(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    old, new = fact("old", at=NOW), fact("new", "decision", NOW + 1)
    await store.facts.add(ONE, HOME, [new, old])
    await store.close()
    store = open_store(tmp_path)
    rows = await store.facts.find(limit=5)
    assert [row.fact for row in rows] == [new, old]
    assert (rows[0].id, rows[0].session_id, rows[0].learned) == (fact_id(new), ONE, False)
    assert await store.facts.find(limit=1) == rows[:1]
    await store.close()


@pytest.mark.parametrize("who", SPEAKERS)
async def test_a_fact_says_who_said_it_whoever_it_was(tmp_path: Path, who: Speaker) -> None:
    store = open_store(tmp_path)
    said = stated("The port is 8080.", "learning", NOW, who=who)
    await store.facts.add(ONE, HOME, [said])
    assert [row.fact for row in await store.facts.find(limit=5)] == [said]
    assert [one.fact for one in await store.facts.candidates(ONE)] == [said]
    await store.close()


async def test_the_same_fact_is_kept_once_in_a_session(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.facts.add(ONE, HOME, [fact("Use pnpm."), fact("use `pnpm`", at=NOW + 9)])
    await store.facts.add(ONE, HOME, [fact("Use pnpm.", at=NOW + 5)])
    await store.facts.add(TWO, HOME, [fact("Use pnpm.", at=NOW + 5)])
    rows = await store.facts.find(query="pnpm", limit=9)
    assert [(row.session_id, row.fact.at) for row in rows] == [(TWO, NOW + 5), (ONE, NOW)]
    await store.facts.add(ONE, HOME, [])
    await store.close()


async def test_only_those_that_are_asked_for(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.facts.add(ONE, HOME, [fact("a", "decision"), fact("b")])
    await store.facts.add(TWO, "/elsewhere", [fact("c", "decision")])
    assert await found(store, session_id="ses_1") == ["b", "a"]
    assert await found(store, cwd="/elsewhere") == ["c"]
    assert await found(store, kind="decision") == ["c", "a"]
    assert await found(store, "b", kind="decision") == []
    with pytest.raises(UnknownSession):
        await found(store, session_id="ses_9")
    await store.write(PutSession(session("ses_9")))
    assert await found(store, session_id="ses_9") == []
    await store.close()


SAID = (
    "The migration tool needs DATABASE_URL to be set",
    "Run `pnpm test --filter api` before a commit",
    'He said "never" touch src/legacy/*.py',
    "Größe is written in café style; 100% of names",
    "C++ and C# are built by build_all.sh",
)
ASKED = [
    ("migration", [0]),
    ("MIGR", [0]),
    ("needs migration", [0]),
    ("migr needs", []),
    ("database_url", [0]),
    ("DATABASE_U", [0]),
    ("pnpm te", [1]),
    ("grosse", []),
    ("groß", [3]),
    ("cafe", [3]),
    ("build_all.sh", [4]),
    ("src/legacy", [2]),
    ('"never', [2]),
    ('never" OR "x', []),
    ("NOT pnpm", []),
    ("text:pnpm", []),
    ("pnpm AND", []),
    ("NEAR(pnpm test)", []),
    ("pnpm*", [1]),
    ("^pnpm", [1]),
    ("{text} : pnpm", []),
    ("-- pnpm ;", [1]),
    ("100%", [3]),
    ("C++", [4]),
    ("++", [4]),
    ("%", [3]),
    ("*", [2]),
    ("  ", [0, 1, 2, 3, 4]),
    ("\ud800", []),
    ("pnpm\0test", [1]),
    ("\0", []),
    ("'; DROP TABLE fact; --", []),
]


@pytest.mark.parametrize(("query", "expected"), ASKED)
async def test_any_query_finds_its_words(tmp_path: Path, query: str, expected: list[int]) -> None:
    store = open_store(tmp_path)
    await store.facts.add(ONE, HOME, [fact(s, at=NOW - n) for n, s in enumerate(SAID)])
    assert await found(store, query) == [SAID[n] for n in expected]
    await store.close()


WITHOUT_INDEX = [("migr needs", [0]), ("migr_tion", []), ("100%", [3]), ("PNPM api", [1])]


@pytest.mark.parametrize(("query", "expected"), WITHOUT_INDEX)
async def test_without_full_text_search_words_are_found_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, expected: list[int]
) -> None:
    for where in (migrations, module):
        monkeypatch.setattr(where, "has_full_text", lambda _: False)
    store = open_store(tmp_path)
    await store.facts.add(ONE, HOME, [fact(s, at=NOW - n) for n, s in enumerate(SAID)])
    assert await found(store, query) == [SAID[n] for n in expected]
    monkeypatch.undo()
    assert await found(store, query) == [SAID[n] for n in expected]
    assert (await store.verify()).problems == ()
    await store.facts.add(TWO, HOME, [fact("more")])
    await store.delete(ONE)
    assert await found(store) == ["more"]
    await store.close()


async def test_text_that_no_database_holds_comes_back(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.facts.add(ONE, "/caf\udce9", [fact("half \ud83d of it\0 all")])
    assert await found(store, "half", cwd="/caf\udce9") == ["half \ud83d of it\0 all"]
    await store.close()


async def test_a_deleted_session_leaves_what_was_promoted(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(PutSession(session()), PutSession(session("ses_2")))
    await store.facts.add(ONE, HOME, [fact("stays here"), fact("goes away")])
    await store.facts.add(TWO, HOME, [fact("another stays")])
    await store.facts.promoted(HOME, [key_of("stays here")], NOW)
    await store.facts.promoted(HOME, [key_of("stays here")], NOW)
    await store.facts.promoted("/elsewhere", [key_of("goes away")], NOW)
    await store.delete(ONE)
    rows = await store.facts.find(session_id=ONE, limit=9)
    assert [(row.fact.content, row.learned) for row in rows] == [("stays here", True)]
    assert await found(store) == ["another stays", "stays here"]
    assert await found(store, "goes") == []
    assert await found(store, "stays") == ["another stays", "stays here"]
    await store.close()


async def test_candidates_are_counted_by_sessions_that_found_out_themselves(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path)
    three, gone = SessionId("ses_3"), SessionId("ses_4")
    for name in ("ses_1", "ses_2", "ses_3"):
        await store.write(PutSession(session(name)))
    orphan = replace(session("ses_4"), settings={"parent": "ses_deleted"})
    await store.write(PutSession(orphan))
    own = [fact("once"), fact("twice"), fact("forked"), fact("done"), fact("by an orphan")]
    await store.facts.add(ONE, HOME, own)
    await store.facts.add(gone, HOME, [fact("by an orphan", source="turn_4")])
    await store.facts.add(TWO, HOME, [fact("TWICE", "decision", source="turn_2")])
    await store.facts.add(three, "/elsewhere", [fact("once", source="turn_3")])
    await store.facts.add(three, HOME, [fact("forked")])
    await store.facts.promoted(HOME, [key_of("done")], NOW)
    found = {c.fact.content: c.sessions for c in await store.facts.candidates(ONE)}
    assert found == {"once": 1, "twice": 2, "forked": 1, "by an orphan": 1}
    rule = replace(fact("a rule", "constraint"), who="model")
    await store.facts.add(ONE, HOME, [rule])
    await store.facts.add(TWO, HOME, [replace(rule, source=TurnId("turn_2"), who="tool")])
    assert (await store.facts.candidates(ONE))[-1].sessions == 1
    await store.facts.add(three, HOME, [replace(rule, source=TurnId("turn_3"))])
    assert (await store.facts.candidates(ONE))[-1].sessions == 2
    await store.close()


async def test_damage_is_found_and_the_rest_is_listed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.facts.add(ONE, HOME, [fact("a"), fact("b"), fact("c")])
    assert (await store.verify()).problems == ()

    def spoil(con: sqlite3.Connection) -> None:
        con.execute("UPDATE fact SET body = x'00' WHERE text = 'a'")
        con.execute("UPDATE fact SET id = 'fact_x' WHERE text = 'b'")

    await behind(store, spoil)
    problems = "\n".join((await store.verify()).problems)
    assert "cannot be read" in problems
    assert "fact fact_x of session ses_1 has the body of fact_" in problems
    assert await found(store) == ["c", "b"]
    await store.close()


async def test_what_was_written_is_known_by_folder_and_only_so_much_of_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for path in (b"/w/a", b"/w/in/\xff", b"/w", b"/w0", b"/w-2/a", b"/v/a"):
        await store.facts.writes(path, "one")
    await store.facts.writes(b"/w/a", "two")
    await store.facts.writes(b"/w/a", "one")
    await store.close()
    store = open_store(tmp_path)
    assert await store.facts.written(b"/w") == {
        (b"/w/a", "one"),
        (b"/w/a", "two"),
        (b"/w/in/\xff", "one"),
    }
    for number in range(module.MOST_WRITTEN - 1):
        await store.facts.writes(b"/w/a", str(number))
    kept = {name for path, name in await store.facts.written(b"/w") if path == b"/w/a"}
    assert len(kept) == module.MOST_WRITTEN
    # The one that was written again last is not the oldest.
    assert "one" in kept
    assert "two" not in kept
    await store.close()
