"""An add-on that extracts articles in another Scrapy project, and what our pipelines read from the
settings of this project or another."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from scrapy.extensions.feedexport import FeedExporter
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from newscrawl import config, settings as ours
from newscrawl.config import SettingError
from newscrawl.crawl.exports import FeedExports
from newscrawl.extraction.methods import METHODS
from newscrawl.mentions import Companies, load_companies
from newscrawl.mentions.registry import registry_digest
from newscrawl.reading import PageReader

# Those of our pipelines that are useful in a project without our spiders.
_PIPELINES: Final = (
    "pipelines.extraction.ExtractionPipeline",
    "pipelines.mentions.MentionsPipeline",
    "pipelines.storage.StoragePipeline",
)
_PLAIN: Final = {
    "LOG_FORMATTER": ours.LOG_FORMATTER,
    "FEED_EXPORT_ENCODING": ours.FEED_EXPORT_ENCODING,
}


class NewscrawlAddon:
    """`ADDONS = {"newscrawl.crawl.addon.NewscrawlAddon": 300}` adds our pipelines in their order,
    the defaults of our settings, and our feed exports.

    The project's own settings are kept; a pipeline that it sets to None is left out.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the settings that the project doesn't have."""
        defaults: dict[str, Any] = {
            name: value for name, value in vars(config).items() if name.startswith("NEWSCRAWL_")
        }
        for name, value in {**defaults, **_PLAIN}.items():
            settings.set(name, value, "addon")
        for path in _PIPELINES:
            place = ours.ITEM_PIPELINES[path]
            settings.setdefault_in_component_priority_dict(
                "ITEM_PIPELINES", load_object(path), place
            )
        settings.setdefault_in_component_priority_dict("EXTENSIONS", FeedExporter, None)
        settings.setdefault_in_component_priority_dict("EXTENSIONS", FeedExports, 0)
        exporters = {**ours.FEED_EXPORTERS, **settings.getdict("FEED_EXPORTERS")}
        settings.set("FEED_EXPORTERS", exporters, settings.getpriority("FEED_EXPORTERS") or 0)


def own_setting(settings: BaseSettings, name: str) -> Any:
    """Return one of our settings, or its default in a project that doesn't set it."""
    value = settings.get(name)
    return getattr(config, name) if value is None else value


def reader_of(settings: BaseSettings) -> PageReader:
    """Return the reader of pages; raise SettingError for an invalid setting."""
    method: str = own_setting(settings, "NEWSCRAWL_METHOD")
    if method not in METHODS:
        raise SettingError(f"NEWSCRAWL_METHOD={method}: use one of {', '.join(METHODS)}")
    return PageReader(method=method)


def companies_of(settings: BaseSettings) -> tuple[Path | None, Companies]:
    """Return the own companies file, if one is set, and all companies; SettingError for a
    NEWSCRAWL_COMPANIES that can't be used."""
    path: str = own_setting(settings, "NEWSCRAWL_COMPANIES")
    registry = Path(path) if path else None
    try:
        return registry, _companies(registry, registry_digest(registry))
    except (OSError, ValueError) as error:
        setting = "NEWSCRAWL_COMPANIES: " if path else ""
        raise SettingError(f"{setting}{error}") from error


# A crawl that the monitor forks has the companies of its fork server, unless they have changed.
@lru_cache(maxsize=1)
def _companies(registry: Path | None, _: str) -> Companies:
    return load_companies(registry)
