"""Care of a store: doctor, verify, prune, archive, delete, export, import."""
