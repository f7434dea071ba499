"""Functions on text: JSON, lines, sentences, secrets."""
