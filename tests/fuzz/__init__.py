"""Fuzzing that knows the shapes: a target takes any bytes and raises where something is wrong."""


class Unanswered(Exception):
    """Nothing came of an input in time."""
