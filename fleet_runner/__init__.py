"""Takes GPU servers from the loading dock into production and keeps them there."""
