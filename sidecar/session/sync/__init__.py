"""Sessions on other machines: bundles in pieces, on git refs of their own."""
