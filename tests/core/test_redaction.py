"""What looks like a key is taken out, and nothing else is."""

import pytest

from sidecar.core.parts import (
    Media,
    Output,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolPart,
)
from sidecar.core.redaction import REDACTED, Redaction, secrets_in

KEYS = (
    "sk-ant-api03-" + "aB3_" * 20 + "-xyAA",
    "sk-proj-" + "Zx9w" * 12,
    "sk-" + "a1B2" * 12,
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "ghp_" + "a1" * 18,
    "github_pat_" + "11ABCDEFG0" * 4,
    "glpat-" + "x1y2z3" * 4,
    "npm_" + "a1" * 18,
    "hf_" + "AbCd" * 9,
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "Sy-_1" * 7,
    "xoxb-123456789012-abcdefGHIJ",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.SflKxwRJSMeKKF2QT4fwpM",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/\nabc=\n-----END RSA PRIVATE KEY-----",
)
PLAIN = (
    "sk-learn is a library, and sk-1 a street",
    "sk-a-name-of-a-class-in-some-style-sheet",
    "token = parse_tokens(source_text_of_the_whole_file)",
    "secret_key = settings.some_module.name_of_the_secret_key",
    "api_key = os.environ['ANTHROPIC_API_KEY']",
    "b2:0123456789abcdef0123456789abcdef01234567",
    "toolu_01A09q90qw90lq917835lq9",
    "cache_key=9fceb02d0ae598e95dc970b74767f19372d61af8",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "https://example.org/path?query=1#part",
    "git@github.com:someone/something.git",
    "postgres://user:$PASSWORD@host/name",
)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_taken_out_wherever_it_stands(key: str) -> None:
    for around in ("{}", "key={} and more", '{{"key": "{}"}}', "first\n{}\nlast", "({})"):
        found = Redaction()
        assert found.text(around.format(key)) == around.format(REDACTED)
        assert found.count == 1


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_key_stays(text: str) -> None:
    found = Redaction()
    assert (found.text(text), found.count) == (text, 0)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("API_KEY=q8Zr4kXw2Lm9Tb6Vn1Yc", "API_KEY=[redacted]"),
        ('"client_secret": "q8Zr4kXw2Lm9Tb6Vn1Yc7"', '"client_secret": "[redacted]"'),
        ("authToken: q8Zr4kXw2Lm9Tb6Vn1Yc", "authToken: [redacted]"),
        ("Authorization: Bearer abcdefghij.klmnopqrst-1", "Authorization: Bearer [redacted]"),
        ("postgres://me:hunter2hunter2@db.local/x", "postgres://me:[redacted]@db.local/x"),
    ],
)
def test_what_is_said_to_be_secret_is_taken_out(text: str, clean: str) -> None:
    assert Redaction().text(text) == clean


def test_values_are_gone_through_and_images_and_signatures_are_not() -> None:
    key = KEYS[0]
    done = ToolCompleted(Output(f"said {key}", media=(Media("image/png", key),)), 1, 2)
    call = ToolPart(PartId("p"), "c", "shell", {"command": [f"echo {key}", 3, None]}, done)
    thought = ReasoningPart(PartId("r"), f"so {key}", {"signature": key})
    found = Redaction()
    clean = found.value((call, thought))
    assert isinstance(clean[0].state, ToolCompleted)
    assert clean[0].input == {"command": [f"echo {REDACTED}", 3, None]}
    assert clean[0].state.output == Output(f"said {REDACTED}", media=(Media("image/png", key),))
    assert clean[1] == ReasoningPart(PartId("r"), f"so {REDACTED}", {"signature": key})
    assert found.count == 3


def test_a_value_without_keys_is_the_same() -> None:
    part = TextPart(PartId("p"), "nothing here", "typed")
    assert Redaction().value(part) is part


def test_known_secrets_are_taken_out_whatever_their_shape() -> None:
    variables = {"MY_TOKEN": "correct horse", "PIN_KEY": "1234", "HOME": "/home/someone"}
    known = secrets_in(variables.items())
    assert known == ("correct horse",)
    found = Redaction(known)
    assert found.text("it is correct horse, /home/someone 1234") == (
        f"it is {REDACTED}, /home/someone 1234"
    )
    assert found.count == 1
