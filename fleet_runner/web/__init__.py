"""Pages, the API and metrics: everybody sees the same truth, as far as they may, and asks for what they may ask for.

What is shown is read from the store and the source of truth; what is asked for is left as an intent, which the
reconciler answers. Nothing here moves a node.
"""
