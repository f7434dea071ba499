"""Speaks OpenAI's Chat Completions, in the dialects of those that took the API over."""
