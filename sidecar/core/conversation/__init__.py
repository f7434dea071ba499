"""Values for turns, calls and streamed answers."""
