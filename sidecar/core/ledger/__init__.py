"""What a log comes to: deeds, files, failures, facts. Knows no policy and no model."""
