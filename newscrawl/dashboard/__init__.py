"""The web application: the questions of `storage.queries` as pages for a browser and as JSON."""

from newscrawl.dashboard.app import create_app
from newscrawl.dashboard.config import Config

__all__ = ["Config", "create_app"]
