"""Sessions leaving or arriving: bundles, archives, erasure, sweeps. Knows no session at work."""
