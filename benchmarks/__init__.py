"""Measurements of newscrawl and other tools, and the recipes of its models (`recipes`). Not part of
the installed package.

Each module with a command says in its docstring how to run it; docs/benchmark.md and
docs/performance.md show the results.
"""
