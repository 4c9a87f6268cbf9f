"""Text, speed and mentions of our methods beside those of other tools, on labelled pages.

`python -m benchmarks.extraction --corpus DIR [--peers --install]`; see docs/benchmark.md.
"""
