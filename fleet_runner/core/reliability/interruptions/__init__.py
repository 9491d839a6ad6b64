"""Interruptions of jobs: their causes, how long repairs took, what they cost, and how often they come."""
