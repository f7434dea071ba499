"""Commands typed by people. Rich output, never used by `serve`."""
