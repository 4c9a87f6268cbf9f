"""The egg that scrapyd-deploy builds: it names the settings and contains no code.

The code is installed with pip into the environment of Scrapyd, because its data files and compiled
dependencies can't be read from an egg, which is a zip file.
"""

from setuptools import setup

setup(
    name="newscrawl-scrapyd",
    version="1",
    packages=[],
    py_modules=[],
    entry_points={"scrapy": ["settings = newscrawl.settings"]},
)
