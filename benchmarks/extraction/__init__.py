"""Compare text, speed and mentions of our methods and other tools on labelled pages.

`python -m benchmarks.extraction --corpus DIR [--peers --install]`; see docs/benchmark.md.
"""
