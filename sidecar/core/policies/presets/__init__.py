"""Presets: other agents' ways to shrink a context.

A module is one preset: its name with dashes is the policy's, `POLICY` the policy. Constants and
prompts are the named system's.
"""
