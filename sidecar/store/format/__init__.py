"""Formats on the disk: rows, bundles, migrations, pages."""
