"""Carries out what a rollback plans: all of it or nothing, whatever happens meanwhile."""
