"""Schedule and supervise crawls, check the health of sources, and deliver alerts."""
