"""Every question, answered over a fixed world: `python -m tests.answers` writes all answers."""
