"""The demo's workspace: a small program, a phrase book."""

from pathlib import Path

GREETINGS = {
    "europe": {
        "French": "Bonjour",
        "German": "Guten Tag",
        "Swedish": "God dag",
        "Polish": "Dzień dobry",
        "Greek": "Kaliméra",
        "Irish": "Dia dhuit",
    },
    "asia": {
        "Japanese": "Konnichiwa",
        "Hindi": "Namaste",
        "Thai": "Sawasdee",
        "Korean": "Annyeong",
        "Turkish": "Merhaba",
        "Malay": "Selamat",
    },
    "africa": {
        "Swahili": "Habari",
        "Zulu": "Sawubona",
        "Amharic": "Selam",
        "Hausa": "Sannu",
        "Yoruba": "Bawo ni",
        "Somali": "Salaan",
    },
    "oceania": {
        "Maori": "Kia ora",
        "Samoan": "Talofa",
        "Fijian": "Bula",
        "Tongan": "Malo e lelei",
        "Tahitian": "Ia orana",
        "Hawaiian": "Aloha",
    },
    "america": {
        "Quechua": "Allianchu",
        "Guarani": "Mba'éichapa",
        "Nahuatl": "Pialli",
        "Navajo": "Yá'át'ééh",
        "Cree": "Tansi",
        "Aymara": "Kamisaraki",
    },
}
OCCASIONS = (
    "to a friend, say {hello} and the first name, and leave out the title",
    "to a stranger, say {hello} and the family name, and wait for an answer",
    "in a letter, write {hello} on a line of its own, and a comma after the name",
    "on the telephone, say who is calling first, and only then {hello}",
    "to many at once, say {hello} and leave out every name",
    "to a child, say {hello} slowly, and ask how old it is",
)
CODE = 'def greet(name):\n    return "Hello, " + name\n\n\nprint(greet("world"))\n'
NOTES = (
    "# Greeter\n\nSays hello. The phrase book is in `phrases`.\n\nTODO: greet in more languages.\n"
)

TURNS = (
    "We never rename greet(), because other programs import it.\nread README.md and greeter.py",
    "read phrases/europe.md and phrases/asia.md",
    "read phrases/antarctica.md then search for TODO",
    "replace `Hello, ` with `Good day, ` in greeter.py then run `python3 greeter.py`",
    "read phrases/africa.md and phrases/oceania.md",
    "We decided on Markdown instead of JSON for phrases, because people edit them by hand.\n"
    "todo: greet in French; greet in Japanese",
    "read phrases/america.md",
)
FORGOTTEN = "^Japanese, (to a|on)"
"""Lines of the phrase book that a compaction leaves out."""


def sample(folder: Path) -> Path:
    (folder / "phrases").mkdir(parents=True)
    texts = {"README.md": NOTES, "greeter.py": CODE}
    for region, greetings in GREETINGS.items():
        lines = [
            f"{language}, {occasion.format(hello=hello)}."
            for language, hello in greetings.items()
            for occasion in OCCASIONS
        ]
        texts[f"phrases/{region}.md"] = "\n".join((f"# Greetings of {region}", "", *lines, ""))
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
