"""What looks like a key is taken out, and nothing else is."""

import pytest

from sidecar.core.parts import (
    JsonObject,
    Media,
    Output,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolPart,
)
from sidecar.core.text.redaction import REDACTED, Redaction, secrets_in
from sidecar.workspace.variables import without_secrets

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
    "pypi-" + "AgEIcHlwaS5vcmc_" * 4,
    "ya29." + "a0AfH6SMBx-_" * 3,
    "ASIAIOSFODNN7EXAMPLE",
    f"ABSK{'QmVkcm9ja0FQSUtleS1h' * 5}==",
    f"bedrock-api-key-{'YmVkcm9jay5hbWF6b25hd3Mu' * 3}",
    "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "rk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "gsk_" + "aB3x" * 13,
    "xai-" + "aB3x" * 20,
    "pplx-" + "aB3x" * 12,
    "r8_" + "aB3x" * 9 + "Q",
    "SG." + "aB3_-x" * 3 + "aB3x." + "aB3_-x" * 7 + "Q",
    "dop_v1_" + "0123456789abcdef" * 4,
    "GOCSPX-" + "aB3_-x7" * 4,
    "shpat_" + "0a" * 16,
    "figd_" + "aB3_-x" * 7,
    "lin_api_" + "aB3x" * 10,
    "ntn_" + "123456" + "aB3x" * 10,
    "nvapi-" + "aB3_-x" * 11,
    "dapi" + "0a" * 16,
    "hvs." + "CAESI" + "aB3_-x" * 8,
    "AGE-SECRET-KEY-1" + "QZ7" * 19 + "Q",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF+/\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/\nabc=\n-----END RSA PRIVATE KEY-----",
)
CHANCE = "q8Zr4kXw2Lm9Tb6Vn1Yc"
PLAIN = (
    "Authorization: Basic authentication is what it wants, or Authorization: Basic username",
    "secret_access_key = settings.storage.buckets.secret_access_key",
    "password = read_password_of_the_user_v2(from_the_terminal)",
    "GOCSPX-short, xai-grok, pplx-70b-chat, r8_ and gsk_ begin keys; SG.some_module.some_name",
    "hvs.some_module.some_name_of_more_than_twenty_four_letters, hvs.some_name_that_is_very_long",
    "figd_is_no_word_but_a_name_of_more_than_thirty_two_letters",
    "-----BEGIN PRIVATE KEY----- begins a key, and -----BEGIN RSA PRIVATE KEY-----\nanother one",
    "the PRIVATE KEY BLOCK of somebody",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Erk",
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
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\nregion = x",
            "aws_secret_access_key = [redacted]\nregion = x",
        ),
        (
            '"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",',
            '"SecretAccessKey": "[redacted]",',
        ),
        ('{\\"apiKey\\": \\"q8Zr4kXw2Lm9Tb6Vn1Yc\\"}', '{\\"apiKey\\": \\"[redacted]\\"}'),
        ("DB_PASSWORD=q8Zr4kXw2Lm9Tb6Vn1Yc", "DB_PASSWORD=[redacted]"),
        ("Authorization: Basic bWU6aHVudGVyMg==", "Authorization: Basic [redacted]"),
        (
            f"-----BEGIN RSA PRIVATE KEY-----\n{'aB3+' * 16}\n{'aB3/' * 16}\n[… cut]",
            "[redacted]\n[… cut]",
        ),
        (f"x;AccountKey={'aB3x' * 21}==;E=y", "x;AccountKey=[redacted];E=y"),
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


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ({"API_KEY": CHANCE}, {"API_KEY": REDACTED}),
        ({"apiKey": CHANCE, "path": "a"}, {"apiKey": REDACTED, "path": "a"}),
        ({"env": [{"api-keys": [CHANCE, "x"]}]}, {"env": [{"api-keys": [REDACTED, "x"]}]}),
        ({"Authorization": "Basic bWU6aHVudGVyMg=="}, {"Authorization": f"Basic {REDACTED}"}),
        ({"password": CHANCE}, {"password": REDACTED}),
        ({KEYS[0]: 1, KEYS[1]: 2, "a": 3}, {REDACTED: 1, f"{REDACTED} 2": 2, "a": 3}),
    ],
)
def test_the_fields_of_a_call_are_gone_through_with_their_names(
    given: JsonObject, clean: JsonObject
) -> None:
    found = Redaction()
    assert found.value(given) == clean
    assert found.count == (2 if KEYS[0] in given else 1)


@pytest.mark.parametrize(
    "given",
    [
        {"cache_key": CHANCE, "key": CHANCE, "id": CHANCE, "sha": CHANCE, "monkey": CHANCE},
        {"token": "parse_tokens_of_the_whole_file", "maxTokens": 20_000, "secret": None},
        {"api_key": "${ANTHROPIC_API_KEY}", "password": "", "token": {"kind": "name"}},
        {"data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"},
        {"Authorization": "Basic or none", "private_key": "/home/someone/.ssh/id_ed25519"},
    ],
)
def test_fields_that_hold_no_key_stay(given: JsonObject) -> None:
    found = Redaction()
    assert (found.value(given), found.count) == (given, 0)


@pytest.mark.parametrize(
    "name",
    [
        "DB_PASSPHRASE", "GITHUB_PAT", "AWS_ACCESS_KEY_ID", "APP_CREDENTIALS", "MYSQL_PWD",
        "BW_SESSION", "OP_SESSION_my", "TF_TOKEN_app_terraform_io", "SSHPASS", "REDISCLI_AUTH",
        "SNOWSQL_PWD", "SYSTEM_ACCESSTOKEN", "AZURE_STORAGE_CONNECTION_STRING",
        "MY_SECRET_VALUE", "OPENAI_APIKEY", "API_KEY", "my_token", "X_PASSWD", "PASSWORD",
    ],
)  # fmt: skip
def test_what_children_are_not_given_is_not_exported_either(name: str) -> None:
    assert secrets_in({name: "correct horse"}.items()) == ("correct horse",)
    assert without_secrets({name: "correct horse"}) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/someone/key.json"),
        ("ANTHROPIC_MODEL", "claude-sonnet-4-5"),
        ("PWD", "/home/someone"),
        ("MONKEY", "somebody else"),
        ("PATTERN", "somebody else"),
    ],
)
def test_paths_and_other_variables_are_no_secrets(name: str, value: str) -> None:
    assert secrets_in({name: value}.items()) == ()


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


def test_a_login_for_a_host_of_bundler_is_a_secret_and_a_setting_none() -> None:
    given = {"BUNDLE_GEMS__EXAMPLE__COM": "me:hunter22", "BUNDLE_BUILD__X": "--with=a:b"}
    assert secrets_in(given.items()) == ("me:hunter22",)


def test_a_value_of_eight_characters_is_a_secret_and_a_shorter_one_a_word() -> None:
    assert secrets_in({"API_KEY": "hunter22"}.items()) == ("hunter22",)
    assert secrets_in({"API_KEY": "hunter2"}.items()) == ()


@pytest.mark.parametrize("text", ["-----BEGIN PRIVATE KEY-----", "eyJ"])
def test_beginnings_of_keys_without_end_take_no_time(text: str) -> None:
    """By the square of their length a megabyte would take minutes, in which nothing else runs."""
    long = text * (8_000_000 // len(text))
    assert Redaction(()).text(long) == long
