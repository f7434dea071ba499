"""Texts in place of omitted ones: by a model or by code."""
