"""The part of a log left in view when needed."""
