"""Fitting the network of the combined method (`newscrawl.extraction.classifier`). Needs PyTorch."""
