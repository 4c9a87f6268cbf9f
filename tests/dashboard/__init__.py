"""Tests of newscrawl.dashboard."""
