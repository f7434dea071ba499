"""Commands typed by people. Know no session from within; never imported by `serve`."""
