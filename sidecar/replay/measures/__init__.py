"""The part of a log left in view when needed. Knows no policy and no cache."""
