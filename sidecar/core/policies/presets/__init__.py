"""Presets: other agents' ways to shrink a context, for habits and comparison.

A module is one preset: its name with dashes is the policy's, `POLICY` the policy. Modules are
imported when chosen, never by name, and know none of our policies. Constants, with sources, and
prompts are the named system's.
"""
