"""Sessions that leave or come: bundles, archives, erasure, sweeps. Knows none that are at work."""
