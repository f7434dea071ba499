"""What stands at the head of a prompt, and when it may change. Knows no compaction."""
