"""The command line as typer has it: names, options, help, completion; the work is imported late."""
