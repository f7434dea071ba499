"""Text in, text or places in it out: JSON, lines, sentences, secrets. Knows no conversation."""
