"""Tests of newscrawl.monitoring."""
