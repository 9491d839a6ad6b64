"""Who may see and do what, and the shapes that the API answers in."""
