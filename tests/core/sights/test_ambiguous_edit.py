"""An edit at one of several equal places: which one was changed, the log does not tell."""

from tests.core.sights.calls import PATH, edit, heard, known, read


def test_only_the_lines_of_the_places_are_forgotten() -> None:
    files = heard(
        read(PATH, ["top", "same", "middle", "same", "end"]), edit(PATH, "same", "one\ntwo")
    )
    file = files.files[PATH]
    assert known(file) == {1: "top", 3: "middle", 5: "end"}
    assert file.drift == 1


def test_a_read_after_it_is_believed_in_place_of_all() -> None:
    shown = ["top", "same", "middle", "one", "two", "end"]
    files = heard(
        read(PATH, ["top", "same", "middle", "same", "end"]),
        edit(PATH, "same", "one\ntwo"),
        read(PATH, shown),
    )
    assert list(known(files.files[PATH]).values()) == shown
