"""Speaks through OpenAI's SDK, whichever of its APIs."""
