"""Load the data that all workers need; the process that they are forked from imports this module.

Models, languages, companies and sources take a second to load. Forked workers share them in memory.
(A module of its own because multiprocessing's forkserver preloads modules by name.)
"""

import newscrawl
from newscrawl.archive.ingest import ReadingConfig, companies_from, processor_for
from newscrawl.reading import PageReader

# Too few words to detect the language by stop words, so that the detector's model loads too.
_PAGE = (
    b"<!doctype html><title>Newscrawl</title><article><p>Newscrawl loads its data.</p></article>"
)

processor_for(ReadingConfig(reader=PageReader(method="combined", min_characters=1)))
companies_from(None).prepare()
newscrawl.extract(_PAGE, "https://newscrawl.example/preload")
