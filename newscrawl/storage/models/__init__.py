"""The tables, a module for each group of them; all must be imported here to be known."""

from newscrawl.storage.models.articles import *
from newscrawl.storage.models.crawls import *
