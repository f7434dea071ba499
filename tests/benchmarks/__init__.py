"""Benchmarks: ratios measured in one run, each beside what one would use instead."""
