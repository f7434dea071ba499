"""What a log comes to: deeds, files, failures, facts."""
