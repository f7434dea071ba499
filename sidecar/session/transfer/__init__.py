"""Sessions leaving or arriving: bundles, archives, erasure, sweeps."""
