"""Speaks OpenAI's Chat Completions, in its adopters' dialects."""
