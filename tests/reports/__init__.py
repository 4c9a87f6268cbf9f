"""Tests of newscrawl.reports."""
