"""Presets: other agents' ways to shrink a context.

Each module's name with dashes is the policy's name, `POLICY` the policy. Constants and prompts are
the named system's.
"""
