"""Reads what all workers need, once: the process that they are forked from imports this module.

Networks, languages, companies and sources take a second to read. The workers have them from their
birth, and in memory only once.
"""

import newscrawl
from newscrawl.archive.line import Recipe, line_of
from newscrawl.reading import PageReader

# Too few words to tell their language by: whatever looks at them is read then, too.
_PAGE = b"<!doctype html><title>Newscrawl</title><article><p>Newscrawl warms up.</p></article>"

line_of(Recipe(reader=PageReader(method="combined", least=1)))
newscrawl.extract(_PAGE, "https://newscrawl.example/warming")
