"""The only package that touches the user's files."""
