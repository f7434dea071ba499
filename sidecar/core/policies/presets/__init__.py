"""Other agents' ways to make a context smaller, for people's habits and to compare with ours.

A module here is one preset: its name with dashes is the policy's, and `POLICY` the policy. It is
imported when somebody chooses it, so it must not be imported by name, and knows none of our own
policies. What it holds is the named system's: constants with their source, and its prompt.
"""
