"""The web application: the questions of `storage.queries` as pages for a browser and as JSON."""

from newscrawl.dashboard.app import create_app
from newscrawl.dashboard.config import Config, SourceEditError, UnexplainedError

__all__ = ["Config", "SourceEditError", "UnexplainedError", "create_app"]
