"""Pages of our own that stand before articles, or in their place: walls, fronts, teasers."""
