"""A prompt as people read it."""

from sidecar.core.parts import Media
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.prompt_text import prompt_text
from tests.core.prompts import answering, calling, model, opaque, system, thinking, user


def headings(prompt: Prompt) -> list[str]:
    lines = prompt_text(prompt).splitlines()
    return [line.strip("─ ") for line in lines if line.startswith("──")]


PROMPT = Prompt(
    (),
    system("Be exact."),
    (
        user("Look at a.py."),
        model(thinking("Hm.", {}), "I look.", calling("c1", "read", {"path": "a.py", "más": 1})),
        user(answering("c1", "print(1)"), answering("c2", "gone", failed=True)),
        user("[left out]", region="ledger"),
    ),
)


def test_blocks_stand_in_order_under_who_says_them() -> None:
    assert headings(PROMPT) == [
        "system", "user", "assistant thinks", "assistant", "assistant calls read",
        "result of read", "error of c2", "user, ledger",
    ]  # fmt: skip


def test_texts_stand_as_they_are_sent() -> None:
    lines = prompt_text(PROMPT).splitlines()
    assert [line for line in lines if line and not line.startswith("──")] == [
        "Be exact.", "Look at a.py.", "Hm.", "I look.", '{"path": "a.py", "más": 1}', "print(1)",
        "gone", "[left out]",
    ]  # fmt: skip


def test_what_is_no_text_is_described() -> None:
    image = Media("image/png", "aGVsbG8=")
    shown = prompt_text(Prompt((), (), (user(image), model(opaque({"type": "server_tool"})))))
    assert "[image/png, 8 characters of base64]" in shown
    assert "[server_tool of the provider's]" in shown
