"""The egg that scrapyd-deploy builds: it names the settings, and holds no code.

The code is installed with pip into Scrapyd's own environment, where its data files and compiled
dependencies can be: an egg is a zip file, which they can't be read from.
"""

from setuptools import setup

setup(
    name="newscrawl-scrapyd",
    version="1",
    packages=[],
    py_modules=[],
    entry_points={"scrapy": ["settings = newscrawl.settings"]},
)
