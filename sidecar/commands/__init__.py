"""What people type: `demo`, `sessions`, `doctor`, `verify`. Rich output, never used by `serve`."""
