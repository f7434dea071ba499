"""What keeps a store well: doctor, verify, prune, archive, delete, export, import."""
