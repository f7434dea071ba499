"""Configuration: precedence, what a workspace may not do, and errors that say where."""

from decimal import Decimal
from pathlib import Path

import pytest

from sidecar.config import (
    OPTIONS,
    Config,
    DelegateLimits,
    Layer,
    PermissionSettings,
    Problem,
    Secret,
    default_model,
    environment_layer,
    load,
    merge,
)
from sidecar.config.alert_thresholds import Alerts
from sidecar.config.strategies import Strategy
from sidecar.config.telemetry_settings import Telemetry
from sidecar.core.conversation.wishes import ANY_AGENT, Preserve, for_agent
from sidecar.core.errors import BadRequest

KEY = "sk-ant-very-secret"


def said(values: dict[str, object], *, restricted: bool = False) -> list[str]:
    return [str(problem) for problem in merge([Layer("here", values, restricted)])[1]]


def loaded(
    tmp_path: Path,
    *,
    user: str = "",
    workspace: str = "",
    environment: dict[str, str] | None = None,
    options: dict[str, object] | None = None,
) -> tuple[Config, tuple[Problem, ...]]:
    (tmp_path / "user.toml").write_text(user)
    (tmp_path / ".sidecar").mkdir()
    (tmp_path / ".sidecar/config.toml").write_text(workspace)
    return load(
        workspace=tmp_path,
        environment=environment or {},
        options=options or {},
        user=tmp_path / "user.toml",
    )


def test_the_default_model_depends_on_who_could_answer() -> None:
    assert default_model(False) == "offline"
    assert default_model(True).startswith("claude-")
    assert merge([])[0].model == "offline"
    assert merge([environment_layer({"ANTHROPIC_API_KEY": KEY})])[0].model == default_model(True)
    served = merge([Layer("x", {"provider": {"base_url": "http://localhost:11434"}})])[0]
    assert served.model == default_model(True)
    assert merge([Layer("x", {"model": "m"})])[0].model == "m"


def test_later_layers_go_before_earlier_ones(tmp_path: Path) -> None:
    config, problems = loaded(
        tmp_path,
        user="model='user'\npolicy='codex'\nagent='user'\nlog='error'\nworkspace_trusted=true",
        workspace="model = 'workspace'\npolicy = 'manual'\nwindow = 5000",
        environment={"SIDECAR_LOG": "DEBUG", "SIDECAR_DATA_DIR": str(tmp_path / "data")},
        options={
            "model": "client",
            "maxTokens": 7000,
            "config": {"maxSteps": 3, "model": "no"},
            "keepAlive": True,
        },
    )
    assert problems == ()
    assert config.keep_alive
    assert not Config().keep_alive
    assert (config.model, config.policy, config.agent) == ("client", "manual", "user")
    assert (config.log, config.data_dir) == ("debug", tmp_path / "data")
    assert (config.window, config.max_tokens, config.max_steps) == (5000, 7000, 3)


def test_environment_goes_before_files_and_the_client_before_both(tmp_path: Path) -> None:
    config, _ = loaded(
        tmp_path,
        user="provider = {api_key = 'file', base_url = 'http://file', name = 'file'}",
        environment={"ANTHROPIC_API_KEY": "environment", "ANTHROPIC_BASE_URL": "http://env/"},
        options={"provider": {"apiKey": KEY}},
    )
    assert config.provider.api_key == KEY
    assert config.provider.base_url == "http://env"
    assert config.provider.name == "file"


def test_what_a_subtask_may_take(tmp_path: Path) -> None:
    config, problems = loaded(
        tmp_path,
        user="delegate = {steps = 5, cost = 0.1}",
        options={"delegate": {"tokens": 5000, "cost": "0.25"}},
    )
    assert problems == ()
    assert config.delegate == DelegateLimits(5, 5000, Decimal("0.25"))
    assert Config().delegate == DelegateLimits(50, None, None)


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"tokens": 10}, {"cost": 0}, {"cost": "much"}, {"cost": True}, {"cost": "nan"}],
)
def test_what_no_subtask_can_be_held_to(wrong: dict[str, object]) -> None:
    config, problems = merge([Layer("user", {"delegate": wrong})])
    assert config.delegate == DelegateLimits()
    assert [problem.path for problem in problems] == [f"delegate.{next(iter(wrong))}"]


def test_an_untrusted_workspace_configures_nothing(tmp_path: Path) -> None:
    config, problems = loaded(tmp_path, workspace="model = 'theirs'\nbad = 1")
    assert (config.model, problems) == ("offline", ())


def test_a_workspace_cannot_trust_itself(tmp_path: Path) -> None:
    config, _ = loaded(tmp_path, workspace="workspace_trusted = true\nmodel = 'theirs'")
    assert not config.workspace_trusted
    assert config.model == "offline"


def test_the_client_may_withdraw_trust(tmp_path: Path) -> None:
    config, _ = loaded(
        tmp_path,
        user="workspace_trusted = true",
        workspace="model = 'theirs'",
        options={"workspaceTrusted": False},
    )
    assert config.model == "offline"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provider", {"name": "x"}),
        ("provider", {"base_url": "http://evil"}),
        ("provider", {"api_key": "x"}),
        ("data_dir", "/tmp/x"),
        ("permissions", {"allow": ["shell"]}),
        ("permissions", {"shell": "allow"}),
        ("snapshots", {"workspace_mib": 99_999}),
        ("workspace_trusted", True),
        ("telemetry", {"endpoint": "http://evil"}),
        ("telemetry", {"exporter": "prometheus"}),
    ],
)
def test_a_workspace_may_not_give_itself_power(key: str, value: object) -> None:
    config, problems = merge([Layer("theirs", {key: value}, restricted=True)])
    assert config == Config()
    assert problems
    assert all("a workspace may not set this" in problem.message for problem in problems)


def test_a_workspace_may_forbid_more() -> None:
    layers = [
        Layer("user", {"permissions": {"allow": ["write_file"], "reject": ["todo"]}}),
        Layer("theirs", {"permissions": {"reject": ["shell:rm *", "todo"]}}, restricted=True),
    ]
    config, problems = merge(layers)
    assert config.permissions == PermissionSettings(("write_file",), ("todo", "shell:rm *"))
    assert problems == ()


def test_permissions_may_be_written_as_verdicts_by_tool() -> None:
    table = {"shell": "allow", "write_file": "reject", "allow": ["x"]}
    config, problems = merge([Layer("x", {"permissions": table})])
    assert config.permissions == PermissionSettings(("x", "shell"), ("write_file",))
    assert problems == ()


def test_a_verdict_that_would_limit_a_wider_rule_is_told(tmp_path: Path) -> None:
    """Other agents ask about `rm` here; we do not, so nothing is allowed."""
    table = '[permissions]\nshell = "allow"\n"shell:rm *" = "ask"\n'
    config, (problem,) = loaded(tmp_path, user=table)
    assert config.permissions == PermissionSettings()
    assert f"{tmp_path / 'user.toml'}:3: permissions.shell:rm *: is asked about only where" in str(
        problem
    )
    assert problem.unknown


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"maxTokns": 1}, "here: maxTokns: is not a setting. Did you mean `maxTokens`?"),
        ({"modle": "x"}, "here: modle: is not a setting. Did you mean `model`?"),
        (
            {"provider": {"api_kye": "x"}},
            "here: provider.api_kye: is not a setting. Did you mean `provider.api_key`?",
        ),
        ({"zzz": 1}, "here: zzz: is not a setting."),
        ({"window": "big"}, "here: window: must be a whole number, not a string."),
        ({"window": True}, "here: window: must be a whole number, not a boolean."),
        ({"window": 10}, "here: window: must be from 1000 to 1000000000, not 10."),
        ({"model": ""}, "here: model: is empty. Leave it out for the default."),
        ({"model": 3}, "here: model: must be a string, not a number."),
        ({"provider": "x"}, "here: provider: must be a table, not a string."),
        ({"data_dir": "here"}, "here: data_dir: must be an absolute path."),
        (
            {"delegate": {"step": 1}},
            "here: delegate.step: is not a setting. Did you mean `delegate.steps`?",
        ),
        ({"retyr": {"attempts": 1}}, "here: retyr: is not a setting. Did you mean `retry`?"),
        ({"log": "loud"}, "here: log: must be one of debug, info, warning, error."),
        (
            {"provider": {"baseUrl": "localhost"}},
            "here: provider.baseUrl: must begin with http:// or https://.",
        ),
        ({"instructions": "no"}, "here: instructions: must be true or false, not a string."),
        (
            {"alerts": {"hitRate": 70}},
            "here: alerts.hitRate: must be more than 0 and at most 1, not 70.",
        ),
        ({"alerts": {"evictions": "5"}}, "here: alerts.evictions: must be a number."),
        (
            {"alerts": {"hit_rte": 0.7}},
            "here: alerts.hit_rte: is not a setting. Did you mean `alerts.hit_rate`?",
        ),
        (
            {"telemetry": {"exporter": "jaeger"}},
            "here: telemetry.exporter: must be one of none, prometheus, otlp, console.",
        ),
        (
            {"telemetry": {"endpoint": "localhost:4318"}},
            "here: telemetry.endpoint: must begin with http:// or https://.",
        ),
        ({"telemetry": {"port": 70_000}}, "here: telemetry.port: must be a port, from 0 to 65535."),
        ({"zones": [10**400, 2, 3]}, "here: zones: has a number that is too large."),
        (
            {"zones": [0.9, 0.5, 0.75]},
            "here: zones: must be three rising shares between 0 and 1, such as [0.5, 0.75, 0.9].",
        ),
        ({"keepAlive": 1}, "here: keepAlive: must be true or false, not a number."),
    ],
)
def test_problems_say_where_and_what(values: dict[str, object], problem: str) -> None:
    assert said(values) == [problem]


def test_what_is_to_be_kept_is_said_for_all_agents_or_for_each(tmp_path: Path) -> None:
    config, problems = loaded(
        tmp_path, user="preserve = {tools = ['skill'], texts = ['a b'], focus = 'the API'}"
    )
    assert problems == ()
    kept = Preserve(tools=frozenset({"skill"}), texts=("a b",), focus="the API")
    assert config.preserve == {ANY_AGENT: kept}
    named = {"*": {"patterns": ["^PLAN"]}, "plan": {"tools": ["todo"]}}
    config, problems = merge([Layer("user", {"preserve": named})])
    assert not problems
    assert for_agent(config.preserve, "plan") == Preserve(("^PLAN",), frozenset({"todo"}))
    assert for_agent(config.preserve, "build") == Preserve(("^PLAN",))


def test_each_agent_may_have_a_strategy_of_its_own(tmp_path: Path) -> None:
    text = "[agents.plan]\npolicy = 'evict-hybrid'\nweights = {lru = 2, semantic = 1}\n"
    config, problems = loaded(tmp_path, user=f"{text}[agents.build]\nauto_compact = false\n")
    assert problems == ()
    assert config.agents == {
        "plan": Strategy("evict-hybrid", {"lru": 2.0, "semantic": 1.0}),
        "build": Strategy(auto_compact=False),
    }


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (5, "must be a table"),
        ({"plan": 5}, "plan must be a table with policy, weights, auto_compact."),
        ({"plan": {"polcy": "manual"}}, "plan has policy, weights, auto_compact, not polcy."),
        ({"plan": {"policy": "manul"}}, "plan.policy 'manul' is no policy. Did you mean 'manual'?"),
        ({"plan": {"weights": {"lru": 1}}}, 'plan.weights are for policy = "evict-hybrid"'),
        ({"plan": {"policy": "evict-hybrid", "weights": {"lrv": 1}}}, "lrv: not known"),
        ({"plan": {"policy": "evict-hybrid", "weights": {"lru": -1}}}, "must be above 0"),
        ({"plan": {"policy": "evict-hybrid", "weights": {"lru": "x"}}}, "table of numbers"),
    ],
)
def test_a_strategy_that_is_none_is_told(wrong: object, words: str) -> None:
    [problem] = said({"agents": wrong})
    assert problem.startswith("here: agents: ")
    assert words in problem


def test_a_workspace_may_keep_texts_but_search_for_no_patterns() -> None:
    """`(a+)+$` takes longer than the machine lasts, on a line of forty letters."""
    kept = {"plan": {"texts": ["PLAN"], "tools": ["todo"]}}
    config, problems = merge([Layer("theirs", {"preserve": kept}, restricted=True)])
    assert not problems
    assert config.preserve["plan"].texts == ("PLAN",)
    [problem] = said({"preserve": {"patterns": ["(a+)+$"]}}, restricted=True)
    assert "no patterns" in problem


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (5, "must be a table"),
        ({"patterns": "^PLAN"}, "must be a list"),
        ({"patterns": ["("]}, "'(' is not a regular expression"),
        ({"plan": 5}, "must hold patterns, tools or texts"),
        ({"plan": {"tool": ["todo"]}}, "has patterns, tools, texts and focus, not tool"),
    ],
)
def test_what_cannot_be_kept_is_told(wrong: object, words: str) -> None:
    [problem] = said({"preserve": wrong})
    assert problem.startswith("here: preserve: ")
    assert words in problem


def test_a_policy_that_is_none_is_told_with_the_one_that_was_meant() -> None:
    [problem] = said({"policy": "economic-rihc"})
    assert "'economic-rihc' is no policy. Did you mean 'economic-rich'? There are" in problem


HURTING = {
    "x = " + "[" * 5000: "too deeply", "a." * 900 + "a = 1": "too deeply", "#" * 300_000: "256 KiB",
    "\n".join(f"a{n} = 1" for n in range(1_100)): "1,000 settings",
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), HURTING.items(), ids=HURTING.values())
def test_a_file_made_to_hurt_is_told_and_the_rest_holds(
    tmp_path: Path, text: str, words: str
) -> None:
    config, (problem,) = loaded(
        tmp_path, workspace=text, options={"workspaceTrusted": True, "maxSteps": 3}
    )
    assert config.max_steps == 3
    assert words in problem.message


def test_a_bad_setting_leaves_the_one_before() -> None:
    config, problems = merge([Layer("a", {"window": 5000}), Layer("b", {"window": -1})])
    assert config.window == 5000
    assert [problem.where for problem in problems] == ["b"]


def test_wrong_options_are_the_clients_fault(tmp_path: Path) -> None:
    with pytest.raises(BadRequest) as caught:
        loaded(tmp_path, options={"provider": {"baseUrl": 5}})
    assert caught.value.data["path"] == f"params.{OPTIONS}.provider.baseUrl"


def test_unknown_options_are_only_told(tmp_path: Path) -> None:
    config, problems = loaded(tmp_path, options={"modle": "x", "model": "y", "config": 3})
    assert config.model == "y"
    assert [problem.path for problem in problems] == ["config", "modle"]


def test_a_broken_file_is_told_and_the_rest_holds(tmp_path: Path) -> None:
    config, problems = loaded(tmp_path, user="model = ", options={"policy": "manual"})
    assert config.policy == "manual"
    assert problems[0].where == str(tmp_path / "user.toml")
    assert "cannot be read" in problems[0].message


def test_a_missing_file_is_no_problem(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    assert load(workspace=None, environment={}, options={}, user=missing)[1] == ()


def test_a_key_is_never_shown() -> None:
    config, _ = merge([environment_layer({"ANTHROPIC_API_KEY": KEY})])
    assert config.provider.api_key == KEY
    assert isinstance(config.provider.api_key, Secret)
    assert KEY not in repr(config)
    assert KEY not in repr(config.provider.api_key)
    _, problems = merge([Layer("x", {"provider": {"api_key": [KEY]}})])
    assert KEY not in str(problems)


@pytest.mark.parametrize("wrong", [{"window": 10**4_000}, {"x" * 9_000: 1}])
def test_what_is_wrong_is_said_shortly_however_long_it_is(wrong: dict[str, object]) -> None:
    (problem,) = merge([Layer("options", wrong)])[1]
    assert len(str(problem)) < 1_000
    assert problem.message.startswith(("must be", "is not a setting"))


def test_nulls_set_nothing() -> None:
    assert merge([Layer("x", {"model": None, "provider": {"apiKey": None}})]) == merge([])


def test_thresholds_and_alerts_that_nobody_wants(tmp_path: Path) -> None:
    text = "[alerts]\nhit_rate = 0.5\noff = ['evictions']\n[telemetry]\nexporter = 'prometheus'"
    config, problems = loaded(tmp_path, user=text, options={"alerts": {"burnSpike": 4}})
    assert config.alerts == Alerts(hit_rate=0.5, burn_spike=4.0, off=("evictions",))
    assert config.telemetry == Telemetry("prometheus")
    assert problems == ()


def test_an_alert_that_is_none_cannot_be_off() -> None:
    [problem] = said({"alerts": {"off": ["everything"]}})
    assert "must be a list of some of overflow_rate, hit_rate" in problem
