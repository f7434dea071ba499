"""Notes that no view shows are packed, and are the same again for an undo."""

from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.visibility import Note, fold_rewrites
from sidecar.session.view.kept_notes import KeptIds, KeptNotes
from tests.session import inside
from tests.session.conftest import Desk

NOTES = tuple(
    Note(PartId(f"p{n}"), text, MessageId("m"), region)  # type: ignore[arg-type]
    for n, (text, region) in enumerate((("a\ud800é", "ledger"), ("", "summary"), ("b", "ledger")))
)


def test_packed_values_are_those_that_were_given() -> None:
    kept, ids = KeptNotes(NOTES), KeptIds(note.id for note in NOTES)
    for _ in range(2):
        assert kept == NOTES
        assert (*kept,) == NOTES
        assert (kept[1], kept[1:], len(kept)) == (NOTES[1], NOTES[1:], 3)
        kept.pack()
    assert ids == tuple(note.id for note in NOTES)
    assert (len(KeptNotes(())), *KeptIds(())) == (0,)


async def test_rewrites_are_undone_one_after_the_other_and_stored_whole(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    rewriting, views = worker.session.rewriting, []
    for _ in range(4):
        await worker.turns(2)
        views.append(inside.view(worker.session))
        await rewriting.compact("economic", None, dry_run=False)
    made = [one.rewrite for one in inside.rewrites(worker.session)]
    assert fold_rewrites(made) == inside.view(worker.session)
    stored = (one.body for one in inside.records(worker.session, "rewrite"))
    for rewrite, body in zip(made, stored, strict=True):
        assert body["retired"] == [*rewrite.retired]
        assert body["notes"] == [
            {"id": n.id, "text": n.text, "before": n.before, "region": n.region}
            for n in rewrite.notes
        ]
    for view in reversed(views):
        await rewriting.undo(None)
        assert inside.view(worker.session).notes == view.notes
