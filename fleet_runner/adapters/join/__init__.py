"""Clusters that nodes join, one file each."""
