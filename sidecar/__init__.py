"""Sidecar: a daemon beside an editor, owning an AI coding agent's sessions."""

__version__ = "0.1.0"
