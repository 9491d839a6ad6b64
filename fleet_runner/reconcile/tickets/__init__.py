"""Trackers and channels that are told."""
