"""Sessions that leave or come: bundles, archives, erasure. Knows none that are at work."""
