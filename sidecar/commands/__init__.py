"""Commands typed by people; never imported by `serve`."""
