"""Analyses of reliability, from the store and the files that they need."""
