"""Settings that change while the daemon runs: what holds now, what later, what is told."""

import os
from pathlib import Path

import pytest

from sidecar.config import Config, Layer, merge
from sidecar.config.layers import Resolved, resolve
from sidecar.config.reload import CurrentSettings, Reloaded, reloaded, stamps
from sidecar.config.settings import SETTINGS, value_of

BEFORE = merge([Layer("file", {"max_steps": 9})])[0]


def after(**values: object) -> Reloaded:
    return reloaded(BEFORE, *merge([Layer("file", {"max_steps": 9, **values})]))


def test_each_change_is_told_by_when_it_holds() -> None:
    result = after(
        max_steps=5,
        keep_alive=True,
        model="m",
        retry={"attempts": 7},
        delegate={"steps": 3},
        provider={"api_key": "sk-secret", "name": "x"},
    )
    assert result.told == (
        "From the next turn: max_steps = 5, keep_alive = true, delegate.steps = 3.",
        "In sessions that begin now: model = m.",
        "Only after a restart of Sidecar: provider.name = x, provider.api_key = (set, not shown), "
        "retry.attempts = 7.",
    )
    assert not result.bad
    config = result.config
    assert (config.max_steps, config.keep_alive, config.model) == (5, True, "m")
    assert config.delegate.steps == 3
    assert (config.retry, config.provider) == (BEFORE.retry, BEFORE.provider)


def test_what_counts_now_is_said_beside_what_counts_after_a_restart() -> None:
    settings = CurrentSettings.of(resolve([Layer("file", {"max_steps": 9})]))
    told = settings.take(resolve([Layer("file", {"max_steps": 5, "retry": {"attempts": 7}})]))
    assert told.config is settings.config
    assert (settings.config.max_steps, settings.config.retry) == (5, BEFORE.retry)
    steps, attempts = settings.described["max_steps"], settings.described["retry.attempts"]
    assert isinstance(steps, dict)
    assert isinstance(attempts, dict)
    assert (steps["value"], steps.get("pending")) == (5, None)
    assert (attempts["value"], attempts["pending"]) == (BEFORE.retry.attempts, 7)
    settings.take(resolve([Layer("file", {"max_steps": 0})]))
    assert settings.config.max_steps == 5
    assert "max_steps" in settings.amiss[0]


def test_settings_that_need_a_restart_keep_their_values_all_of_them() -> None:
    other = merge([Layer("file", {"data_dir": "/elsewhere", "workspace_trusted": True})])[0]
    config = reloaded(BEFORE, other, ()).config
    for name, one in SETTINGS.items():
        expected = BEFORE if one.applies == "restart" else other
        assert value_of(config, name) == value_of(expected, name), name


@pytest.mark.parametrize("wrong", [{"max_steps": 0}, {"retry": {"attempts": "x"}}, {"log": 3}])
def test_a_value_that_cannot_be_used_keeps_everything_as_it_was(wrong: dict[str, object]) -> None:
    result = after(**{"keep_alive": True, **wrong})
    assert result.config == BEFORE
    assert result.bad
    assert "stay as they were" in result.told[0]
    assert next(iter(wrong)) in result.told[0]


def test_a_value_that_cannot_be_used_keeps_no_rejecting_rule_out() -> None:
    """As of a folder that is trusted meanwhile; nothing else of its file counts."""
    wrong = Layer("user", {"max_steps": 0, "permissions": {"reject": ["todo"]}})
    theirs = Layer("theirs", {"window": 5000, "permissions": {"reject": ["edit"]}}, restricted=True)
    settings = CurrentSettings.of(resolve([wrong]))
    told = settings.take(resolve([wrong, theirs]))
    assert settings.config.permissions.reject == ("todo", "edit")
    assert settings.config.window is None
    assert "stay as they were, but for new rejecting rules. user: max_steps" in told.told[0]


def test_what_is_wrong_with_a_workspaces_file_keeps_nothing_of_the_users_back() -> None:
    """Else the file would keep a rule that the user takes back, or one against it out."""

    def both(theirs: dict[str, object], **permissions: list[str]) -> Resolved:
        users = Layer("user", {"permissions": permissions, "keep_alive": not permissions["allow"]})
        return resolve([users, Layer("theirs", theirs, restricted=True, kind="workspace")])

    settings = CurrentSettings.of(
        both({"max_steps": 9, "permissions": {"reject": ["edit"]}}, allow=["shell"], reject=[])
    )
    told = settings.take(both({"permissions": {"allow": ["shell"]}}, allow=[], reject=["search"]))
    assert told.bad
    assert "a workspace may not set this" in told.told[-1]
    assert settings.config.permissions.allow == ()
    # What the file forbade and cannot be read any more is still forbidden.
    assert set(settings.config.permissions.reject) == {"edit", "search"}
    assert settings.config.keep_alive


HUGE = 10**400
ODD: list[object] = [
    HUGE, -HUGE, 1e999, float("nan"), "", "\0", "x" * 9_000, True, [HUGE, 2, 3], [[HUGE]],
    {"plan": {"policy": "evict-hybrid", "weights": {"lru": HUGE}}}, {"a": {"b": HUGE}}, {"": HUGE},
]  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_no_value_keeps_the_other_settings_from_being_read(name: str) -> None:
    """What a workspace's file holds would keep back a rule that the user adds."""
    users = Layer("user", {"permissions": {"reject": ["edit"]}})
    for odd in ODD:
        value = odd
        for step in reversed(name.split(".")):
            value = {step: value}
        assert isinstance(value, dict)
        theirs = Layer("theirs", value, restricted=True, kind="workspace")
        assert "edit" in resolve([users, theirs]).config.permissions.reject


def test_a_key_that_is_unknown_keeps_nothing_back() -> None:
    result = after(keep_alive=True, keep_alvie=False)
    assert result.config.keep_alive
    assert result.bad
    assert result.told[-1].endswith("Did you mean `keep_alive`?")


@pytest.mark.parametrize(
    "permissions", [{"deny": ["edit"]}, {"edit": "ask"}, {"edit": "deny"}, {"rejekt": ["edit"]}]
)
def test_what_is_no_rule_takes_no_rejecting_rule_away(permissions: dict[str, object]) -> None:
    """Answers by "always" would go on, and allow what was forbidden."""
    settings = CurrentSettings.of(resolve([Layer("user", {"permissions": {"reject": ["edit"]}})]))
    told = settings.take(resolve([Layer("user", {"permissions": permissions})]))
    assert settings.config.permissions.reject == ("edit",)
    assert "The settings stay as they were. user: permissions." in told.told[0]


def test_nothing_changed_and_nothing_is_told() -> None:
    assert after() == Reloaded(BEFORE, ())
    assert reloaded(Config(), Config(), ()).told == ()


def test_a_file_is_another_one_when_it_was_written_replaced_or_removed(tmp_path: Path) -> None:
    file, other = tmp_path / "config.toml", tmp_path / "other"
    seen = [stamps([file])]
    file.write_text("a = 1\n")
    seen.append(stamps([file]))
    file.write_text("a = 12\n")
    seen.append(stamps([file]))
    other.write_text("a = 12\n")
    os.utime(other, ns=(0, file.stat().st_mtime_ns))
    other.replace(file)
    seen.append(stamps([file]))
    assert len(set(seen)) == 4
    assert stamps([file]) == seen[-1]
