"""What is kept, for how long, and what holds the size. Knows no repair."""
