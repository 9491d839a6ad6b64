"""Alarms, signals and those who push them, attempts at remedies."""
