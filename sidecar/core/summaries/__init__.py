"""Texts that stand for what is left out: by a model or by code. Knows no policy."""
