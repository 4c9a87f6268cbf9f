"""Fuzzers: each module here makes hostile input of one kind, and checks that nothing breaks.

`run(count, seed)` of a module tries `count` examples, prints a summary and returns how many of
them failed; the same seed makes the same examples.
"""
