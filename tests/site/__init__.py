"""A small news site of our own, its server, and the demo that crawls it."""
