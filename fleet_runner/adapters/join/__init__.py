"""Clusters that nodes join, one file each, and the files with what they are asked with."""
