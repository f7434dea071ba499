"""What a child process is told of the environment."""

from sidecar.workspace.variables import without_secrets

KEY = "sk-ant-api03-0123456789"


def test_a_key_goes_under_whatever_name_it_is_held() -> None:
    given = {
        "ANTHROPIC_API_KEY": KEY,
        "COPY": KEY,
        "AS_HEADER": f"x-api-key: {KEY}",
        "PATH": "/bin",
        "SSH_AUTH_SOCK": "/run/agent",
        "MONKEY": "yes",
    }
    kept = {"PATH": "/bin", "SSH_AUTH_SOCK": "/run/agent", "MONKEY": "yes"}
    assert without_secrets(given) == kept


def test_a_short_value_takes_nothing_else_along() -> None:
    """A token that is a word would take every variable in which that word stands."""
    assert without_secrets({"X_TOKEN": "bin", "PATH": "/bin"}) == {"PATH": "/bin"}
    assert without_secrets({"X_TOKEN": "", "PATH": "/bin"}) == {"PATH": "/bin"}
