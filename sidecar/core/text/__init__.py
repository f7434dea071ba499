"""Text in, text or places out: JSON, lines, sentences, secrets."""
