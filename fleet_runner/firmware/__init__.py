"""Bringing firmware and BIOS settings to their pins: what a play does on one node, and finds again after its death."""
