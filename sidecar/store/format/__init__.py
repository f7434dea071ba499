"""How things look on the disk: rows, bundles, migrations, pages. Opens nothing."""
