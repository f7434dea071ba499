"""Who made a change: tools by what they wrote, the shell by its running, the user by the rest."""

from sidecar.core.files.changeset import PathChange, ToolWrite, attribute, same, state
from sidecar.core.files.tree import Delta, TreeChange, TreeEntry
from tests.core.trees import a_file, compare

FILE, FOLDER, LINK = 0o100644, 0o040755, 0o120777


def told(
    changes: Delta,
    tools: tuple[ToolWrite, ...] = (),
    shell: bool = False,
    saved: tuple[bytes, ...] = (),
    between_steps: bool = False,
) -> list[tuple[bytes, str, str]]:
    found = attribute(changes, tools=tools, shell=shell, saved=saved, between_steps=between_steps)
    return [(c.path, c.change, c.author) for c in found]


def test_a_change_is_named_for_people() -> None:
    before = {b"e": a_file("1"), b"d": a_file("2"), b"m": a_file("3"), b"r": a_file("4")}
    after = {
        b"c": a_file("5"),
        b"e": a_file("6"),
        b"m": a_file("3", 0o100755),
        b"r": TreeEntry(LINK),
    }
    assert told(compare(before, after), shell=True) == [
        (b"c", "created", "shell"),
        (b"d", "deleted", "shell"),
        (b"e", "modified", "shell"),
        (b"m", "mode", "shell"),
        (b"r", "modified", "shell"),
    ]


def test_what_came_between_steps_is_the_users_whatever_it_was() -> None:
    delta = compare({}, {b"a": a_file("1")})
    write = ToolWrite(b"a", None, a_file("1"))
    assert told(delta, (write,), shell=True, between_steps=True) == [(b"a", "created", "user")]


def test_without_a_shell_only_what_tools_wrote_is_the_agents() -> None:
    delta = compare({b"a": a_file("0")}, {b"a": a_file("1"), b"b": a_file("2")})
    write = ToolWrite(b"a", a_file("0"), a_file("1"))
    assert told(delta, (write,)) == [(b"a", "modified", "tool"), (b"b", "created", "user")]


def test_while_a_shell_runs_what_no_buffer_saved_is_the_shells() -> None:
    delta = compare({}, {b"a": a_file("1"), b"b": a_file("2")})
    assert told(delta, shell=True, saved=(b"b",)) == [
        (b"a", "created", "shell"),
        (b"b", "created", "user"),
    ]


def test_an_edit_of_the_user_after_a_tool_wrote_stands_beside_it() -> None:
    delta = compare({b"a": a_file("0")}, {b"a": a_file("2")})
    found = attribute(
        delta,
        tools=[ToolWrite(b"a", a_file("0"), a_file("1"))],
        shell=True,
        saved=[b"a"],
        between_steps=False,
    )
    left = a_file("1")
    assert found == (
        PathChange(b"a", "modified", "tool", a_file("0"), left),
        PathChange(b"a", "modified", "user", left, a_file("2")),
    )


def test_an_edit_of_the_user_before_a_tool_wrote_stands_beside_it() -> None:
    old, saved, new = a_file("0"), a_file("1"), a_file("2")
    found = attribute(
        compare({b"a": old}, {b"a": new}),
        tools=[ToolWrite(b"a", saved, a_file("2"))],
        shell=False,
        saved=[b"a"],
        between_steps=False,
    )
    assert found == (
        PathChange(b"a", "modified", "user", old, saved),
        PathChange(b"a", "modified", "tool", saved, new),
    )


def test_several_writes_are_one_change_unless_somebody_came_between() -> None:
    delta = compare({}, {b"a": a_file("3")})
    one, two = (
        ToolWrite(b"a", None, a_file("1")),
        ToolWrite(b"a", TreeEntry(FILE, "b2:1"), a_file("3")),
    )
    assert told(delta, (one, two)) == [(b"a", "created", "tool")]
    other = ToolWrite(b"a", a_file("2"), a_file("3"))
    assert told(delta, (one, other)) == [
        (b"a", "created", "tool"),
        (b"a", "modified", "user"),
        (b"a", "modified", "tool"),
    ]


def test_what_a_tool_wrote_and_the_shell_changed_is_all_the_agents() -> None:
    delta = compare({}, {b"a": a_file("2", 0o100755)})
    assert told(delta, (ToolWrite(b"a", None, a_file("1")),), shell=True) == [
        (b"a", "created", "tool"),
        (b"a", "modified", "shell"),
    ]


def test_a_tool_may_remove_a_file_and_the_user_make_it_anew() -> None:
    write = ToolWrite(b"a", a_file("0"), None)
    assert told(compare({b"a": a_file("0")}, {}), (write,)) == [(b"a", "deleted", "tool")]
    again = compare({b"a": a_file("0")}, {b"a": a_file("1")})
    assert told(again, (write,)) == [(b"a", "deleted", "tool"), (b"a", "created", "user")]


def test_folders_that_a_tool_made_on_its_way_are_its_own() -> None:
    after = {
        b"d": TreeEntry(FOLDER),
        b"d/e": TreeEntry(FOLDER),
        b"d/e/a": a_file("1"),
        b"f": TreeEntry(FOLDER),
    }
    assert told(compare({}, after), (ToolWrite(b"d/e/a", None, a_file("1")),)) == [
        (b"d", "created", "tool"),
        (b"d/e", "created", "tool"),
        (b"d/e/a", "created", "tool"),
        (b"f", "created", "user"),
    ]


def test_what_becomes_of_a_folder_that_a_tool_writes_to_is_not_its_doing() -> None:
    before = {b"d": TreeEntry(FOLDER)}
    after = {b"d": TreeEntry(0o040700), b"d/a": a_file("1")}
    assert told(compare(before, after), (ToolWrite(b"d/a", None, a_file("1")),)) == [
        (b"d", "mode", "user"),
        (b"d/a", "created", "tool"),
    ]


def test_what_a_tool_left_has_the_mode_that_the_file_had() -> None:
    old, new = a_file("0", 0o100755), a_file("2", 0o100755)
    (tool, user) = attribute(
        compare({b"a": old}, {b"a": new}),
        tools=[ToolWrite(b"a", old, a_file("1", 0o100755))],
        shell=False,
        saved=(),
        between_steps=False,
    )
    assert tool.new == user.old == a_file("1", 0o100755)


def test_what_ignore_rules_show_or_hide_is_nobodys_change() -> None:
    out = TreeEntry(FILE, size=1, lost="ignored")
    hidden, shown = TreeChange(b"a", a_file("0"), out), TreeChange(b"b", out, a_file("1"))
    assert told((hidden, shown), shell=True) == []
    # What a tool wrote is its change all the same.
    assert told((shown,), (ToolWrite(b"b", a_file("0"), a_file("1")),)) == [
        (b"b", "modified", "tool")
    ]


def test_a_rename_is_one_change_with_its_source() -> None:
    delta = compare({b"README": a_file("1")}, {b"readme": a_file("1", 0o100755)})
    found = attribute(delta, tools=(), shell=True, saved=(), between_steps=False)
    old, new = a_file("1"), a_file("1", 0o100755)
    assert found == (PathChange(b"readme", "renamed", "shell", old, new, b"README"),)


def test_two_authors_make_no_rename_together() -> None:
    delta = compare({b"a": a_file("1")}, {b"b": a_file("1")})
    assert told(delta, shell=True, saved=(b"b",)) == [
        (b"a", "deleted", "shell"),
        (b"b", "created", "user"),
    ]


def test_what_was_moved_and_edited_by_another_is_told_step_by_step() -> None:
    delta = compare({b"a": a_file("1")}, {b"b": a_file("2")})
    assert told(delta, (ToolWrite(b"b", a_file("1"), a_file("2")),)) == [
        (b"a", "deleted", "user"),
        (b"b", "created", "user"),
        (b"b", "modified", "tool"),
    ]


def test_a_hash_alone_says_that_contents_are_equal() -> None:
    assert same(TreeEntry(FILE, "b2:1"), a_file("1"))
    assert not same(TreeEntry(FILE, "b2:1"), a_file("1", 0o100755))
    assert not same(TreeEntry(FILE, size=1, lost="large", version=1), TreeEntry(FILE, "b2:1", 1))
    assert not same(
        TreeEntry(FILE, size=1, lost="large", version=1),
        TreeEntry(FILE, size=1, lost="large", version=2),
    )
    assert not same(None, TreeEntry(FOLDER))
    assert same(None, None)


def test_states_are_equal_where_they_are_the_same() -> None:
    large = TreeEntry(FILE, size=1, lost="large", version=1)
    states = [None, TreeEntry(FOLDER), a_file("1"), a_file("1", 0o100755), a_file("2"), large]
    states += [TreeEntry(FILE, "b2:1"), large._replace(lost="full"), large._replace(version=2)]
    for one in states:
        for other in states:
            assert (state(one) == state(other)) == same(one, other)


def test_while_a_shell_runs_what_nothing_vouches_for_is_unknown_but_for_folders() -> None:
    delta = compare(
        {}, {b"a": a_file("1"), b"b": a_file("2"), b"d": TreeEntry(FOLDER), b"d/c": a_file("3")}
    )
    found = attribute(
        delta,
        tools=(),
        shell=True,
        saved=(b"b",),
        between_steps=False,
        vouched=lambda change: change.path == b"d/c",
    )
    assert [(c.path, c.author) for c in found] == [
        (b"a", "unknown"),
        (b"b", "user"),
        (b"d", "shell"),
        (b"d/c", "shell"),
    ]
