"""Recipes of the models that newscrawl ships, and of those it is compared with.

`python -m benchmarks.recipes network --corpus DIR`, run in a checkout, trains a model and writes it
into the package; docs/training.md describes all of them. Using the models needs nothing of this.
"""
