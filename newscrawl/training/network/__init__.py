"""Fitting the network of the combined method (`newscrawl.extraction.network`). Needs PyTorch."""
