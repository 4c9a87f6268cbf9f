"""What crawls have learned of each source, for those who read archives.

A module of its own: a worker that only reads pages need not load what speaks to databases.
"""

from dataclasses import replace

from newscrawl.archive.line import Recipe
from newscrawl.extraction.template_memory import templates
from newscrawl.storage import Database
from newscrawl.storage.memory import memories


def remembering(recipe: Recipe, database: Database) -> Recipe:
    """Return the recipe with what crawls have learned of each source (`template_memory`)."""
    learned = {slug: templates(memory) for slug, memory in memories(database)}
    return replace(recipe, reader=replace(recipe.reader, memories=learned))
