"""Going back in conversation and files, and forth again. Knows no session as a whole."""
