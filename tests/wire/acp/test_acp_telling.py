"""What commands of the Agent Client Protocol answer, as Markdown."""

from sidecar.core.parts import Json
from sidecar.wire.acp.markdown_answers import nothing


def test_where_nothing_is_to_be_done_every_path_says_why() -> None:
    skipped: list[Json] = [{"path": "a", "reason": "Kept."}, {"path": "b", "reason": "Too large."}]
    files: Json = {"restored": [], "merged": [], "skipped": skipped, "conflicts": []}
    assert nothing(files) == "Nothing was changed:\n\n- `a`: Kept.\n- `b`: Too large."
    assert nothing(None) == ""
