"""Nodes that take more of everybody's time than others do: by which signals, at how many points, and how right."""
