"""Stands between an editor and another agent that speaks ACP.

The tap imports the standard library alone; the recorder runs beside it, in another process.
"""
