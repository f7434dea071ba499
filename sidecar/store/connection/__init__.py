"""The file, who may write it, and the threads that do. Knows no table."""
