"""Learning from labelled pages, and evaluation: `newscrawl train`, `evaluate` and `label`."""
