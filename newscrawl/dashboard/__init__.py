"""The web application over `storage.queries`: pages for a browser, the same answers as JSON."""

from newscrawl.dashboard.app import create_app
from newscrawl.dashboard.config import Config, ExplainedDocument, UnexplainedError

__all__ = ["Config", "ExplainedDocument", "UnexplainedError", "create_app"]
