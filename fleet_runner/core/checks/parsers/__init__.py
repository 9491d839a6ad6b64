"""Parsers: raw evidence in, plain facts out; anything unreadable raises EvidenceError, and nothing else."""
