"""The only place that touches the user's files: buffers, paths, instructions, volatile facts."""
