"""What is otherwise in the workspace than the ledger has it."""

from sidecar.core.ledger.drift import MOST_LINES, drift, to_check
from sidecar.core.ledger.ledger import File
from sidecar.core.parts import TurnId

T = TurnId("t1")
FILES = (
    File("read.py", "read", ("read",), T, hash="1"),
    File("edited.py", "edited", ("edited",), T, hash="2"),
    File("gone.py", "deleted", ("deleted",), T),
    File("unknown.py", "created", ("created",), T),
)
SAME = {"read.py": "1", "edited.py": "2", "gone.py": None, "unknown.py": "9"}


def test_nothing_drifted_nothing_is_said() -> None:
    assert drift(FILES, "main", SAME, "main") == ()
    assert drift((), "", {}, "") == ()


def test_what_drifted_is_said_in_the_order_of_the_ledger() -> None:
    now = {"read.py": "8", "edited.py": "8", "gone.py": "8", "unknown.py": None}
    assert drift(FILES, "main", now, "other") == (
        "The git branch was main and is other now.",
        "read.py is not as it was when you read it: read it again before relying on it.",
        "edited.py is not as it was when you changed it: read it again before relying on it.",
        "gone.py was deleted and is there again.",
        "unknown.py is gone; it was created before.",
    )


def test_what_nobody_knows_is_no_drift() -> None:
    unread = dict.fromkeys(SAME, "")
    assert drift(FILES[:2], "main", unread, "") == ()
    assert drift(FILES, "", {}, "main") == ()


def test_a_file_that_was_deleted_and_cannot_be_read_is_there_again() -> None:
    assert drift(FILES, "", {"gone.py": ""}, "") == ("gone.py was deleted and is there again.",)


def test_of_very_many_the_first_are_named_and_the_others_counted() -> None:
    files = [File(f"{n}.py", "edited", ("edited",), T, hash="1") for n in range(100)]
    told = drift(files, "", {file.path: None for file in files}, "")
    assert len(told) == MOST_LINES + 1
    assert told[-1] == "… and 60 more files are not as they were."


def test_what_was_changed_and_what_was_touched_last_is_looked_at_first() -> None:
    assert to_check(FILES) == ("unknown.py", "gone.py", "edited.py", "read.py")
