"""A session as people read it: updates, turns, contents. Changes nothing."""
